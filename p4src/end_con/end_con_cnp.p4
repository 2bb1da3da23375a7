#ifndef FCN_END_CON_CNP_P4
#define FCN_END_CON_CNP_P4

#include "../base/p_headers.p4"
#include "end_con_packet.p4"

// EndConCnp: turns the copy of a congested packet into a CNP for the sender of its flow, in a packet to the
// END.CON SID that the packet has for its source (SRF-4). The label of the outer header goes on naming the flow: the
// ingress PE finds the sender's queue pair by it.
// Reads:  underlay headers, the RoCEv2 packet in the tunnel.
// Writes: every header; made is false, and nothing changed, when the tunnel does not show a RoCEv2 packet or shows a
//         CNP. What the profile says is EndConProfile's, checksums are the top-level control's.
// When:   on the second pass of a copy of kind END_CON_CNP.
control EndConCnp(inout p_headers_t hdr, out bool made) {
    EndConPayload() payload;
    BackToIpv4Sender() back_to_ipv4_sender;
    BackToIpv6Sender() back_to_ipv6_sender;

    apply {
        made = hdr.inner.bth.isValid() && hdr.inner.bth.opcode != BthOpcode.CNP;
        if (made) {
            REMOVE_SRH(hdr.srv6)
            REMOVE_TUNNEL(hdr.tunnel)
            hdr.outer_ipv6.dst = hdr.outer_ipv6.src;
            // A notification is never ECN-capable, so no node takes it for a congested flow.
            hdr.outer_ipv6.ecn = Ecn.NOT_ECT;
            payload.apply(hdr.inner.udp, hdr.inner.bth, hdr.inner.cnp_payload);
            if (hdr.inner.ipv4.isValid()) {
                back_to_ipv4_sender.apply(hdr.outer_ipv6, hdr.inner.ipv4);
            } else {
                back_to_ipv6_sender.apply(hdr.outer_ipv6, hdr.inner.ipv6);
            }
        }
    }
}

// EndConProfile: how a packet of EndConCnp looks otherwise.
// Reads:  hdr.fast_cnp_profile.
// Writes: source, DSCP and hop limit of the underlay header; DSCP, TTL or hop limit of the CNP, its UDP source port.
// When:   an END.CON packet made here leaves.
control EndConProfile(inout p_headers_t hdr) {
    apply {
        hdr.outer_ipv6.src = hdr.fast_cnp_profile.src;
        hdr.outer_ipv6.dscp = hdr.fast_cnp_profile.traffic_class[7:2];
        hdr.outer_ipv6.hop_limit = hdr.fast_cnp_profile.hop_limit;
        hdr.inner.udp.src_port = hdr.fast_cnp_profile.udp_src_port;
        if (hdr.inner.ipv4.isValid()) {
            hdr.inner.ipv4.dscp = hdr.fast_cnp_profile.traffic_class[7:2];
            hdr.inner.ipv4.ttl = hdr.fast_cnp_profile.hop_limit;
        } else {
            hdr.inner.ipv6.dscp = hdr.fast_cnp_profile.traffic_class[7:2];
            hdr.inner.ipv6.hop_limit = hdr.fast_cnp_profile.hop_limit;
        }
    }
}

#endif
