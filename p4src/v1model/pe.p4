// Provider edge (PE) for BMv2: the steps in which a packet is processed, a file each in pe/. Steps that begin with Hold are
// those of flow control (flow_control/), with Light and Curve of the two-threshold mode (two_threshold/), with Path, Link,
// Hello and Clock of links and paths (fantel/); in a program without the mode they are empty.
#include "../base/v1model/pe.p4"
#include "../fast_cnp/domain_mode.p4"
#include "../fast_cnp/v1model/cnp_udp_checksum.p4"
#include "../forwarding/v1model/pe_checksums.p4"
#include "pe/admit.p4"
#include "pe/deparser.p4"
#include "pe/enter_tunnel.p4"
#include "pe/finish.p4"
#include "pe/from_controller.p4"
#include "pe/leave.p4"
#include "pe/look_up.p4"
#include "pe/make_message.p4"
#include "pe/parser.p4"
#include "pe/second_pass.p4"
#include "pe/tell.p4"
#include "pe/to_customer.p4"
#include "pe/to_wan.p4"

control PeIngress(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    DomainMode() domain_mode;
    LightMode() light_mode;
    HoldMode() hold_mode;
    FromController() from_controller;
    SecondPass() second_pass;
    Admit() admit;
    LookUp() look_up;
    PathUpdate() path_update;
    ToCustomer() to_customer;
    EnterTunnel() enter_tunnel;
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
        if (!meta.base.is_settled && meta.base.drop_reason == DropReason.NONE) {
            look_up.apply(hdr, meta, standard_metadata);
        }
        path_update.apply(hdr, meta, standard_metadata);
        if (meta.base.forward == Forward.VRF && meta.base.drop_reason == DropReason.NONE) {
            to_customer.apply(hdr, meta, standard_metadata);
        }
        if (meta.base.forward == Forward.TUNNEL && meta.base.drop_reason == DropReason.NONE) {
            enter_tunnel.apply(hdr, meta, standard_metadata);
        }
        if (meta.base.forward == Forward.UNDERLAY && meta.base.drop_reason == DropReason.NONE) {
            to_wan.apply(hdr, meta, standard_metadata);
        }
        hold_or_pass.apply(hdr, meta, standard_metadata);
        finish.apply(hdr, meta, standard_metadata);
    }
}

control PeEgress(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    HoldOrigin() hold_origin;
    MakeMessage() make_message;
    ClockLeaving() clock_leaving;
    HoldAsk() hold_ask;
    Leave() leave;
    Tell() tell;
    HoldEnd() hold_end;
    CnpUdpChecksum() cnp_udp_checksum;

    apply {
        hold_origin.apply(hdr, meta, standard_metadata);
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            make_message.apply(hdr, meta, standard_metadata);
        } else {
            clock_leaving.apply(hdr, meta, standard_metadata);
            hold_ask.apply(hdr, meta, standard_metadata);
            leave.apply(hdr, meta, standard_metadata);
            tell.apply(hdr, meta, standard_metadata);
            hold_end.apply(hdr, meta, standard_metadata);
            if (meta.make_cnp && hdr.ipv6.isValid()) {
                cnp_udp_checksum.apply(hdr.ipv6, hdr.roce.bth, hdr.roce.cnp_payload, hdr.udp);
            }
        }
    }
}

V1Switch(
    PeParser(), PeVerifyChecksum(), PeIngress(), PeEgress(), PeComputeChecksum(), PeDeparser()) main;
