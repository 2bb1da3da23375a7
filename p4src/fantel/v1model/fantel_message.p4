#ifndef FCN_FANTEL_MESSAGE_P4
#define FCN_FANTEL_MESSAGE_P4

#include "../../base/v1model/p.p4"
#include "fantel_message/fantel_draft.p4"
#include "fantel_message/fantel_form.p4"
#include "fantel_message/fantel_origin.p4"
#include "fantel_message/fantel_queue.p4"
#include "fantel_message/fantel_reason.p4"
#include "fantel_message/fantel_tuple.p4"
#include "fantel_message/fantel_underlay.p4"

// FantelMessage: makes a packet a FANTEL message about a path for its ingress PE (FAN-1 to FAN-4, FAN-6, FAN-7). One that
// met the failure or congestion is named in it.
// Reads:  notice; the packet it is made of: the clock packet, or one of the path, and the destination it came with;
//         why the link is down.
// Writes: underlay, UDP or ICMPv6, and FANTEL headers; the clock's header and the SRH end. What the deparser emits behind the
//         message is cut off.
// When:   on the egress copy of a packet.
control FantelMessage(inout p_headers_t hdr, in ipv6_addr_t arrived_dst) {
    FantelOrigin() fantel_origin;
    FantelTuple() fantel_tuple;
    FantelReason() fantel_reason;
    FantelQueue() fantel_queue;
    FantelUnderlay() fantel_underlay;
    FantelForm() fantel_form;

    apply {
        fantel_draft_t draft;
        fantel_origin.apply(hdr, draft);
        fantel_tuple.apply(hdr, arrived_dst, draft);
        fantel_reason.apply(hdr, draft);
        fantel_queue.apply(hdr, draft);
        fantel_underlay.apply(hdr);
        fantel_form.apply(hdr, draft);
    }
}

#endif
