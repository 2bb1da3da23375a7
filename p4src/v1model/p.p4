// Transit node (P) for BMv2: the steps in which a packet is processed, a file each in p/. Steps that begin with Hold are those
// of flow control (flow_control/), with Curve of the two-threshold mode (two_threshold/), with Path, Link, Hello and Clock of
// links and paths (fantel/); in a program without the mode they are empty.
#include "../base/v1model/p.p4"
#include "../end_con/end_con_cnp.p4"
#include "../fast_cnp/fast_cnp_profile.p4"
#include "../fast_cnp/v1model/cnp_udp_checksum.p4"
#include "p/admit.p4"
#include "p/checksums.p4"
#include "p/deparser.p4"
#include "p/finish.p4"
#include "p/leave.p4"
#include "p/look_up.p4"
#include "p/make_message.p4"
#include "p/parser.p4"
#include "p/second_pass.p4"
#include "p/tell.p4"
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
            if (meta.base.drop_reason == DropReason.NONE) {
                look_up.apply(hdr, meta, standard_metadata);
            }
        }
        if (meta.base.forward == Forward.UNDERLAY && meta.base.drop_reason == DropReason.NONE) {
            to_wan.apply(hdr, meta, standard_metadata);
        }
        hold_or_pass.apply(hdr, meta, standard_metadata);
        finish.apply(hdr, meta, standard_metadata);
    }
}

control PEgress(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    HoldOrigin() hold_origin;
    FastCnpProfile() fast_cnp_profile;
    MakeMessage() make_message;
    ClockLeaving() clock_leaving;
    HoldAsk() hold_ask;
    Leave() leave;
    Tell() tell;
    HoldEnd() hold_end;
    EndConProfile() end_con_profile;
    CnpUdpChecksum() cnp_udp_checksum;

    apply {
        hold_origin.apply(hdr, meta, standard_metadata);
        if (meta.base.copy_kind != NotificationKind.NONE) {
            fast_cnp_profile.apply(hdr.fast_cnp_profile);
        }
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            make_message.apply(hdr, meta, standard_metadata);
        } else {
            clock_leaving.apply(hdr, meta, standard_metadata);
            if (standard_metadata.egress_port != CPU_PORT) {
                hold_ask.apply(hdr, meta, standard_metadata);
                leave.apply(hdr, meta, standard_metadata);
                tell.apply(hdr, meta, standard_metadata);
                hold_end.apply(hdr, meta, standard_metadata);
                if (hdr.inner.cnp_payload.isValid()) {
                    end_con_profile.apply(hdr);
                    if (hdr.inner.ipv6.isValid()) {
                        cnp_udp_checksum.apply(
                            hdr.inner.ipv6, hdr.inner.bth, hdr.inner.cnp_payload, hdr.inner.udp);
                    }
                }
            }
        }
    }
}

V1Switch(PParser(), PVerifyChecksum(), PIngress(), PEgress(), PComputeChecksum(), PDeparser()) main;
