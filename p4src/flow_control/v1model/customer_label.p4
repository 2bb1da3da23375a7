#ifndef FCN_CUSTOMER_LABEL_P4
#define FCN_CUSTOMER_LABEL_P4

#include "../../base/v1model/externs.p4"
#include "../../base/types.p4"

// CustomerLabel: 20 bits that tell the customers of tunnels apart, the same at every node: the low bits of the CRC-32
// (of Ethernet) over the end of the tunnel, or service SID, and the number of the customer there.
// Writes: label.
// When:   a packet's flow is to be named (HeldFlow).
control CustomerLabel(in ipv6_addr_t end, in bit<32> number, out flow_label_t label) {
    apply {
        hash(label, HashAlgorithm.crc32, 20w0, { end, number }, 32w0x100000);
    }
}

#endif
