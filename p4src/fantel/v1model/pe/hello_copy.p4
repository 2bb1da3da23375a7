#ifndef FCN_FANTEL_PE_HELLO_COPY_P4
#define FCN_FANTEL_PE_HELLO_COPY_P4

#include "../../../base/v1model/pe.p4"
#include "../bfd_hello.p4"

// HelloCopy: makes the copy of the clock packet a hello.
// Writes: headers; meta.fantel.hello_port.
// When:   on the egress copy of a packet.
control HelloCopy(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    BfdHello() bfd_hello;

    apply {
        if (meta.base.copy_kind == NotificationKind.HELLO) {
            meta.fantel.hello_port = hdr.hello.port;
            bfd_hello.apply(
                hdr.envelope, hdr.hello, hdr.ethernet, hdr.clock, hdr.outer_ipv6, hdr.tunnel.udp, hdr.bfd);
        }
    }
}

#endif
