// Precise flow control at a P of a chip: it asks its upstream neighbours to hold a service or a priority (SRF-5, SRF-6). What
// its own neighbours ask it does not do: a chip of the first generation cannot stop a queue.
#ifndef FCN_TNA_FLOW_CONTROL_P_P4
#define FCN_TNA_FLOW_CONTROL_P_P4

#include "../../base/p_headers.p4"
#include "../../base/p_metadata.p4"
#include "../../base/rate_limits.p4"
#include "../../base/sizes.p4"
#include "../../base/tna/pass_headers.p4"
#include "../../fast_cnp/tna/flow_gate.p4"
#include "../../tna/p_metadata.p4"
#include "../arn.p4"
#include "../arn_upstream.p4"
#include "../flow_control.p4"
#include "../hold_level.p4"

// HoldArrival: what the egress has to know of how the packet came.
// Writes: the bridge header, but its type.
// When:   every packet, before a segment ends here.
control HoldArrival(inout p_pass_headers_t hdr, in port_t ingress_port) {
    action carry_over() {
        hdr.bridge.port = ingress_port;
        hdr.bridge.arrived_dst = hdr.p.outer_ipv6.dst;
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

// HoldOrigin: the neighbour who can be asked to hold this packet's traffic, and what the traffic is.
// Reads:  meta.flow_control.upstream_port, meta.base.arrived_dst, md.ports; underlay header.
// Writes: meta.flow_control.mode, refresh, has_upstream, traffic; the neighbour's headers.
// When:   in egress, first: packets and their copies.
control HoldOrigin(inout p_pass_headers_t hdr, inout tna_p_meta_t md) {
    FlowControlMode() flow_control;
    ArnUpstream() arn_upstream;

    action of_priority() {
        md.meta.flow_control.traffic.priority = (bit<32>)hdr.p.outer_ipv6.dscp[5:3];
    }
    action of_service() {
        md.meta.flow_control.traffic.ip_version = 6;
        md.meta.flow_control.traffic.src = hdr.p.outer_ipv6.src;
        md.meta.flow_control.traffic.dst = md.meta.base.arrived_dst;
        md.meta.flow_control.traffic.src_port = md.ports[31:16];
        md.meta.flow_control.traffic.dst_port = md.ports[15:0];
    }
    action of_protocol() {
        md.meta.flow_control.traffic.protocol = hdr.p.outer_ipv6.next_header;
    }

    apply {
        flow_control.apply(md.meta.flow_control);
        arn_upstream.apply(hdr.p.envelope, md.meta.flow_control);
        if (md.meta.flow_control.mode == FlowControl.PRIORITY) {
            of_priority();
        } else {
            of_service();
            // As service_protocol()
            if (hdr.p.outer_ipv6.next_header != IpProtocol.IPV4 && hdr.p.outer_ipv6.next_header != IpProtocol.IPV6
                    && hdr.p.outer_ipv6.next_header != IpProtocol.ROUTING) {
                of_protocol();
            }
        }
    }
}

// HoldAsk: is the neighbour asked to hold what this packet belongs to, or told that it need not (SRF-7)?
// Reads:  queue; what HoldOrigin found.
// Writes: meta.flow_control.arn_type; asked: NONE where nothing is to be said; passed, color: whether it is time, and within
//         the limit.
// When:   a packet leaves by a wire.
control HoldAsk(
        in egress_intrinsic_metadata_t eg_intr_md, in p_pass_headers_t hdr, inout tna_p_meta_t md) {
    HoldLevel() hold_level;
    FlowGate() arn_gate;
    ArnLimit() arn_limit;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) cell_of_traffic;

    action find_cell() {
        md.arn_cell = cell_of_traffic.get({
            md.meta.flow_control.upstream_port, md.meta.flow_control.traffic.protocol,
            md.meta.flow_control.traffic.src, md.meta.flow_control.traffic.dst,
            md.meta.flow_control.traffic.src_port, md.meta.flow_control.traffic.dst_port,
            md.meta.flow_control.traffic.priority });
    }

    apply {
        hold_level.apply(
            eg_intr_md.egress_port, (bit<5>)eg_intr_md.egress_qid, eg_intr_md.deq_qdepth, md.meta.flow_control);
        find_cell();
        if (md.meta.flow_control.mode != FlowControl.OFF && md.meta.flow_control.has_upstream
                && hdr.bridge.pass == PassType.TRAFFIC && hdr.p.outer_ipv6.isValid()) {
            if (md.meta.flow_control.queue == QueueState.CONGESTED) {
                md.meta.flow_control.arn_type = ArnType.DETECTED;
                md.asks = true;
            } else if (md.meta.flow_control.queue == QueueState.RELIEVED) {
                md.meta.flow_control.arn_type = ArnType.ELIMINATED;
                md.relieves = true;
            }
        }
        arn_gate.apply(md.asks, md.relieves, md.arn_cell, md.meta.flow_control.refresh, md.now, md.arn_passed);
        if (md.arn_passed == 1) {
            arn_limit.apply(md.notification_color);
        }
    }
}

// HoldCopy: makes a copy an ARN.
// Reads:  meta.base.copy_kind, copy_level; meta.flow_control.arn_type; what HoldOrigin found.
// Writes: headers.
// When:   on the egress copy of a packet.
control HoldCopy(inout p_headers_t hdr, inout p_meta_t meta) {
    Arn() arn;

    apply {
        if (meta.base.copy_kind == NotificationKind.ARN) {
            arn.apply(
                hdr.ethernet, hdr.outer_ipv6, hdr.tunnel.udp, hdr.arn, hdr.five_tuple, hdr.envelope,
                meta.flow_control);
            hdr.arn.arn.metric = (bit<8>)meta.base.copy_level;
        }
    }
}

#endif
