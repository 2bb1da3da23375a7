// Transit node (P) for BMv2. Contents, in the order in which a packet is processed:
//
//   PortRole            accepts core ports only
//   NotificationPort    recognises Fast CNPs, which never cause another
//   Endpoint            underlay addresses and SIDs of this node
//   WanArrival          forwarding decision
//   Srv6End             next segment
//   Underlay            the WAN's routes, ECMP
//   QueueLevel          egress: eight levels per port and queue
//   EcnMark             the level's mark on the outer header
//   DomainMode, FastCnp copy of the packet in a congested queue -> Fast CNP -> second pass
#include "externs.p4"
#include "../common/base/sizes.p4"
#include "../common/base/types.p4"
#include "../common/p/headers.p4"
#include "../common/p/metadata.p4"
#include "../common/base/port_role.p4"
#include "../common/base/notification_port.p4"
#include "../common/base/endpoint.p4"
#include "../common/base/wan_arrival.p4"
#include "../common/base/srv6_end.p4"
#include "../common/base/underlay.p4"
#include "../common/base/rate_limits.p4"
#include "../common/base/domain_mode.p4"
#include "../common/base/queue_level.p4"
#include "../common/base/ecn_mark.p4"
#include "../common/base/srv6_parser.p4"
#include "../common/p/fast_cnp_profile.p4"
#include "../common/p/fast_cnp.p4"
#include "underlay_length.p4"
#include "flow_gate.p4"
#include "fast_cnp_checksum.p4"
#include "p_parser.p4"

control PVerifyChecksum(inout p_headers_t hdr, inout p_meta_t meta) {
    apply { }
}

control PIngress(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    @name(".drops")
    counter<DropReason>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) drops;
    @name(".punts")
    counter<PuntReason>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) punts;
    @name(".notifications_sent")
    counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) notifications_sent;
    @name(".port_rx")
    counter<port_t>(PORT_COUNTER_SIZE, CounterType.packets_and_bytes) port_rx;
    @name(".vrf_refused")
    counter<vrf_cell_t>(VRF_CELLS, CounterType.packets_and_bytes) vrf_refused;

    PortRole() port_role;
    UnderlayLength() underlay_length;
    NotificationPort() notification_port;
    Endpoint() endpoint;
    WanArrival() wan_arrival;
    Srv6End() srv6_end;
    Underlay() underlay;
    PuntLimit() punt_limit;

    action finish_at_cpu() {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = meta.base.ingress_port;
        hdr.packet_in.reason = meta.base.punt_reason;
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

        if (meta.base.copy_kind != NotificationKind.NONE) {
            meta.base.forward = Forward.UNDERLAY;
            meta.base.notification_kind = meta.base.copy_kind;
            notifications_sent.count(meta.base.copy_kind);
            truncate((bit<32>)FAST_CNP_FRAME_LENGTH);
        } else {
            meta.base.ingress_port = standard_metadata.ingress_port;
            port_rx.count(meta.base.ingress_port);
            port_role.apply(meta.base);
            if (meta.base.drop_reason == DropReason.NONE && hdr.outer_ipv6.isValid()) {
                bit<32> ip_octets = standard_metadata.packet_length - (bit<32>)ETHERNET_LENGTH;
                underlay_length.apply(hdr.outer_ipv6, ip_octets, meta.base);
            }
            if (meta.base.drop_reason == DropReason.NONE) {
                meta.base.is_arp = hdr.ethernet.ether_type == EtherType.ARP;
                if (hdr.outer_udp.isValid()) {
                    notification_port.apply(hdr.outer_udp.dst_port, meta.base);
                }
                endpoint.apply(hdr.outer_ipv6.dst, meta.base);
                if (standard_metadata.parser_error != error.NoError) {
                    meta.base.is_malformed = true;
                }
                wan_arrival.apply(hdr.outer_ipv6, meta.base);
                if (meta.base.destination == Destination.END_SID
                        && meta.base.forward == Forward.UNDERLAY) {
                    srv6_end.apply(hdr.outer_ipv6, hdr.srv6, meta.base.drop_reason);
                }
            }
        }

        if (meta.base.forward == Forward.UNDERLAY && meta.base.drop_reason == DropReason.NONE) {
            underlay.apply(hdr.outer_ipv6, hdr.ethernet, meta.base);
        }

        if (meta.base.drop_reason == DropReason.NONE && meta.base.punt_reason != PuntReason.NONE) {
            color_t punt_color = GREEN;
            punt_limit.apply(meta.base.vrf, punt_color);
            if (punt_color != GREEN) {
                vrf_refused.count(VRF_CELL(meta.base.vrf));
                meta.base.drop_reason = DropReason.PUNT_RATE_LIMIT;
            }
        }
        if (meta.base.drop_reason != DropReason.NONE) {
            drops.count(meta.base.drop_reason);
            mark_to_drop(standard_metadata);
        } else if (meta.base.punt_reason != PuntReason.NONE) {
            punts.count(meta.base.punt_reason);
            finish_at_cpu();
        } else {
            standard_metadata.egress_spec = meta.base.egress_port;
        }
    }
}

