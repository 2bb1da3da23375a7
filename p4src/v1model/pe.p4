// Provider edge (PE) for BMv2. Contents, in the order a packet meets them:
//
//   PortRole            who is on the other side; VRF of a customer
//   NotificationPort    Fast CNP?
//   TrustBoundary       believed from the domain only
//   Endpoint, Srv6End   underlay addresses and SIDs of this node
//   ServiceTermination  tunnels that end here  -> TunnelDecap, EcnDecap
//   FlowByLabel         Fast CNP -> flow       -> CnpGenerator, Icrc
//   VrfRouting          the customer's routes
//   FlowTable, Report   flow label; learning
//   TunnelEncap         into the WAN
//   Underlay            the WAN's routes, ECMP
//   QueueLevel          egress: CE mark, own congestion -> copy -> FlowByLabel
#include "externs.p4"
#include "../common/config.p4"
#include "../common/types.p4"
#include "../common/headers.p4"
#include "../common/metadata.p4"
#include "../common/digests.p4"
#include "../common/port_role.p4"
#include "../common/trust_boundary.p4"
#include "../common/endpoint.p4"
#include "../common/srv6_end.p4"
#include "../common/service_termination.p4"
#include "../common/tunnel_decap.p4"
#include "../common/ecn_decap.p4"
#include "../common/customer_packet.p4"
#include "../common/flow_by_label.p4"
#include "../common/cnp_generator.p4"
#include "../common/vrf_routing.p4"
#include "../common/flow_table.p4"
#include "../common/flow_learning.p4"
#include "../common/tunnel_encap.p4"
#include "../common/queue_level.p4"
#include "../common/ce_mark.p4"
#include "flow_gate.p4"
#include "rate_limits.p4"
#include "entropy.p4"
#include "icrc.p4"
#include "underlay.p4"
#include "report.p4"
#include "punt.p4"
#include "pe_parser.p4"

control PeVerifyChecksum(inout pe_headers_t hdr, inout meta_t meta) {
    apply {
        verify_checksum(
            hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        // A datagram that may be a Fast CNP; other customers' datagrams are not this node's to judge.
        verify_checksum(
            hdr.fast_cnp.isValid() && hdr.ipv6.isValid() && !hdr.outer_ipv6.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.udp.length, 24w0, hdr.ipv6.next_header,
              hdr.udp.src_port, hdr.udp.dst_port, hdr.udp.length, hdr.fast_cnp.word },
            hdr.udp.checksum, HashAlgorithm.csum16);
    }
}

