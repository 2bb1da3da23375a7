#ifndef FCN_PE_FROM_CONTROLLER_P4
#define FCN_PE_FROM_CONTROLLER_P4

#include "../../base/v1model/pe.p4"


// FromController: a packet of the controller leaves by the port it names.
// Reads:  hdr.packet_out.
// Writes: standard_metadata.egress_spec. Ends the pass, unless the packet is a report of a path.
// When:   a packet from the CPU port.
control FromController(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    PathReported() path_reported;

    apply {
        path_reported.apply(hdr, meta, standard_metadata);
        if (!meta.base.is_settled) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            exit;
        }
    }
}

#endif
