// Transit node (P) for BMv2. Contents, in the order a packet meets them:
//
//   PortRole            only ports of the domain
//   NotificationPort    Fast CNP? it never causes another
//   Endpoint, Srv6End   underlay addresses and SIDs of this node
//   Underlay            the WAN's routes, ECMP
//   QueueLevel          egress: eight levels per port and queue
//   CeMark              CE on the outer header
//   FastCnp             copy of the congested packet -> Fast CNP -> second pass
#include "externs.p4"
#include "../common/config.p4"
#include "../common/types.p4"
#include "../common/headers.p4"
#include "../common/metadata.p4"
#include "../common/port_role.p4"
#include "../common/trust_boundary.p4"
#include "../common/endpoint.p4"
#include "../common/srv6_end.p4"
#include "../common/queue_level.p4"
#include "../common/ce_mark.p4"
#include "../common/fast_cnp.p4"
#include "flow_gate.p4"
#include "rate_limits.p4"
#include "fast_cnp_checksum.p4"
#include "underlay.p4"
#include "punt.p4"
#include "p_parser.p4"

control PVerifyChecksum(inout p_headers_t hdr, inout meta_t meta) {
    apply { }
}

control PIngress(
        inout p_headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    @name(".drops")
    counter(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) drops;
    @name(".events")
    counter(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) events;
    @name(".port_rx")
    counter(PORT_COUNTER_SIZE, CounterType.packets_and_bytes) port_rx;

    PortRole() port_role;
    NotificationPort() notification_port;
    Endpoint() endpoint;
    Srv6End() srv6_end;
    Underlay() underlay;
    Punt() punt;

    action finish_at_cpu() {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = meta.ingress_port;
        hdr.packet_in.reason = meta.punt_reason;
        hdr.packet_in.vlan_id = 0;
        hdr.packet_in.vrf = 0;
        standard_metadata.egress_spec = CPU_PORT;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            exit;
        }

        if (meta.copy == Copy.FAST_CNP) {
            meta.forward = Forward.UNDERLAY;
        } else {
            meta.ingress_port = standard_metadata.ingress_port;
            port_rx.count((bit<32>)meta.ingress_port);
            port_role.apply(meta);
        }

        if (meta.drop_reason == DropReason.NONE && meta.copy == Copy.NONE) {
            if (standard_metadata.parser_error != error.NoError) {
                meta.drop_reason = DropReason.MALFORMED;
            } else if (meta.role != Role.CORE) {
                meta.drop_reason = DropReason.UNSUPPORTED;
            } else if (hdr.ethernet.ether_type == EtherType.ARP) {
                meta.punt_reason = PuntReason.ARP;
            } else if (!hdr.outer_ipv6.isValid()) {
                meta.drop_reason = DropReason.UNSUPPORTED;
            } else if (meta.is_nd) {
                meta.punt_reason = PuntReason.ND;
            } else {
                meta.forward = Forward.UNDERLAY;
            }
        }

        if (meta.forward == Forward.UNDERLAY) {
            if (hdr.outer_udp.isValid()) {
                meta.udp_dst_port = hdr.outer_udp.dst_port;
            }
            notification_port.apply(meta);
            if (meta.copy == Copy.FAST_CNP) {
                events.count((bit<32>)(bit<8>)Event.FAST_CNP_SENT);
                truncate(FAST_CNP_FRAME_LENGTH);
            } else {
                endpoint.apply(hdr.outer_ipv6.dst, meta);
                if (meta.is_local) {
                    meta.punt_reason = PuntReason.UNDERLAY_LOCAL;
                } else if (hdr.outer_ipv6.hop_limit <= 1) {
                    meta.drop_reason = DropReason.TTL_EXPIRED;
                } else {
                    hdr.outer_ipv6.hop_limit = hdr.outer_ipv6.hop_limit - 1;
                    if (meta.is_end_sid) {
                        srv6_end.apply(
                            hdr.outer_ipv6, hdr.srh, hdr.segment0, hdr.segment1, hdr.segment2,
                            hdr.segment3, meta.drop_reason);
                    }
                }
            }
            if (meta.drop_reason == DropReason.NONE && meta.punt_reason == PuntReason.NONE) {
                underlay.apply(hdr.outer_ipv6, hdr.ethernet, meta);
            }
        }

        punt.apply(meta);
        if (meta.drop_reason != DropReason.NONE) {
            drops.count((bit<32>)(bit<8>)meta.drop_reason);
            mark_to_drop(standard_metadata);
        } else if (meta.punt_reason != PuntReason.NONE) {
            events.count((bit<32>)(bit<8>)Event.PUNTED);
            finish_at_cpu();
        } else {
            standard_metadata.egress_spec = meta.egress_port;
        }
    }
}