control PeIngress(
        inout pe_headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    @name(".drops")
    counter(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) drops;
    @name(".events")
    counter(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) events;
    @name(".port_rx")
    counter(PORT_COUNTER_SIZE, CounterType.packets_and_bytes) port_rx;

    PortRole() port_role;
    NotificationPort() notification_port;
    TrustBoundary() trust_boundary;
    Endpoint() endpoint;
    Srv6End() srv6_end;
    ServiceTermination() service_termination;
    TunnelDecap() tunnel_decap;
    EcnDecap() ecn_decap;
    CustomerPacket() customer_packet;
    CustomerRewrite() customer_rewrite;
    CnpProfile() cnp_profile;
    FlowByLabel() flow_by_label;
    FlowGate() cnp_gate;
    NotificationLimit() notification_limit;
    CnpGenerator() cnp_generator;
    Icrc() icrc;
    VrfRouting() vrf_routing;
    Entropy() entropy;
    FlowTable() flow_table;
    FlowLearning() flow_learning;
    Report() report;
    TunnelEncap() tunnel_encap;
    Underlay() underlay;
    Punt() punt;

    // What the parser took for a customer packet is the underlay's on a core port.
    action take_as_underlay() {
        hdr.outer_ipv6 = hdr.ipv6;
        hdr.ipv6.setInvalid();
    }

    action finish_at_cpu() {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = standard_metadata.ingress_port;
        hdr.packet_in.reason = meta.punt_reason;
        hdr.packet_in.vlan_id = (bit<16>)meta.vlan_id;
        hdr.packet_in.vrf = meta.vrf;
        standard_metadata.egress_spec = CPU_PORT;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            exit;
        }

        bool notify = false;
        bool pass = false;
        Event reported = Event.NONE;

        if (meta.flat == 0 && meta.copy == Copy.NONE) {
            port_rx.count((bit<32>)standard_metadata.ingress_port);
        }

        if (hdr.vlan.isValid()) {
            meta.vlan_id = hdr.vlan.vlan_id;
            hdr.ethernet.ether_type = hdr.vlan.ether_type;
            hdr.vlan.setInvalid();
        }
        port_role.apply(standard_metadata.ingress_port, meta);
        cnp_profile.apply(meta);

        if (meta.drop_reason == DropReason.NONE && meta.copy == Copy.NONE) {
            if (standard_metadata.parser_error == error.UnsupportedTunnel) {
                meta.drop_reason = DropReason.UNSUPPORTED;
            } else if (standard_metadata.parser_error != error.NoError) {
                meta.drop_reason = DropReason.MALFORMED;
            } else if (standard_metadata.checksum_error == 1 && hdr.ipv4.isValid()) {
                meta.drop_reason = DropReason.BAD_CHECKSUM;
            }
        }

        if (hdr.ipv6.isValid() && hdr.udp.isValid() && !hdr.outer_ipv6.isValid()) {
            meta.udp_dst_port = hdr.udp.dst_port;
        }
        notification_port.apply(meta);

        if (meta.drop_reason != DropReason.NONE) {
            // Decided already.
        } else if (meta.copy == Copy.OWN_CONGESTION) {
            events.count((bit<32>)(bit<8>)Event.OWN_CONGESTION);
            meta.notify_label = meta.copy_label;
            notify = true;
        } else if (hdr.ethernet.ether_type == EtherType.ARP) {
            meta.punt_reason = PuntReason.ARP;
        } else if (meta.is_nd && !hdr.outer_ipv6.isValid()) {
            meta.punt_reason = PuntReason.ND;
        } else if (meta.role == Role.DC) {
            if (meta.is_notification) {
                meta.drop_reason = DropReason.NOTIFICATION_ON_DC_PORT;
            } else if (hdr.outer_ipv6.isValid()) {
                // The customer's own tunnel: parse again as what it is.
                meta.flat = 1;
                resubmit_preserving_field_list(KEEP_FLAT);
                exit;
            } else {
                meta.forward = Forward.VRF;
            }
        } else {
            if (!hdr.outer_ipv6.isValid() && hdr.ipv6.isValid()) {
                take_as_underlay();
            }
            if (!hdr.outer_ipv6.isValid()) {
                meta.drop_reason = DropReason.UNSUPPORTED;
            } else {
                endpoint.apply(hdr.outer_ipv6.dst, meta);
                if (meta.is_local && meta.is_notification) {
                    trust_boundary.apply(hdr.outer_ipv6.src, meta);
                    if (!meta.is_trusted) {
                        meta.drop_reason = DropReason.NOTIFICATION_UNTRUSTED;
                    } else if (!hdr.fast_cnp.isValid()
                               || hdr.outer_ipv6.payload_len != FAST_CNP_UDP_LENGTH
                               || standard_metadata.checksum_error == 1) {
                        meta.drop_reason = DropReason.NOTIFICATION_MALFORMED;
                    } else {
                        events.count((bit<32>)(bit<8>)Event.FAST_CNP_RECEIVED);
                        meta.notify_label = hdr.fast_cnp.word[31:12];
                        notify = true;
                    }
                } else if (meta.is_end_sid) {
                    srv6_end.apply(
                        hdr.outer_ipv6, hdr.srh, hdr.segment0, hdr.segment1, hdr.segment2,
                        hdr.segment3, meta);
                    meta.forward = Forward.UNDERLAY;
                } else {
                    service_termination.apply(hdr.outer_ipv6.dst, hdr.srh, meta);
                    if (meta.forward != Forward.VRF && meta.drop_reason == DropReason.NONE) {
                        if (meta.is_local) {
                            meta.punt_reason = PuntReason.UNDERLAY_LOCAL;
                        } else {
                            meta.forward = Forward.UNDERLAY;
                        }
                    }
                }
                if (meta.forward == Forward.UNDERLAY && meta.drop_reason == DropReason.NONE) {
                    if (hdr.outer_ipv6.hop_limit <= 1) {
                        meta.drop_reason = DropReason.TTL_EXPIRED;
                    } else {
                        hdr.outer_ipv6.hop_limit = hdr.outer_ipv6.hop_limit - 1;
                    }
                }
            }
        }

        if (notify) {
            if (meta.notify_enabled == 0) {
                meta.drop_reason = DropReason.FEATURE_DISABLED;
            } else {
                flow_by_label.apply(meta);
            }
            if (meta.drop_reason == DropReason.NONE) {
                cnp_gate.apply(
                    meta.notify_label, meta.notify_interval,
                    standard_metadata.ingress_global_timestamp, pass);
                if (!pass) {
                    meta.drop_reason = DropReason.FLOW_INTERVAL;
                } else {
                    notification_limit.apply(pass);
                    if (!pass) {
                        meta.drop_reason = DropReason.NODE_RATE_LIMIT;
                    }
                }
            }
            if (meta.drop_reason == DropReason.NONE) {
                cnp_generator.apply(hdr, meta);
                icrc.apply(hdr);
            }
        }

        if (meta.forward == Forward.VRF && meta.drop_reason == DropReason.NONE) {
            if (hdr.outer_ipv6.isValid()) {
                meta.outer_ecn = (Ecn)hdr.outer_ipv6.ecn;
                meta.decapsulated = true;
                tunnel_decap.apply(hdr);
            }
            customer_packet.apply(hdr, meta);
            if (meta.decapsulated && meta.drop_reason == DropReason.NONE) {
                ecn_decap.apply(meta);
                if (meta.ecn_event != Event.NONE) {
                    events.count((bit<32>)(bit<8>)meta.ecn_event);
                }
            }
            if (meta.drop_reason == DropReason.NONE) {
                vrf_routing.apply(hdr.ipv4, hdr.ipv6, hdr.ethernet, hdr.vlan, meta);
            }
            if (meta.drop_reason == DropReason.NONE && meta.punt_reason == PuntReason.NONE
                    && !meta.make_cnp) {
                if (meta.hop_limit <= 1) {
                    meta.drop_reason = DropReason.TTL_EXPIRED;
                } else {
                    customer_rewrite.apply(hdr.ipv4, hdr.ipv6, meta);
                }
            }
        }

        if (meta.forward == Forward.TUNNEL && meta.drop_reason == DropReason.NONE) {
            entropy.apply(hdr, meta);
            meta.flow_label = meta.entropy[19:0] & ENTROPY_LABEL_MASK;
            if (meta.is_roce_flow) {
                flow_table.apply(hdr.ipv4, hdr.ipv6, hdr.bth, meta);
            }
            if (meta.role == Role.DC) {
                flow_learning.apply(meta);
                report.apply(
                    hdr, meta, standard_metadata.ingress_global_timestamp,
                    meta.is_roce_flow && !meta.flow_label_assigned, reported);
                if (reported != Event.NONE) {
                    events.count((bit<32>)(bit<8>)reported);
                }
            }
            tunnel_encap.apply(hdr, meta);
        }

        if (meta.forward == Forward.UNDERLAY && meta.drop_reason == DropReason.NONE) {
            underlay.apply(hdr.outer_ipv6, hdr.ethernet, meta);
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
            if (meta.make_cnp) {
                events.count((bit<32>)(bit<8>)Event.CNP_SENT);
                bit<32> frame_length = CNP_IPV6_FRAME_LENGTH;
                if (meta.cnp_is_ipv4) {
                    frame_length = CNP_IPV4_FRAME_LENGTH;
                }
                if (hdr.vlan.isValid()) {
                    frame_length = frame_length + VLAN_TAG_LENGTH;
                }
                truncate(frame_length);
            }
        }
    }
}

