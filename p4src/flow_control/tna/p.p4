// Flow control at a P of a chip: it asks its upstream neighbours to hold services (SRF-5, SRF-6). What its own neighbours ask
// it does not do: a program of Tofino 1 cannot stop a queue.
#ifndef FCN_TNA_FLOW_CONTROL_P_P4
#define FCN_TNA_FLOW_CONTROL_P_P4

#include "../../base/p_headers.p4"
#include "../../base/p_metadata.p4"
#include "../../base/rate_limits.p4"
#include "../../base/sizes.p4"
#include "../../base/tna/pass_headers.p4"
#include "../../fast_cnp/tna/flow_gate.p4"
#include "../../tna/p_metadata.p4"
#include "../flow_control.p4"
#include "../hold_level.p4"

// HoldCarryOver: what the egress has to know of how the packet came.
// Reads:  underlay header; md.ports, md.meta.base.ingress_port.
// Writes: arrival header.
// When:   first, before a segment ends here.
control HoldCarryOver(inout p_pass_headers_t hdr, in tna_p_meta_t md) {
    action carry_over() {
        hdr.arrival.setValid();
        hdr.arrival.port = md.meta.base.ingress_port;
        hdr.arrival.dst = hdr.p.outer_ipv6.dst;
        hdr.arrival.ports = md.ports;
    }

    apply {
        carry_over();
    }
}

// HoldMessage: an ARN for this node is not obeyed, nor is it the CPU's.
// Writes: meta.drop_reason.
// When:   behind WanArrival.
control HoldMessage(inout base_meta_t meta) {
    apply {
        if (meta.notification_kind == NotificationKind.ARN && meta.punt_reason == PuntReason.UNDERLAY_LOCAL) {
            meta.drop_reason = DropReason.TRANSLATION_DISABLED;
        }
    }
}

// ArnLimit: bounds the messages of flow control a node makes (FCN-15), as that of v1model.
// Writes: color, GREEN when the message may go. Not configured, the meter lets everything pass.
// When:   a message has passed its gate.
control ArnLimit(inout color_t color) {
    METER(".arn_meter", arn_meter, bit<1>, 1)

    apply {
        EXECUTE_METER(arn_meter, 0, color)
    }
}

// HoldAsk: is the neighbour asked to hold what this packet belongs to, or told that it need not (SRF-7)?
// Reads:  queue; arrival and underlay headers.
// Writes: md.asks, hdr.arrival.arn_type; md.passed, md.notification_color: whether it is time, and within the limit.
// When:   a packet leaves by a wire.
control HoldAsk(
        in egress_intrinsic_metadata_t eg_intr_md, inout p_pass_headers_t hdr, inout tna_p_meta_t md) {
    FlowControlMode() flow_control;
    HoldLevel() hold_level;
    FlowGate(FLOW_GATE_SIZE) arn_gate;
    ArnLimit() arn_limit;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash_of_service;
    bit<16> cell;
    past_interval_t interval;

    action find_interval() {
        SET_INTERVAL(interval, md.meta.base.now, md.meta.flow_control.refresh)
    }
    action find_cell() {
        cell = hash_of_service.get({
            hdr.arrival.port, hdr.p.outer_ipv6.src, hdr.arrival.dst, hdr.arrival.ports });
    }
    action ask() {
        hdr.arrival.arn_type = ArnType.DETECTED;
        md.asks = true;
    }
    action relieve() {
        hdr.arrival.arn_type = ArnType.ELIMINATED;
        md.relieves = true;
    }

    apply {
        flow_control.apply(md.meta.flow_control);
        hold_level.apply(
            eg_intr_md.egress_port, (bit<5>)eg_intr_md.egress_qid, eg_intr_md.deq_qdepth, md.meta.flow_control);
        find_cell();
        if (md.meta.flow_control.mode == FlowControl.SERVICE && hdr.bridge.pass == PassType.TRAFFIC
                && hdr.arrival.port != CPU_PORT && hdr.p.outer_ipv6.isValid()) {
            if (md.meta.flow_control.queue == QueueState.CONGESTED) {
                ask();
            } else if (md.meta.flow_control.queue == QueueState.RELIEVED) {
                relieve();
            }
        }
        find_interval();
        if (md.asks || md.relieves) {
            arn_gate.apply(md.relieves, cell, interval, md.meta.base.now, md.passed);
        }
        if (md.passed == 1) {
            arn_limit.apply(md.notification_color);
        }
    }
}

// HoldTells: the copy is to become an ARN, or there is none, because it is not yet time for one.
// Reads:  md.asks, passed.
// Writes: md.wanted, gate_passed, mirror.kind.
// When:   behind the limit of notifications, which is not for ARNs.
control HoldTells(inout tna_p_meta_t md) {
    action tell(bit<1> passed) {
        md.wanted = true;
        md.gate_passed = passed;
        md.mirror.kind = TOLD_KIND;
    }

    apply {
        if (md.passed == 1) {
            tell(1);
        } else if (md.asks && !md.wanted) {
            tell(0);
        }
    }
}

