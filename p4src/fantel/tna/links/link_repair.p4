#ifndef FCN_TNA_LINK_REPAIR_P4
#define FCN_TNA_LINK_REPAIR_P4

#include "../../../base/headers.p4"
#include "../../../base/metadata.p4"
#include "../../../base/sizes.p4"
#include "../../links/alternate.p4"
#include "link_fault.p4"
#include "links_metadata.p4"

// LinkRepair: fast reroute (RFC 5714), as of v1model; its PE hears of it by the clock alone (FAN-4).
// Reads:  md.fault, has_changed, cause, port; is_leaving: a packet goes by the underlay; underlay destination.
// Writes: Ethernet addresses and meta.egress_port, or meta.drop_reason; counter events.
// When:   behind the fault of the link, while somebody looks at links.
control LinkRepair(
        in bool is_leaving, in ipv6_addr_t dst, inout ethernet_h ethernet, inout links_meta_t md,
        inout base_meta_t meta) {
    @name(".events")
    Counter<bit<32>, Event>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) events;

    Alternate() alternate;
    LinkFault() other_fault;
    bool is_there = true;
    bool is_dead = false;
    bit<8> fault_of_other = 0;

    apply {
        if (is_leaving && md.fault != 0) {
            alternate.apply(meta.egress_port, dst, ethernet, meta, is_there);
            md.port = meta.egress_port;
            is_dead = true;
        }
        other_fault.apply(md.port, md.has_changed, md.cause, fault_of_other);
        if (is_dead) {
            // Back to whoever sends here for this destination, it would go round until its hop limit.
            if (!is_there) {
                meta.drop_reason = DropReason.LINK_DOWN;
            } else if (fault_of_other != 0) {
                meta.drop_reason = DropReason.LINK_DOWN;
            } else if (meta.egress_port == meta.ingress_port && meta.destination != Destination.END_SID) {
                meta.drop_reason = DropReason.LINK_DOWN;
            } else {
                events.count(Event.REPAIRED);
            }
        }
    }
}

#endif
