#ifndef FCN_FANTEL_P_LINK_HEARD_P4
#define FCN_FANTEL_P_LINK_HEARD_P4

#include "../../../base/v1model/p.p4"
#include "../link_registers.p4"

// LinkHeard
// Writes: last_heard, of the port, and of all as that of CLOCK_PORT; meta.base.arrived_dst.
// When:   a packet from the wire.
control LinkHeard(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.parse_more == ParseMore.NONE) {
            last_heard.write(meta.base.ingress_port, standard_metadata.ingress_global_timestamp);
            last_heard.write(CLOCK_PORT, standard_metadata.ingress_global_timestamp);
        }
        meta.base.arrived_dst = hdr.outer_ipv6.dst;
    }
}

#endif
