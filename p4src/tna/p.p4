// Transit node (P) for Tofino: the steps in which a packet is processed, a file each in p/; those that a PE has, too, are beside
// this file. Steps that begin with Hold are those of flow control (flow_control/tna), with Curve of the two-threshold mode
// (two_threshold/tna), with Path, Clock, Links and Hello of links and paths (fantel/tna); in a program without the mode they are empty.
#include "../base/tna/externs.p4"
#include "../base/tna/pass_headers.p4"
#include "../base/p_headers.p4"
#include "../base/p_metadata.p4"
#include "p_metadata.p4"
#include "../fast_cnp/domain_mode.p4"
#include "../fast_cnp/fast_cnp_profile.p4"
#include "../forwarding/neighbor_parser.p4"
#include "../forwarding/srv6_parser.p4"
#include "admit.p4"
#include "from_controller.p4"
#include "p/congested_flow.p4"
#include "p/finish.p4"
#include "p/leave.p4"
#include "p/look_up.p4"
#include "p/make_message.p4"
#include "p/mark.p4"
#include "p/parser.p4"
#include "p/pass_on.p4"
#include "p/tell.p4"
#include "p/to_wan.p4"

// QueueLevel begins in the first stage only if nobody else writes its container there.
@pa_auto_init_metadata
@pa_solitary("egress", "md.meta.base.level")
@pa_solitary("egress", "md.gate_passed")
@pa_solitary("egress", "md.marked")
@pa_solitary("ingress", "md.meta.base.is_malformed")
// In smaller pieces they are not copied to each other.
@pa_container_size("egress", "hdr.p.outer_ipv6.flow_label", 32)
@pa_container_size("egress", "hdr.p.fast_cnp.word", 32)
#if HAS_LINKS
// ClockSlot writes the headers of a hello into those of the clock, too, which has none of them.
@pa_no_overlay("ingress", "hdr.clock.token")
@pa_no_overlay("ingress", "hdr.clock.is_last")
@pa_no_overlay("ingress", "hdr.clock.slot")
@pa_no_overlay("ingress", "hdr.clock.has_begun")
@pa_no_overlay("ingress", "hdr.clock.cell")
@pa_no_overlay("ingress", "hdr.clock.refresh")
@pa_no_overlay("ingress", "hdr.clock.relief")
#endif
control PIngress(
        inout p_pass_headers_t hdr,
        inout tna_p_meta_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    HoldCarryOver() hold_carry_over;
    PathCarryOver() path_carry_over;
    FromController() from_controller;
    LookUp() look_up;
    Admit() admit;
    ToWan() to_wan;
    ClockAgain() clock_again;
    Links() links;
    PassOn() pass_on;
    Finish() finish;

    apply {
        hold_carry_over.apply(hdr, md);
        path_carry_over.apply(hdr, md);
        if (hdr.p.packet_out.isValid()) {
            from_controller.apply(hdr.p.packet_out, hdr.bridge, hdr.copy, ig_tm_md.ucast_egress_port);
        } else {
            if (!IS_CLOCK(hdr)) {
                look_up.apply(hdr, md, ig_prsr_md);
                admit.apply(hdr.p.ethernet, md.meta.base);
                to_wan.apply(hdr, md);
            }
            clock_again.apply(hdr, md, ig_prsr_md, ig_dprsr_md.drop_ctl, ig_tm_md.ucast_egress_port);
            links.apply(hdr, md, ig_dprsr_md.drop_ctl);
            if (!IS_CLOCK(hdr)) {
                pass_on.apply(hdr, md);
                finish.apply(hdr, md, ig_dprsr_md.drop_ctl, ig_tm_md.ucast_egress_port);
            }
        }
    }
}

control PEgress(
        inout p_pass_headers_t hdr,
        inout tna_p_meta_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    DomainMode() domain_mode;
    FastCnpProfile() fast_cnp_profile;
    MakeMessage() make_message;
    Leave() leave;
    CongestedFlow() congested_flow;
    Mark() mark;
    Tell() tell;
    HoldEnd() hold_end;
    PathEnd() path_end;

    apply {
        domain_mode.apply(md.meta.base);
        fast_cnp_profile.apply(hdr.p.fast_cnp_profile);
        if (hdr.copy.isValid()) {
            make_message.apply(hdr, md, eg_dprsr_md.drop_ctl);
        } else if (eg_intr_md.egress_port != CPU_PORT) {
            leave.apply(hdr, md, eg_intr_md, eg_prsr_md);
            congested_flow.apply(hdr, md, eg_intr_md);
            mark.apply(hdr, md);
            tell.apply(hdr, md, eg_dprsr_md.mirror_type);
        }
        hdr.bridge.setInvalid();
        hold_end.apply(hdr);
        path_end.apply(hdr);
    }
}

Pipeline(
    PIngressParser(), PIngress(), PIngressDeparser(),
    PEgressParser(), PEgress(), PEgressDeparser()) pipe;
Switch(pipe) main;
