// Deparser of the transit node.
#ifndef FCN_P_DEPARSER_P4
#define FCN_P_DEPARSER_P4

#include "../../base/v1model/p.p4"


control PDeparser(packet_out packet, in p_headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
#if HAS_FANTEL
        packet.emit(hdr.clock);
#endif
        packet.emit(hdr.outer_ipv6);
        packet.emit(hdr.srv6.srh);
        packet.emit(hdr.srv6.segment0);
        packet.emit(hdr.srv6.segment1);
        packet.emit(hdr.srv6.segment2);
        packet.emit(hdr.srv6.segment3);
        // What a message was a copy of is behind it, and cut off.
        packet.emit(hdr.tunnel.udp);
#if HAS_FANTEL
        packet.emit(hdr.bfd);
        packet.emit(hdr.fantel.icmpv6);
        packet.emit(hdr.fantel.about);
        packet.emit(hdr.fantel.five_tuple);
        packet.emit(hdr.fantel.cause);
        packet.emit(hdr.fantel.buffer);
        packet.emit(hdr.fantel.load);
#endif
#if HAS_FLOW_CONTROL
        packet.emit(hdr.arn.arn);
        packet.emit(hdr.five_tuple.head);
        packet.emit(hdr.five_tuple.ipv4);
        packet.emit(hdr.five_tuple.ipv6);
        packet.emit(hdr.five_tuple.ports);
        packet.emit(hdr.arn.path);
        packet.emit(hdr.arn.priority);
        packet.emit(hdr.arn.time);
#endif
        packet.emit(hdr.fast_cnp);
        packet.emit(hdr.tunnel.gre);
        packet.emit(hdr.tunnel.gre_key);
        packet.emit(hdr.tunnel.vxlan);
        packet.emit(hdr.tunnel.mpls0);
        packet.emit(hdr.tunnel.mpls1);
        packet.emit(hdr.tunnel.inner_ethernet);
        packet.emit(hdr.inner.ipv4);
        packet.emit(hdr.inner.ipv6);
        packet.emit(hdr.inner.udp);
        packet.emit(hdr.inner.bth);
        packet.emit(hdr.inner.cnp_payload);
    }
}

#endif
