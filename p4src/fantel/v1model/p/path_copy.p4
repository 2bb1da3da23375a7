#ifndef FCN_FANTEL_P_PATH_COPY_P4
#define FCN_FANTEL_P_PATH_COPY_P4

#include "../../../base/v1model/p.p4"
#include "../bfd_hello.p4"
#include "../fantel_message.p4"

// PathCopy: makes the copy of the clock packet a hello, or a copy a FANTEL message.
// Writes: headers; meta.fantel.hello_port.
// When:   on the egress copy of a packet.
control PathCopy(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    BfdHello() bfd_hello;
    FantelMessage() fantel_message;

    apply {
        if (meta.base.copy_kind == NotificationKind.HELLO) {
            meta.fantel.hello_port = hdr.hello.port;
            bfd_hello.apply(
                hdr.envelope, hdr.hello, hdr.ethernet, hdr.clock, hdr.outer_ipv6, hdr.tunnel.udp, hdr.bfd);
        } else if (meta.base.copy_kind == NotificationKind.FANTEL) {
            fantel_message.apply(hdr, meta.base.arrived_dst);
        }
    }
}

#endif
