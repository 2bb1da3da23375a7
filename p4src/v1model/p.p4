// Transit node (P) for BMv2: the steps in which a packet is processed, a file each in p/. Steps that begin with Hold are those
// of flow control (flow_control/), with Curve of the two-threshold mode (two_threshold/), with Path, Link, Hello and Clock of
// links and paths (fantel/); in a program without the mode they are empty.
#include "../base/v1model/p.p4"
#include "p/admit.p4"
#include "p/checksums.p4"
#include "p/deparser.p4"
#include "p/egress.p4"
#include "p/finish.p4"
#include "p/look_up.p4"
#include "p/parser.p4"
#include "p/second_pass.p4"
#include "p/to_wan.p4"

control PIngress(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    HoldMode() hold_mode;
    SecondPass() second_pass;
    Admit() admit;
    LookUp() look_up;
    ToWan() to_wan;
    HoldOrPass() hold_or_pass;
    Finish() finish;

    apply {
        hold_mode.apply(hdr, meta, standard_metadata);
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            exit;
        } else if (standard_metadata.instance_type == INSTANCE_RECIRCULATED) {
            second_pass.apply(hdr, meta, standard_metadata);
        } else {
            admit.apply(hdr, meta, standard_metadata);
            look_up.apply(hdr, meta, standard_metadata);
        }
        to_wan.apply(hdr, meta, standard_metadata);
        hold_or_pass.apply(hdr, meta, standard_metadata);
        finish.apply(hdr, meta, standard_metadata);
    }
}

V1Switch(PParser(), PVerifyChecksum(), PIngress(), PEgress(), PComputeChecksum(), PDeparser()) main;
