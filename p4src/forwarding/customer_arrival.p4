#ifndef FCN_CUSTOMER_ARRIVAL_P4
#define FCN_CUSTOMER_ARRIVAL_P4

#include "../base/headers.p4"
#include "../base/pe_metadata.p4"

// CustomerArrival: what is done with a packet from a DC port.
// Reads:  meta.answered, meta.base.ingress_port, meta.base.is_arp, meta.base.is_nd, meta.base.is_addressed,
//         meta.base.notification_kind (FCN-17), meta.parse_failed, meta.customer_fault; IP sources.
// Writes: meta.base.egress_port, meta.base.forward, meta.base.punt_reason, meta.base.drop_reason.
// When:   packets of class CUSTOMER.
control CustomerArrival(in ipv4_h ipv4, in ipv6_h ipv6, inout pe_meta_t meta) {
    action refuse(DropReason reason) {
        meta.base.drop_reason = reason;
    }
    action punt_to_cpu(PuntReason reason) {
        meta.base.punt_reason = reason;
    }
    action route_in_vrf() {
        meta.base.forward = Forward.VRF;
    }
    // To where the request came from
    action answer_neighbor() {
        meta.base.egress_port = meta.base.ingress_port;
    }
    action refuse_customer_packet() {
        meta.base.drop_reason = meta.customer_fault;
    }

    PLACED(customer_arrival) @name(".customer_arrival")
    table customer_arrival {
        key = {
            meta.answered: ternary @name("answered");
            meta.base.is_arp: ternary @name("is_arp");
            meta.base.notification_kind: ternary @name("notification_kind");
            meta.parse_failed: ternary @name("parse_failed");
            meta.base.is_nd: ternary @name("is_nd");
            meta.base.is_addressed: ternary @name("is_addressed");
            meta.customer_fault: ternary @name("customer_fault");
            ipv4.isValid(): ternary @name("is_ipv4");
            ipv4.src[31:16]: ternary @name("ipv4_source");
            ipv6.isValid(): ternary @name("is_ipv6");
            ipv6.src[127:112]: ternary @name("ipv6_source");
        }
        actions = {
            refuse;
            punt_to_cpu;
            route_in_vrf;
            answer_neighbor;
            refuse_customer_packet;
        }
        const default_action = refuse_customer_packet;
        const entries = {
            (true, _, _, _, _, _, _, _, _, _, _): answer_neighbor();
            (_, true, _, _, _, _, _, _, _, _, _): punt_to_cpu(PuntReason.ARP);
            (_, _, NotificationKind.NONE, true, _, _, _, _, _, _, _): refuse(DropReason.MALFORMED);
            (_, _, NotificationKind.NONE, _, true, _, _, _, _, _, _): punt_to_cpu(PuntReason.ND);
            (_, _, _, _, _, false, _, _, _, _, _): refuse(DropReason.OTHER_STATION);
            (_, _, NotificationKind.NONE, _, _, _, _, true, IPV4_THIS_NETWORK, _, _): refuse(DropReason.BAD_SOURCE);
            (_, _, NotificationKind.NONE, _, _, _, _, true, IPV4_LOOPBACK, _, _): refuse(DropReason.BAD_SOURCE);
            (_, _, NotificationKind.NONE, _, _, _, _, true, IPV4_LINK_LOCAL, _, _): refuse(DropReason.BAD_SOURCE);
            (_, _, NotificationKind.NONE, _, _, _, _, true, IPV4_MULTICAST, _, _): refuse(DropReason.BAD_SOURCE);
            (_, _, NotificationKind.NONE, _, _, _, _, true, IPV4_BROADCAST, _, _): refuse(DropReason.BAD_SOURCE);
            (_, _, NotificationKind.NONE, _, _, _, _, _, _, true, IPV6_UNSPECIFIED_OR_LOOPBACK): refuse(DropReason.BAD_SOURCE);
            (_, _, NotificationKind.NONE, _, _, _, _, _, _, true, IPV6_LINK_LOCAL): refuse(DropReason.BAD_SOURCE);
            (_, _, NotificationKind.NONE, _, _, _, _, _, _, true, IPV6_MULTICAST): refuse(DropReason.BAD_SOURCE);
            (_, _, NotificationKind.NONE, _, _, _, DropReason.NONE, _, _, _, _): route_in_vrf();
            (_, _, NotificationKind.NONE, _, _, _, _, _, _, _, _): refuse_customer_packet();
            (_, _, _, _, _, _, _, _, _, _, _): refuse(DropReason.NOTIFICATION_ON_DC_PORT);
        }
    }

    apply {
        customer_arrival.apply();
    }
}

#endif
