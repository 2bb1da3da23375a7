#ifndef FCN_WAN_ARRIVAL_P4
#define FCN_WAN_ARRIVAL_P4

#include "../base/headers.p4"
#include "../base/metadata.p4"

// WanArrival: what is done with a packet from a core port that is not for a service of this node.
// Reads:  meta.is_malformed, meta.role, meta.is_arp, meta.is_nd, meta.is_addressed, meta.destination; underlay
//         header.
// Writes: meta.forward, meta.punt_reason, meta.drop_reason; hop limit.
// When:   every packet of a P; on a PE, packets of class WAN.
control WanArrival(inout ipv6_h outer_ipv6, inout base_meta_t meta) {
    action refuse(DropReason reason) {
        meta.drop_reason = reason;
    }
    action punt_to_cpu(PuntReason reason) {
        meta.punt_reason = reason;
    }
    action transit() {
        meta.forward = Forward.UNDERLAY;
        outer_ipv6.hop_limit = outer_ipv6.hop_limit - 1;
    }

    PLACED(wan_arrival) @name(".wan_arrival")
    table wan_arrival {
        key = {
            meta.is_malformed: ternary @name("is_malformed");
            meta.role: ternary @name("role");
            meta.is_arp: ternary @name("is_arp");
            outer_ipv6.isValid(): ternary @name("has_underlay");
            meta.is_nd: ternary @name("is_nd");
            meta.is_addressed: ternary @name("is_addressed");
            meta.destination: ternary @name("destination");
            outer_ipv6.hop_limit: ternary @name("hop_limit");
            outer_ipv6.src[127:112]: ternary @name("source_prefix");
        }
        actions = {
            refuse;
            punt_to_cpu;
            transit;
        }
        const default_action = transit;
        const entries = {
            (true, _, _, _, _, _, _, _, _): refuse(DropReason.MALFORMED);
            (_, Role.DC, _, _, _, _, _, _, _): refuse(DropReason.UNSUPPORTED);
            (_, _, true, _, _, _, _, _, _): punt_to_cpu(PuntReason.ARP);
            (_, _, _, false, _, _, _, _, _): refuse(DropReason.UNSUPPORTED);
            (_, _, _, _, true, _, _, _, _): punt_to_cpu(PuntReason.ND);
            (_, _, _, _, _, false, _, _, _): refuse(DropReason.OTHER_STATION);
            (_, _, _, _, _, _, Destination.NODE, _, _): punt_to_cpu(PuntReason.UNDERLAY_LOCAL);
            (_, _, _, _, _, _, _, 0 &&& 0xfe, _): refuse(DropReason.TTL_EXPIRED);
            (_, _, _, _, _, _, _, _, IPV6_UNSPECIFIED_OR_LOOPBACK): refuse(DropReason.BAD_SOURCE);
            (_, _, _, _, _, _, _, _, IPV6_LINK_LOCAL): refuse(DropReason.BAD_SOURCE);
            (_, _, _, _, _, _, _, _, IPV6_MULTICAST): refuse(DropReason.BAD_SOURCE);
        }
    }

    apply {
        wan_arrival.apply();
    }
}

#endif
