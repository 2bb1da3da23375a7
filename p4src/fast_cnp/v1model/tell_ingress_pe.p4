// The egress PE is a congested node like a P where its port to a data centre is (FCN-18): the ingress PE of the flow hears
// of it. The tunnel, which names both, is gone by then: hdr.ingress_pe carries what is needed of it.
#ifndef FCN_TELL_INGRESS_PE_P4
#define FCN_TELL_INGRESS_PE_P4

#include "../../base/v1model/pe.p4"
#include "../../end_con/end_con_packet.p4"
#include "budget_gate.p4"
#include "cnp_udp_checksum.p4"
#include "fast_cnp_checksum.p4"

// What a P sends, too; of other kinds (FANTEL, which is about paths) an egress PE has nothing to say.
#define IS_FOR_INGRESS_PE(kind) \
    ((kind) == NotificationKind.FAST_CNP || (kind) == NotificationKind.END_CON_CNP)

// RememberTunnel
// Reads:  underlay header; base.mode.
// Writes: hdr.ingress_pe, of an ECN-capable packet with an FCN label (FCN-8).
// When:   a tunnel ends here, before TunnelDecap.
control RememberTunnel(in ipv6_h outer_ipv6, in base_meta_t base, inout ingress_pe_h ingress_pe) {
    apply {
        if (IS_FOR_INGRESS_PE(base.mode.congestion_kind) && outer_ipv6.flow_label & FCN_LABEL_BIT != 0
                && outer_ipv6.ecn != Ecn.NOT_ECT) {
            ingress_pe.setValid();
            ingress_pe.address = outer_ipv6.src;
            ingress_pe.label = outer_ipv6.flow_label;
        }
    }
}

// NoticeLimit: bounds what a PE sends to others of its kind (FCN-15), apart from the CNPs for its own senders.
// Writes: color, GREEN when the notification may go.
// When:   a notification has passed its flow's gate. Not configured, the meter lets everything pass.
control NoticeLimit(inout color_t color) {
    METER(".notice_meter", notice_meter, bit<1>, 1)

    apply {
        EXECUTE_METER(notice_meter, 0, color)
    }
}

// TellIngressPe: is it time to? As at a P: once per interval and flow, within the node's limit (FCN-11, FCN-15).
// Reads:  base.mode, base.level_interval; hdr.ingress_pe, BTH.
// Writes: base.tells: what the copy becomes; base.copy_label.
// When:   a packet with hdr.ingress_pe leaves by the congested port of a data centre.
control TellIngressPe(
        in bth_h bth, in ingress_pe_h ingress_pe, in bit<48> now, inout base_meta_t base) {
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) last_sent;
    register<bit<96>, tenant_t>(TENANT_CELLS) lines;
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) tenants;
    register<bit<96>, tenant_t>(1) tenant_line;
    FlowDue(last_sent) notice_due;
    BudgetGate(last_sent, lines, tenants, tenant_line) notice_gate;
    BudgetTurn(last_sent, lines, tenants, tenant_line) notice_turn;
    NoticeLimit() notice_limit;

    apply {
        NotificationKind kind = base.mode.congestion_kind;
        if (kind == NotificationKind.END_CON_CNP && (!bth.isValid() || bth.opcode == BthOpcode.CNP)) {
            events.count(Event.INNER_OPAQUE);
        } else {
            budget_t budget = { 0, 0, false, false, false };
            bit<16> index = ingress_pe.label[15:0];
            tenant_t tenant = VRF_CELL(base.vrf);
            color_t color = RED;
            notice_due.apply(index, base.level_interval, now, budget.cell, budget.due);
            if (!budget.due) {
                flow_interval_suppressed.count(kind);
            } else {
                notice_gate.apply(index, tenant, now, budget);
                if (budget.asks) {
                    notice_limit.apply(color);
                }
                notice_turn.apply(index, tenant, now, budget, color == GREEN, 0);
                if (color != GREEN) {
                    node_rate_suppressed.count(kind);
                } else {
                    notifications_triggered.count(kind);
                    base.tells = kind;
                    base.copy_label = ingress_pe.label;
                }
            }
        }
    }
}