control PEgress(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    @name(".ecn_marked")
    counter<Ecn>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) ecn_marked;
    @name(".notifications_triggered")
    counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) notifications_triggered;
    @name(".flow_interval_suppressed")
    counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) flow_interval_suppressed;
    @name(".node_rate_suppressed")
    counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) node_rate_suppressed;
    @name(".port_tx")
    counter<port_t>(PORT_COUNTER_SIZE, CounterType.packets_and_bytes) port_tx;

    QueueLevel() queue_level;
    EcnMark() ecn_mark;
    DomainMode() domain_mode;
    FastCnpProfile() fast_cnp_profile;
    FlowGate() fast_cnp_gate;
    NotificationLimit() notification_limit;
    FastCnp() fast_cnp;
    FastCnpChecksum() fast_cnp_checksum;

    apply {
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            fast_cnp_profile.apply(hdr.fast_cnp_profile);
            fast_cnp.apply(hdr, meta);
            fast_cnp_checksum.apply(
                hdr.outer_ipv6, hdr.outer_udp, hdr.fast_cnp, hdr.outer_udp.checksum);
            truncate((bit<32>)FAST_CNP_FRAME_LENGTH);
            recirculate_preserving_field_list(KEEP_COPY);
        } else if (standard_metadata.egress_port != CPU_PORT) {
            port_tx.count(standard_metadata.egress_port);
            queue_level.apply(
                standard_metadata.egress_port, (bit<5>)standard_metadata.priority,
                standard_metadata.deq_qdepth, meta.base);

            bool marked = false;
            // Read before marking changes the ECN field.
            bool is_ect = hdr.outer_ipv6.isValid() && hdr.outer_ipv6.ecn != Ecn.NOT_ECT;
            if (is_ect && meta.base.level_mark != Ecn.NOT_ECT) {
                ecn_mark.apply(hdr.outer_ipv6.ecn, meta.base.level_mark, marked);
                if (marked) {
                    ecn_marked.count(meta.base.level_mark);
                }
            }

            // FCN-8: an ECN-capable packet with an FCN label that is no notification itself
            if (is_ect && meta.base.level_notifies == 1
                    && meta.base.notification_kind == NotificationKind.NONE
                    && hdr.outer_ipv6.flow_label & FCN_LABEL_BIT != 0) {
                domain_mode.apply(meta.base);
                if (meta.base.mode.congestion_kind != NotificationKind.NONE) {
                    bool pass = false;
                    color_t color = GREEN;
                    NotificationKind kind = meta.base.mode.congestion_kind;
                    fast_cnp_gate.apply(
                        hdr.outer_ipv6.flow_label, meta.base.level_interval,
                        standard_metadata.egress_global_timestamp, pass);
                    if (!pass) {
                        flow_interval_suppressed.count(kind);
                    } else {
                        notification_limit.apply(color);
                        if (color != GREEN) {
                            node_rate_suppressed.count(kind);
                        } else {
                            notifications_triggered.count(kind);
                            meta.base.copy_kind = meta.base.mode.congestion_kind;
                            meta.base.copy_label = hdr.outer_ipv6.flow_label;
                            meta.base.copy_level = meta.base.level;
                            clone_preserving_field_list(
                                CloneType.E2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
                        }
                    }
                }
            }
        }
    }
}

control PComputeChecksum(inout p_headers_t hdr, inout p_meta_t meta) {
    apply { }
}

V1Switch(PParser(), PVerifyChecksum(), PIngress(), PEgress(), PComputeChecksum(), PDeparser()) main;