control PeEgress(
        inout pe_headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    @name(".egress_events")
    counter(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) egress_events;
    @name(".port_tx")
    counter(PORT_COUNTER_SIZE, CounterType.packets_and_bytes) port_tx;

    QueueLevel() queue_level;
    CeMarkIpv4() ce_mark_ipv4;
    CeMarkIpv6() ce_mark_outer;
    CeMarkIpv6() ce_mark_ipv6;
    FlowGate() own_congestion_gate;

    apply {
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            recirculate_preserving_field_list(KEEP_COPY);
        } else {
            bool marked = false;
            bool pass = false;

            if (standard_metadata.egress_port != CPU_PORT) {
                port_tx.count((bit<32>)standard_metadata.egress_port);
                queue_level.apply(
                    standard_metadata.egress_port, (bit<5>)standard_metadata.priority,
                    standard_metadata.deq_qdepth, meta);
            }

            if (meta.level_marks == 1 && !meta.make_cnp) {
                if (hdr.outer_ipv6.isValid()) {
                    ce_mark_outer.apply(hdr.outer_ipv6, marked);
                } else if (hdr.ipv4.isValid()) {
                    ce_mark_ipv4.apply(hdr.ipv4, marked);
                } else if (hdr.ipv6.isValid()) {
                    ce_mark_ipv6.apply(hdr.ipv6, marked);
                }
                if (marked) {
                    egress_events.count((bit<32>)(bit<8>)Event.CE_MARKED);
                }
            }

            // FCN-12: this node is the ingress PE of the flow, so it tells the sender itself.
            if (meta.level_notifies == 1 && meta.notify_enabled == 1 && meta.flow_label_assigned
                    && meta.customer_ecn != Ecn.NOT_ECT) {
                own_congestion_gate.apply(
                    meta.flow_label, meta.level_interval,
                    standard_metadata.egress_global_timestamp, pass);
                if (pass) {
                    egress_events.count((bit<32>)(bit<8>)Event.NOTIFICATION_TRIGGERED);
                    meta.copy = Copy.OWN_CONGESTION;
                    meta.copy_label = meta.flow_label;
                    meta.copy_level = meta.level;
                    clone_preserving_field_list(
                        CloneType.E2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
                } else {
                    egress_events.count((bit<32>)(bit<8>)Event.FLOW_INTERVAL_SUPPRESSED);
                }
            }

            // RFC 8200 section 8.1 and RFC 768: a sum of zero is sent as ones.
            if (meta.make_cnp && hdr.ipv6.isValid()) {
                hash(hdr.udp.checksum, HashAlgorithm.csum16, 16w0,
                     { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.udp.length, 24w0,
                       hdr.ipv6.next_header, hdr.udp.src_port, hdr.udp.dst_port, hdr.udp.length,
                       hdr.bth.opcode, hdr.bth.se_m_pad_tver, hdr.bth.p_key, hdr.bth.fecn_becn,
                       hdr.bth.dest_qp, hdr.bth.ack_req, hdr.bth.psn, hdr.cnp_payload.reserved,
                       hdr.icrc.value },
                     32w0x10000);
                if (hdr.udp.checksum == 0) {
                    hdr.udp.checksum = 0xffff;
                }
            }
        }
    }
}

control PeComputeChecksum(inout pe_headers_t hdr, inout meta_t meta) {
    apply {
        // Other IPv4 checksums are updated where the header changes.
        update_checksum(
            meta.make_cnp && hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

V1Switch(
    PeParser(), PeVerifyChecksum(), PeIngress(), PeEgress(), PeComputeChecksum(), PeDeparser()) main;
