#ifndef FCN_FANTEL_TUPLE_P4
#define FCN_FANTEL_TUPLE_P4

#include "../../../base/v1model/p.p4"
#include "fantel_draft.p4"

// FantelTuple: the packet that met the failure or congestion is named (FAN-1).
// Reads:  underlay and UDP header; the destination it came with.
// Writes: hdr.fantel.five_tuple; draft.
// When:   the message is made of a packet of the path, before its headers are replaced; of the clock packet it names none.
control FantelTuple(inout p_headers_t hdr, in ipv6_addr_t arrived_dst, inout fantel_draft_t draft) {
    apply {
        draft.five_tuple = 0;
        if (hdr.outer_ipv6.isValid()) {
            bit<32> ports = 0;
            if (hdr.tunnel.udp.isValid()) {
                ports = hdr.tunnel.udp.src_port ++ hdr.tunnel.udp.dst_port;
            }
            bit<8> protocol = service_protocol(hdr.outer_ipv6.next_header);
            hdr.fantel.five_tuple.setValid();
            hdr.fantel.five_tuple.tlv_tuple = TLV_IPV6_TUPLE;
            hdr.fantel.five_tuple.ip_version = 6;
            hdr.fantel.five_tuple.label = hdr.outer_ipv6.flow_label;
            hdr.fantel.five_tuple.protocol = protocol;
            hdr.fantel.five_tuple.src = hdr.outer_ipv6.src;
            hdr.fantel.five_tuple.dst = arrived_dst;
            hdr.fantel.five_tuple.src_port = ports[31:16];
            hdr.fantel.five_tuple.dst_port = ports[15:0];
            draft.five_tuple = TLV_IPV6_TUPLE ++ 4w6 ++ hdr.outer_ipv6.flow_label ++ protocol ++ hdr.outer_ipv6.src
                ++ arrived_dst ++ ports;
            draft.code = draft.code | FANTEL_TUPLE;
            draft.length = draft.length + FANTEL_IPV6_TUPLE_LENGTH;
        }
    }
}

#endif
