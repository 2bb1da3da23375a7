// The five-tuple of what a message is about, as ARN (SRF-5) and FANTEL (FAN-1) have it, in wire order.
#ifndef FCN_FIVE_TUPLE_P4
#define FCN_FIVE_TUPLE_P4

#include "types.p4"

header tuple_h {
    bit<4> ip_version;
    flow_label_t label;
    bit<8> protocol;
}

header tuple_ipv4_h {
    ipv4_addr_t src;
    ipv4_addr_t dst;
}

header tuple_ipv6_h {
    ipv6_addr_t src;
    ipv6_addr_t dst;
}

header tuple_ports_h {
    bit<16> src_port;
    bit<16> dst_port;
}

struct five_tuple_headers_t {
    tuple_h head;
    tuple_ipv4_h ipv4;
    tuple_ipv6_h ipv6;
    tuple_ports_h ports;
}

// The protocol in the name of a service: 0, any (RFC 7296 section 3.13.1), of a tunnel over SRv6. Its next header says
// whether there is an SRH and which version of IP a customer's packet has, and one message is to be about all of them.
bit<8> service_protocol(in bit<8> next_header) {
    bit<8> protocol = next_header;
    if (next_header == IpProtocol.IPV4 || next_header == IpProtocol.IPV6 || next_header == IpProtocol.ROUTING) {
        protocol = 0;
    }
    return protocol;
}

#endif
