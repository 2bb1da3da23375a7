// Deparser of the provider edge.
#ifndef FCN_PE_DEPARSER_P4
#define FCN_PE_DEPARSER_P4

#include "../../base/v1model/pe.p4"


control PeDeparser(packet_out packet, in pe_headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
#if HAS_FANTEL
        packet.emit(hdr.clock);
#endif
#if HAS_FLOW_CONTROL
        packet.emit(hdr.pause);
#endif
        packet.emit(hdr.vlan);
        packet.emit(hdr.outer_ipv6);
        packet.emit(hdr.srv6.srh);
        packet.emit(hdr.srv6.segment0);
        packet.emit(hdr.srv6.segment1);
        packet.emit(hdr.srv6.segment2);
        packet.emit(hdr.srv6.segment3);
        packet.emit(hdr.tunnel.gre);
        packet.emit(hdr.tunnel.gre_key);
        packet.emit(hdr.tunnel.udp);
#if HAS_FANTEL
        packet.emit(hdr.bfd);
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
        packet.emit(hdr.tunnel.vxlan);
        packet.emit(hdr.tunnel.mpls0);
        packet.emit(hdr.tunnel.mpls1);
        packet.emit(hdr.tunnel.inner_ethernet);
        packet.emit(hdr.neighbor.arp);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.neighbor.nd);
        packet.emit(hdr.neighbor.nd_option);
        packet.emit(hdr.udp);
        packet.emit(hdr.fast_cnp);
        packet.emit(hdr.roce.bth);
        packet.emit(hdr.roce.cnp_payload);
        packet.emit(hdr.roce.deth);
        packet.emit(hdr.roce.mad);
        packet.emit(hdr.roce.cm_ids);
    }
}

#endif
