// Provider edge (PE) for BMv2: the steps in which a packet is processed, in files of pe/; pe/egress.p4 has those behind the
// queue. Steps that begin with Hold are those of flow control (flow_control/), with Light and Curve of the two-threshold mode
// (two_threshold/), with Path, Link, Hello and Clock of links and paths (fantel/); in a program without the mode they are
// empty. Each step says itself when there is something for it to do.
#include "../base/v1model/pe.p4"
#include "../fast_cnp/domain_mode.p4"
#include "../forwarding/v1model/pe_checksums.p4"
#include "pe/admit.p4"
#include "pe/customer.p4"
#include "pe/deparser.p4"
#include "pe/egress.p4"
#include "pe/finish.p4"
#include "pe/from_controller.p4"
#include "pe/parser.p4"
#include "pe/second_pass.p4"

control PeIngress(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    DomainMode() domain_mode;
    LightMode() light_mode;
    HoldMode() hold_mode;
    FromController() from_controller;
    SecondPass() second_pass;
    Admit() admit;
    Arrive() arrive;
    Route() route;
    ToWan() to_wan;
    HoldOrPass() hold_or_pass;
    Finish() finish;

    apply {
        domain_mode.apply(meta.base);
        light_mode.apply(hdr, meta, standard_metadata);
        hold_mode.apply(hdr, meta, standard_metadata);
        if (hdr.packet_out.isValid()) {
            from_controller.apply(hdr, meta, standard_metadata);
        } else if (standard_metadata.instance_type == INSTANCE_RECIRCULATED || meta.base.is_parked == 1) {
            second_pass.apply(hdr, meta, standard_metadata);
        } else {
            admit.apply(hdr, meta, standard_metadata);
        }
        arrive.apply(hdr, meta, standard_metadata);
        route.apply(hdr, meta, standard_metadata);
        to_wan.apply(hdr, meta, standard_metadata);
        hold_or_pass.apply(hdr, meta, standard_metadata);
        finish.apply(hdr, meta, standard_metadata);
    }
}

V1Switch(
    PeParser(), PeVerifyChecksum(), PeIngress(), PeEgress(), PeComputeChecksum(), PeDeparser()) main;