control PEgress(
        inout p_headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    @name(".egress_events")
    counter(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) egress_events;
    @name(".port_tx")
    counter(PORT_COUNTER_SIZE, CounterType.packets_and_bytes) port_tx;

    QueueLevel() queue_level;
    CeMark() ce_mark;
    FastCnpProfile() fast_cnp_profile;
    FlowGate() fast_cnp_gate;
    NotificationLimit() notification_limit;
    FastCnp() fast_cnp;
    FastCnpChecksum() fast_cnp_checksum;

    apply {
        fast_cnp_profile.apply(meta);

        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            fast_cnp.apply(hdr, meta);
            fast_cnp_checksum.apply(
                hdr.outer_ipv6, hdr.outer_udp, hdr.fast_cnp, hdr.outer_udp.checksum);
            truncate(FAST_CNP_FRAME_LENGTH);
            recirculate_preserving_field_list(KEEP_COPY);
        } else if (standard_metadata.egress_port != CPU_PORT) {
            bool marked = false;
            bool pass = false;
            // Marking CE changes the field the notification asks for.
            bool is_ect = hdr.outer_ipv6.isValid() && hdr.outer_ipv6.ecn != Ecn.NOT_ECT;

            port_tx.count((bit<32>)standard_metadata.egress_port);
            queue_level.apply(
                standard_metadata.egress_port, (bit<5>)standard_metadata.priority,
                standard_metadata.deq_qdepth, meta);

            if (is_ect && meta.level_marks == 1) {
                ce_mark.apply(hdr.outer_ipv6.ecn, marked);
                if (marked) {
                    egress_events.count((bit<32>)(bit<8>)Event.CE_MARKED);
                }
            }

            // FCN-8: an ECN-capable packet with an FCN label that is no notification itself
            if (is_ect && meta.level_notifies == 1 && meta.notify_enabled == 1
                    && !meta.is_notification
                    && hdr.outer_ipv6.flow_label & FCN_LABEL_BIT != 0) {
                fast_cnp_gate.apply(
                    hdr.outer_ipv6.flow_label, meta.level_interval,
                    standard_metadata.egress_global_timestamp, pass);
                if (!pass) {
                    egress_events.count((bit<32>)(bit<8>)Event.FLOW_INTERVAL_SUPPRESSED);
                } else {
                    notification_limit.apply(pass);
                    if (!pass) {
                        egress_events.count((bit<32>)(bit<8>)Event.NODE_RATE_SUPPRESSED);
                    } else {
                        egress_events.count((bit<32>)(bit<8>)Event.NOTIFICATION_TRIGGERED);
                        meta.copy = Copy.FAST_CNP;
                        meta.copy_label = hdr.outer_ipv6.flow_label;
                        meta.copy_level = meta.level;
                        clone_preserving_field_list(
                            CloneType.E2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
                    }
                }
            }
        }
    }
}

control PComputeChecksum(inout p_headers_t hdr, inout meta_t meta) {
    apply { }
}

V1Switch(PParser(), PVerifyChecksum(), PIngress(), PEgress(), PComputeChecksum(), PDeparser()) main;