// IngressPeNotice: makes the copy the notification, a Fast CNP (FCN-9, FCN-10) or a CNP by way of END.CON (SRF-4), as P's
// FastCnp and EndConCnp do.
// Reads:  hdr.ingress_pe, customer headers; base.copy_kind, base.copy_label, base.copy_level.
// Writes: every header; the length of the frame; is_cnp: its IPv4 header needs a checksum.
// When:   on the egress copy of a packet that met the congested queue, which has no underlay header any more.
control IngressPeNotice(inout pe_headers_t hdr, in base_meta_t base, out bool is_cnp) {
    FastCnpChecksum() fast_cnp_checksum;
    CnpUdpChecksum() cnp_udp_checksum;
    EndConPayload() payload;
    BackToIpv4Sender() back_to_ipv4_sender;
    BackToIpv6Sender() back_to_ipv6_sender;

    bit<1> shows_label;

    // As P's FastCnpProfile
    action set_fast_cnp_profile(
            ipv6_addr_t src, bit<16> udp_src_port, bit<16> udp_dst_port, bit<8> traffic_class,
            bit<8> hop_limit, bit<1> copy_label) {
        hdr.outer_ipv6.src = src;
        hdr.outer_ipv6.dscp = traffic_class[7:2];
        hdr.outer_ipv6.hop_limit = hop_limit;
        hdr.udp.src_port = udp_src_port;
        hdr.udp.dst_port = udp_dst_port;
        shows_label = copy_label;
    }

    @name(".fast_cnp_profile")
    table profile {
        actions = {
            set_fast_cnp_profile;
        }
        default_action = set_fast_cnp_profile(0, 0, 0, 0, TUNNEL_HOP_LIMIT, 0);
    }

    action remove_customer_headers() {
        hdr.vlan.setInvalid();
        hdr.fast_cnp.setInvalid();
        hdr.roce.deth.setInvalid();
        hdr.roce.mad.setInvalid();
        hdr.roce.cm_ids.setInvalid();
    }
    // A notification is never ECN-capable, so no node takes it for a congested flow.
    action to_ingress_pe() {
        hdr.ethernet.ether_type = EtherType.IPV6;
        hdr.outer_ipv6.setValid();
        hdr.outer_ipv6.version = 6;
        hdr.outer_ipv6.ecn = Ecn.NOT_ECT;
        hdr.outer_ipv6.flow_label = base.copy_label;
        hdr.outer_ipv6.dst = hdr.ingress_pe.address;
        hdr.udp.setValid();
    }
    action build_fast_cnp() {
        hdr.ipv4.setInvalid();
        hdr.ipv6.setInvalid();
        hdr.roce.bth.setInvalid();
        hdr.outer_ipv6.payload_len = FAST_CNP_UDP_LENGTH;
        hdr.outer_ipv6.next_header = IpProtocol.UDP;
        hdr.udp.length = FAST_CNP_UDP_LENGTH;
        hdr.fast_cnp.setValid();
        hdr.fast_cnp.word = base.copy_label ++ base.copy_level ++ 9w0;
    }

    apply {
        is_cnp = base.copy_kind == NotificationKind.END_CON_CNP;
        remove_customer_headers();
        to_ingress_pe();
        profile.apply();
        if (is_cnp) {
            payload.apply(hdr.udp, hdr.roce.bth, hdr.roce.cnp_payload);
            if (hdr.ipv4.isValid()) {
                back_to_ipv4_sender.apply(hdr.outer_ipv6, hdr.ipv4);
            } else {
                back_to_ipv6_sender.apply(hdr.outer_ipv6, hdr.ipv6);
                cnp_udp_checksum.apply(hdr.ipv6, hdr.roce.bth, hdr.roce.cnp_payload, hdr.udp);
            }
        } else {
            build_fast_cnp();
            bit<16> checksum;
            fast_cnp_checksum.apply(hdr.outer_ipv6, hdr.udp, hdr.fast_cnp, checksum);
            hdr.udp.checksum = checksum;
            if (shows_label == 0) {
                hdr.outer_ipv6.flow_label = 0;
            }
        }
    }
}

#endif
