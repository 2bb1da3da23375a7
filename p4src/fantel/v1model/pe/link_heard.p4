#ifndef FCN_FANTEL_PE_LINK_HEARD_P4
#define FCN_FANTEL_PE_LINK_HEARD_P4

#include "../../../base/v1model/pe.p4"
#include "../link_registers.p4"

// LinkHeard
// Writes: last_heard, of the port, and of all as that of CLOCK_PORT.
// When:   the first pass of a packet from the wire.
control LinkHeard(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        last_heard.write(meta.base.ingress_port, standard_metadata.ingress_global_timestamp);
        last_heard.write(CLOCK_PORT, standard_metadata.ingress_global_timestamp);
    }
}

#endif
