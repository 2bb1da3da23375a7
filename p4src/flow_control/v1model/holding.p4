#ifndef FCN_HOLDING_P4
#define FCN_HOLDING_P4

#include "../../base/v1model/externs.p4"
#include "../../base/metadata.p4"
#include "../../base/sizes.p4"
#include "../flow_control_types.p4"
#include "hold.p4"
#include "hold_refusal.p4"

@name(".holds")
counter<HoldEvent>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) holds;

// Holding: asks Hold, and sends the packet where it waits or says why nothing was held (SRF-7).
// Reads:  meta.request, `port`: that of the neighbour who asks, or out of which the packet would go; octets; room: what may
//         wait for that port; of a packet that has a turn base.egress_port.
// Writes: base.egress_port, base.is_parked, meta.egress_port of a packet that waits; base.drop_reason.
// When:   a neighbour asks something, a packet of the underlay is about to leave, or a held one has come round.
control Holding(
        in port_t port, in bit<16> octets, in hold_room_t room, inout base_meta_t base, inout flow_control_meta_t meta) {
    Hold() hold;
    HoldRefusal() hold_refusal;

    apply {
        hold.apply(base.now, port, octets, room, meta);
        if (meta.event != HoldEvent.NONE) {
            holds.count(meta.event);
        }
        if (meta.verdict == HoldVerdict.WAIT) {
            base.is_parked = 1;
            meta.egress_port = base.egress_port;
            base.egress_port = PARK_PORT;
        } else {
            hold_refusal.apply(meta.verdict, base.drop_reason);
        }
    }
}

#endif
