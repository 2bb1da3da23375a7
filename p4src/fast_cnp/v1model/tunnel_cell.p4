#ifndef FCN_TUNNEL_CELL_P4
#define FCN_TUNNEL_CELL_P4

#include "../../base/headers.p4"
#include "../../base/v1model/externs.p4"
#include "budget_gate.p4"

// TunnelCell: whose a packet is, as far as a P sees it: a tunnel between two PEs, over SRv6 of one VRF.
// Reads:  underlay addresses.
// Writes: cell. Tunnels may share one.
// When:   before BudgetGate.
control TunnelCell(in ipv6_h outer_ipv6, out tenant_t cell) {
    apply {
        hash(cell, HashAlgorithm.crc16, 12w0, { outer_ipv6.src, outer_ipv6.dst }, (bit<32>)TENANT_CELLS);
    }
}

#endif