// HoldEnd: the arrival header ends, but a copy's, which comes round.
// Writes: arrival header.
// When:   in egress, last.
control HoldEnd(inout p_pass_headers_t hdr) {
    apply {
        if (!hdr.copy.isValid()) {
            hdr.arrival.setInvalid();
        }
    }
}

// HoldCopy: makes a copy an ARN about its service, for the neighbour it came from.
// Reads:  meta.base.copy_kind; copy, arrival and underlay headers.
// Writes: headers; drop: there is no such neighbour.
// When:   on the egress copy of a packet.
control HoldCopy(inout p_pass_headers_t hdr, in p_meta_t meta, inout bit<3> drop) {
    action set_arn_profile(
            bit<16> udp_src_port, bit<16> udp_dst_port, bit<6> dscp, microseconds_t time) {
        hdr.p.tunnel.udp.src_port = udp_src_port;
        hdr.p.tunnel.udp.dst_port = udp_dst_port;
        hdr.p.outer_ipv6.dscp = dscp;
        hdr.p.arn.time.time = time;
    }

    @name(".arn_profile")
    table arn_profile {
        actions = {
            set_arn_profile;
        }
        default_action = set_arn_profile(0, 0, 0, 0);
    }

    action set_arn_upstream(
            mac_addr_t src_mac, mac_addr_t dst_mac, ipv6_addr_t src, ipv6_addr_t dst) {
        hdr.p.ethernet.src = src_mac;
        hdr.p.ethernet.dst = dst_mac;
        hdr.p.outer_ipv6.src = src;
        hdr.p.outer_ipv6.dst = dst;
    }
    action no_upstream() {
        drop = 1;
    }

    PLACED(arn_upstream) @name(".arn_upstream")
    table arn_upstream {
        key = {
            hdr.arrival.port: exact @name("port");
        }
        actions = {
            @tableonly set_arn_upstream;
            @defaultonly no_upstream;
        }
        const default_action = no_upstream;
        size = PORT_TABLE_SIZE;
    }

    action name_service() {
        hdr.p.arn.arn.setValid();
        hdr.p.arn.arn.type = hdr.arrival.arn_type;
        hdr.p.arn.arn.version = 0;
        hdr.p.arn.arn.reserved = 0;
        hdr.p.arn.arn.metric = hdr.copy.pad0 ++ hdr.copy.level;
        hdr.p.arn.arn.para_type = ARN_FIVE_TUPLE_AND_TIME;
        hdr.p.five_tuple.head.setValid();
        hdr.p.five_tuple.head.ip_version = 6;
        hdr.p.five_tuple.head.label = 0;
        hdr.p.five_tuple.ipv6.setValid();
        hdr.p.five_tuple.ipv6.src = hdr.p.outer_ipv6.src;
        hdr.p.five_tuple.ipv6.dst = hdr.arrival.dst;
        hdr.p.five_tuple.ports.setValid();
        hdr.p.five_tuple.ports.src_port = hdr.arrival.ports[31:16];
        hdr.p.five_tuple.ports.dst_port = hdr.arrival.ports[15:0];
        hdr.p.arn.time.setValid();
    }
    action any_protocol() {
        hdr.p.five_tuple.head.protocol = 0;
    }
    action this_protocol() {
        hdr.p.five_tuple.head.protocol = hdr.p.outer_ipv6.next_header;
    }
    action to_udp() {
        hdr.p.outer_ipv6.payload_len = ARN_IPV6_UDP_LENGTH;
        hdr.p.outer_ipv6.next_header = IpProtocol.UDP;
        hdr.p.outer_ipv6.hop_limit = ARN_HOP_LIMIT;
        hdr.p.tunnel.udp.setValid();
        hdr.p.tunnel.udp.length = ARN_IPV6_UDP_LENGTH;
        hdr.p.tunnel.udp.checksum = 0;
    }

    // As in FastCnp, an action each
    action clear_label() {
        hdr.p.outer_ipv6.flow_label = 0;
    }
    action clear_ecn() {
        hdr.p.outer_ipv6.ecn = Ecn.NOT_ECT;
    }

    apply {
        if (meta.base.copy_kind == NotificationKind.ARN) {
            name_service();
            // As service_protocol()
            if (hdr.p.outer_ipv6.next_header == IpProtocol.IPV4 || hdr.p.outer_ipv6.next_header == IpProtocol.IPV6
                    || hdr.p.outer_ipv6.next_header == IpProtocol.ROUTING) {
                any_protocol();
            } else {
                this_protocol();
            }
            to_udp();
            clear_label();
            clear_ecn();
            arn_profile.apply();
            arn_upstream.apply();
        }
    }
}

#endif
