// Provider edge (PE) for Tofino: the steps in which a packet is processed, a file each in pe/; those that a P has, too, are beside
// this file. Steps that begin with Light and Curve are those of the two-threshold mode (two_threshold/tna); in a program without
// the mode they are empty.
#include "../base/tna/externs.p4"
#include "../base/tna/pass_headers.p4"
#include "../base/tna/pseudo_header.p4"
#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"
#include "pe_metadata.p4"
#include "../fast_cnp/notification_port.p4"
#include "../forwarding/neighbor_parser.p4"
#include "../forwarding/srv6_parser.p4"
#include "../forwarding/tunnel_parser.p4"
#include "../learning/roce_parser.p4"
#include "../learning/tna/report.p4"
#include "admit.p4"
#include "from_controller.p4"
#include "pe/egress_parser.p4"
#include "pe/parser.p4"
#include "pe/end_tunnel.p4"
#include "pe/finish.p4"
#include "pe/from_customer.p4"
#include "pe/leave.p4"
#include "pe/limit_punts.p4"
#include "pe/look_up.p4"
#include "pe/mark.p4"
#include "pe/named_flow.p4"
#include "pe/pass_on.p4"
#include "pe/rewrite.p4"
#include "pe/route.p4"
#include "pe/settings.p4"
#include "pe/soundness.p4"
#include "pe/tell_sender.p4"

// A packet with `neighbor` ends here: it is answered or goes to the CPU, and never has any of these headers.
#define NEVER_WITH_NEIGHBOR(header) \
    @pa_mutually_exclusive("ingress", "hdr.pe.neighbor.arp", header) \
    @pa_mutually_exclusive("ingress", "hdr.pe.neighbor.nd", header) \
    @pa_mutually_exclusive("ingress", "hdr.pe.neighbor.nd_option", header)

NEVER_WITH_NEIGHBOR("hdr.pe.outer_ipv6")
NEVER_WITH_NEIGHBOR("hdr.pe.srv6.srh")
NEVER_WITH_NEIGHBOR("hdr.pe.srv6.segment0")
NEVER_WITH_NEIGHBOR("hdr.pe.srv6.segment1")
NEVER_WITH_NEIGHBOR("hdr.pe.srv6.segment2")
NEVER_WITH_NEIGHBOR("hdr.pe.srv6.segment3")
NEVER_WITH_NEIGHBOR("hdr.pe.tunnel.udp")
NEVER_WITH_NEIGHBOR("hdr.pe.tunnel.inner_ethernet")
NEVER_WITH_NEIGHBOR("hdr.pe.ipv4")
NEVER_WITH_NEIGHBOR("hdr.pe.udp")
NEVER_WITH_NEIGHBOR("hdr.pe.fast_cnp")
NEVER_WITH_NEIGHBOR("hdr.pe.roce.bth")
NEVER_WITH_NEIGHBOR("hdr.pe.roce.cnp_payload")
@pa_mutually_exclusive("ingress", "hdr.pe.neighbor.arp", "hdr.pe.neighbor.nd_option")
// In smaller pieces the segments do not fit on the action data bus of Tofino 2.
#if __TARGET_TOFINO__ == 2
@pa_container_size("ingress", "hdr.pe.srv6.segment0.sid", 32)
@pa_container_size("ingress", "hdr.pe.srv6.segment1.sid", 32)
@pa_container_size("ingress", "hdr.pe.srv6.segment2.sid", 32)
@pa_container_size("ingress", "hdr.pe.srv6.segment3.sid", 32)
#endif
@pa_auto_init_metadata
@pa_solitary("egress", "md.meta.base.level")
// Alone, because the compiler extracts fields of the same container over it.
@pa_solitary("ingress", "ig_intr_md_from_prsr.parser_err")
control PeIngress(
        inout pe_pass_headers_t hdr,
        inout tna_pe_meta_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    FromController() from_controller;
    Settings() settings;
    NotificationPort() notification_port;
    Admit() admit;
    Soundness() soundness;
    NamedFlow() named_flow;
    FromCustomer() from_customer;
    LookUp() look_up;
    Fingerprint() fingerprint;
    EndTunnel() end_tunnel;
    Route() route;
    Report() report;
    Rewrite() rewrite;
    PassOn() pass_on;
    LimitPunts() limit_punts;
    ChooseDigest() choose_digest;
    Finish() finish;

    // The chip has twelve stages, so what does not need each other is looked up in the same stage, and in the steps every
    // condition is a statement of its own: what stands behind a branch with several waits for all of them.
    // A packet that is to be dropped may go through more tables; the last reason is counted.
    apply {
        if (hdr.pe.packet_out.isValid()) {
            from_controller.apply(hdr.pe.packet_out, hdr.bridge, hdr.copy, ig_tm_md.ucast_egress_port);
        } else {
            settings.apply(hdr, md, ig_prsr_md);
            notification_port.apply(md.udp_dst_port, md.meta.base);
            admit.apply(hdr.pe.ethernet, md.meta.base);
            soundness.apply(hdr, md, ig_prsr_md);
            named_flow.apply(hdr, md);
            from_customer.apply(hdr, md);
            look_up.apply(hdr, md, ig_dprsr_md.drop_ctl);
            fingerprint.apply(hdr.pe, md);
            end_tunnel.apply(hdr, md);
            route.apply(hdr, md);
            report.apply(md);
            rewrite.apply(hdr, md);
            pass_on.apply(hdr, md);
            limit_punts.apply(md);
            choose_digest.apply(hdr.pe, md, ig_dprsr_md.digest_type);
            finish.apply(hdr, md, ig_dprsr_md.drop_ctl, ig_tm_md.ucast_egress_port);
        }
    }
}

control PeEgress(
        inout pe_pass_headers_t hdr,
        inout tna_pe_meta_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Leave() leave;
    Mark() mark;
    TellSender() tell_sender;

    apply {
        // The copy is only passing through to its second pass.
        if (hdr.bridge.isValid() && eg_intr_md.egress_port != CPU_PORT) {
            leave.apply(hdr, md, eg_intr_md, eg_prsr_md);
            mark.apply(hdr, md);
            tell_sender.apply(hdr, md, eg_dprsr_md.mirror_type);
        }
        hdr.bridge.setInvalid();
    }
}

Pipeline(
    PeIngressParser(), PeIngress(), PeIngressDeparser(),
    PeEgressParser(), PeEgress(), PeEgressDeparser()) pipe;
Switch(pipe) main;
