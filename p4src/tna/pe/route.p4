#ifndef FCN_TNA_PE_ROUTE_P4
#define FCN_TNA_PE_ROUTE_P4

#include "../../base/sizes.p4"
#include "../../forwarding/ecn_decap.p4"
#include "../../forwarding/srv6_end.p4"
#include "../../forwarding/vrf_routing.p4"
#include "../../learning/flow_table.p4"
#include "../pe_metadata.p4"

// Route: where a packet goes: in its VRF, under which label, or to its next segment; and whether it may.
// Reads:  md.meta.base.forward, destination; md.meta.decapsulated, event, hop_limit.
// Writes: what its controls write; md.withheld: no next segment, no hop left; counter events.
// When:   behind EndTunnel.
control Route(inout pe_pass_headers_t hdr, inout tna_pe_meta_t md) {
    @name(".events")
    Counter<bit<32>, Event>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) events;

    VrfRouting() vrf_routing;
    FlowTable() flow_table;
    Srv6End() srv6_end;
    EcnDecap() ecn_decap;

    apply {
        if (md.meta.base.forward == Forward.VRF) {
            vrf_routing.apply(hdr.pe.ipv4, hdr.pe.ipv6, hdr.pe.ethernet, md.meta);
        }
        flow_table.apply(hdr.pe.ipv4, hdr.pe.ipv6, hdr.pe.roce.bth, md.meta);
        if (md.meta.base.destination == Destination.END_SID
                && md.meta.base.forward == Forward.UNDERLAY) {
            srv6_end.apply(hdr.pe.outer_ipv6, hdr.pe.srv6, md.withheld);
        }
        if (md.meta.decapsulated && !md.meta.make_cnp) {
            ecn_decap.apply(md.meta);
        }
        events.count(md.meta.event);
        if ((md.meta.base.forward == Forward.VRF || md.meta.base.forward == Forward.TUNNEL)
                && !md.meta.make_cnp && md.meta.base.drop_reason == DropReason.NONE
                && md.meta.base.punt_reason == PuntReason.NONE && md.meta.hop_limit <= 1) {
            md.withheld = DropReason.TTL_EXPIRED;
        }
    }
}

#endif
