#ifndef FCN_END_CON_CNP_P4
#define FCN_END_CON_CNP_P4

#include "../base/p_headers.p4"
#include "../base/sizes.p4"
#include "../base/types.p4"

// EndConCnp: turns the copy of a congested packet into a CNP for the sender of its flow, in a packet to the
// END.CON SID that the packet has for its source (SRF-4). The label of the outer header goes on naming the flow: the
// ingress PE finds the sender's queue pair by it. Until then DestQP is that of the data packets and the ICRC is
// zero, so that a host which got it nevertheless drops it.
// Reads:  underlay headers, the RoCEv2 packet in the tunnel.
// Writes: every header; made is false, and nothing changed, when the tunnel does not show a RoCEv2 packet or shows a
//         CNP. What the profile says is EndConProfile's, checksums are the top-level control's.
// When:   on the second pass of a copy of kind END_CON_CNP.
control EndConCnp(inout p_headers_t hdr, out bool made) {
    action remove_tunnel() {
        hdr.srv6.srh.setInvalid();
        hdr.srv6.segment0.setInvalid();
        hdr.srv6.segment1.setInvalid();
        hdr.srv6.segment2.setInvalid();
        hdr.srv6.segment3.setInvalid();
        hdr.tunnel.gre.setInvalid();
        hdr.tunnel.gre_key.setInvalid();
        hdr.tunnel.udp.setInvalid();
        hdr.tunnel.vxlan.setInvalid();
        hdr.tunnel.mpls0.setInvalid();
        hdr.tunnel.mpls1.setInvalid();
        hdr.tunnel.inner_ethernet.setInvalid();
    }
    // A notification is never ECN-capable, so no node takes it for a congested flow.
    action to_end_con() {
        hdr.outer_ipv6.dst = hdr.outer_ipv6.src;
        hdr.outer_ipv6.ecn = Ecn.NOT_ECT;
    }
    action back_to_ipv4_sender() {
        ipv4_addr_t receiver = hdr.inner.ipv4.dst;
        hdr.inner.ipv4.dst = hdr.inner.ipv4.src;
        hdr.inner.ipv4.src = receiver;
        hdr.inner.ipv4.ecn = Ecn.NOT_ECT;
        hdr.inner.ipv4.total_len = CNP_IPV4_TOTAL_LENGTH;
        hdr.inner.ipv4.identification = 0;
        hdr.inner.ipv4.flags = 2; // DF
        hdr.inner.ipv4.frag_offset = 0;
        hdr.outer_ipv6.payload_len = CNP_IPV4_TOTAL_LENGTH;
        hdr.outer_ipv6.next_header = IpProtocol.IPV4;
    }
    action back_to_ipv6_sender() {
        ipv6_addr_t receiver = hdr.inner.ipv6.dst;
        hdr.inner.ipv6.dst = hdr.inner.ipv6.src;
        hdr.inner.ipv6.src = receiver;
        hdr.inner.ipv6.ecn = Ecn.NOT_ECT;
        hdr.inner.ipv6.flow_label = 0;
        hdr.inner.ipv6.payload_len = CNP_UDP_LENGTH;
        hdr.outer_ipv6.payload_len = IPV6_LENGTH + CNP_UDP_LENGTH;
        hdr.outer_ipv6.next_header = IpProtocol.IPV6;
    }
    action build_cnp() {
        hdr.inner.udp.length = CNP_UDP_LENGTH;
        hdr.inner.udp.checksum = 0;
        hdr.inner.bth.opcode = BthOpcode.CNP;
        hdr.inner.bth.solicited_event = 0;
        hdr.inner.bth.migration_request = 0;
        hdr.inner.bth.pad_count = 0;
        hdr.inner.bth.transport_version = 0;
        hdr.inner.bth.fecn = 0;
        hdr.inner.bth.becn = 1; // as real NICs send it
        hdr.inner.bth.reserved1 = 0;
        hdr.inner.bth.ack_request = 0;
        hdr.inner.bth.reserved2 = 0;
        hdr.inner.bth.psn = 0;
        hdr.inner.cnp_payload.setValid();
        hdr.inner.cnp_payload.reserved = 0;
        hdr.inner.cnp_payload.icrc = 0;
    }

    apply {
        made = hdr.inner.bth.isValid() && hdr.inner.bth.opcode != BthOpcode.CNP;
        if (made) {
            remove_tunnel();
            to_end_con();
            if (hdr.inner.ipv4.isValid()) {
                back_to_ipv4_sender();
            } else {
                back_to_ipv6_sender();
            }
            build_cnp();
        }
    }
}

#endif
