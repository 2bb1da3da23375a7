#ifndef FCN_TNA_LINK_MESSAGE_P4
#define FCN_TNA_LINK_MESSAGE_P4

#include "../../../base/p_headers.p4"
#include "../../../base/sizes.p4"
#include "../../../base/tna/pass_headers.p4"
#include "../../../tna/p_metadata.p4"
#include "bfd_arrival.p4"

// LinkMessage: a BFD packet for this node.
// Reads:  md.meta.base: whom the packet is for; headers of the packet.
// Writes: md.links.event; drop: it ends here; md.meta.base.punt_reason, drop_reason; counter notifications_received.
// When:   every packet; found as WanArrival finds what is the CPU's, a stage earlier; the rest is BfdArrival's to know.
control LinkMessage(in p_pass_headers_t hdr, inout tna_p_meta_t md, inout bit<3> drop) {
    @name(".notifications_received")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) notifications_received;

    BfdArrival() bfd_arrival;

    action take() {
        drop = 1;
        md.meta.base.punt_reason = PuntReason.NONE;
        notifications_received.count(NotificationKind.HELLO);
    }

    apply {
        if (hdr.p.bfd.isValid() && md.meta.base.destination == Destination.NODE && md.meta.base.is_addressed
                && !md.meta.base.is_malformed) {
            bfd_arrival.apply(hdr.p.outer_ipv6, hdr.p.tunnel.udp, hdr.p.bfd, md.links);
            take();
            if (md.links.event == LinkEvent.UNTRUSTED) {
                md.meta.base.drop_reason = DropReason.NOTIFICATION_UNTRUSTED;
            } else if (md.links.event == LinkEvent.MALFORMED) {
                md.meta.base.drop_reason = DropReason.NOTIFICATION_MALFORMED;
            }
        }
    }
}

#endif
