// A packet of the WAN, or a copy of one that was in a congested queue here.
#ifndef FCN_PE_FROM_WAN_P4
#define FCN_PE_FROM_WAN_P4

#include "../../base/v1model/pe.p4"
#include "../../fast_cnp/v1model/sender_notification.p4"
#include "../../forwarding/srv6_end.p4"
#include "end_tunnel.p4"
#include "from_core_port.p4"
#include "look_up.p4"

// FromWan: a tunnel ends here, a CNP takes the packet's place, or it goes on to its next segment.
// Reads:  meta.base.role, is_settled; headers.
// Writes: what its controls write.
// When:   every packet that is no customer's.
control FromWan(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    FromCorePort() from_core_port;
    LookUp() look_up;
    PathUpdate() path_update;
    EndTunnel() end_tunnel;
    SenderNotification() sender_notification;
    Srv6End() srv6_end;

    apply {
        if (meta.base.role == Role.CORE) {
            from_core_port.apply(hdr, meta);
        }
        if (!meta.base.is_settled && meta.base.drop_reason == DropReason.NONE) {
            look_up.apply(hdr, meta, standard_metadata);
        }
        path_update.apply(hdr, meta, standard_metadata);
        if (meta.base.drop_reason == DropReason.NONE) {
            if (meta.base.forward == Forward.VRF) {
                if (hdr.outer_ipv6.isValid()) {
                    end_tunnel.apply(hdr, meta, standard_metadata);
                }
                if (meta.make_cnp) {
                    sender_notification.apply(hdr, meta, meta.base.now);
                }
            } else if (meta.base.forward == Forward.UNDERLAY && meta.base.destination == Destination.END_SID) {
                srv6_end.apply(hdr.outer_ipv6, hdr.srv6, meta.base.drop_reason);
            }
        }
    }
}

#endif
