#ifndef FCN_FLOW_BY_LABEL_P4
#define FCN_FLOW_BY_LABEL_P4

// CnpProfile: does this node turn notifications into CNPs, and what do they look like? (FCN-16)
// Writes: meta.notify_enabled, meta.notify_interval, meta.cnp_* that no flow decides.
// When:   every packet; the egress needs to know it for the node's own congestion.
control CnpProfile(inout meta_t meta) {
    action cnp_enabled(
            bit<8> traffic_class, bit<8> ttl, bit<16> udp_src_port, bit<16> ipv4_id,
            microseconds_t min_interval) {
        meta.notify_enabled = 1;
        meta.notify_interval = min_interval;
        meta.cnp_traffic_class = traffic_class;
        meta.cnp_ttl = ttl;
        meta.cnp_udp_src_port = udp_src_port;
        meta.cnp_ipv4_id = ipv4_id;
    }
    action cnp_disabled() {
        meta.notify_enabled = 0;
    }

    PLACE_AT(1) @name(".cnp_profile")
    table cnp_profile {
        actions = {
            cnp_enabled;
            cnp_disabled;
        }
        default_action = cnp_disabled;
    }

    apply {
        cnp_profile.apply();
    }
}

// FlowByLabel: from a congestion notification back to the flow (FCN-12, FCN-13). A label is in the
// table of its flow's IP version.
// Reads:  meta.notify_label.
// Writes: meta.vrf, meta.cnp_is_ipv4; of the CNP the customer addresses, DestQP and P_Key, which no
//         other packet of this pass needs; meta.label_fault when the label is unknown or the source
//         QP is.
// When:   a trusted Fast CNP for this node arrived, or this node's own queue is congested.
control FlowByLabel(inout pe_headers_t hdr, inout meta_t meta) {
    DIRECT_COUNTER(flow_by_label_ipv4_counter)
    DIRECT_COUNTER(flow_by_label_ipv6_counter)

    action cnp_ipv4(vrf_t vrf, ipv4_addr_t src, ipv4_addr_t dst, qpn_t dest_qp, bit<16> p_key) {
        COUNT_DIRECT(flow_by_label_ipv4_counter)
        meta.vrf = vrf;
        meta.cnp_is_ipv4 = true;
        hdr.ipv4.setValid();
        hdr.ipv6.setInvalid();
        hdr.ipv4.src = src;
        hdr.ipv4.dst = dst;
        hdr.bth.setValid();
        hdr.bth.dest_qp = dest_qp;
        hdr.bth.p_key = p_key;
    }
    action cnp_ipv6(vrf_t vrf, ipv6_addr_t src, ipv6_addr_t dst, qpn_t dest_qp, bit<16> p_key) {
        COUNT_DIRECT(flow_by_label_ipv6_counter)
        meta.vrf = vrf;
        meta.cnp_is_ipv4 = false;
        hdr.ipv6.setValid();
        hdr.ipv4.setInvalid();
        hdr.ipv6.src = src;
        hdr.ipv6.dst = dst;
        hdr.bth.setValid();
        hdr.bth.dest_qp = dest_qp;
        hdr.bth.p_key = p_key;
    }
    action source_qp_unknown() {
        COUNT_DIRECT(flow_by_label_ipv4_counter)
        meta.label_fault = DropReason.SOURCE_QP_UNKNOWN;
    }
#ifdef ACTIONS_COUNT
    // Where actions do the counting, a table with a counter of its own needs actions of its own.
    action source_qp_unknown_ipv6() {
        COUNT_DIRECT(flow_by_label_ipv6_counter)
        meta.label_fault = DropReason.SOURCE_QP_UNKNOWN;
    }
#endif
    action not_here() { }
    action unknown_label() {
        meta.label_fault = DropReason.LABEL_UNKNOWN;
    }

    PLACE_AT(1) @name(".flow_by_label_ipv4")
    table flow_by_label_ipv4 {
        key = {
            meta.notify_label: exact @name("flow_label");
        }
        actions = {
            @tableonly cnp_ipv4;
            @tableonly source_qp_unknown;
            @defaultonly not_here;
        }
        const default_action = not_here;
        size = FLOW_TABLE_SIZE;
        USE_DIRECT_COUNTER(flow_by_label_ipv4_counter)
    }

    PLACE_AT(2) @name(".flow_by_label_ipv6")
    table flow_by_label_ipv6 {
        key = {
            meta.notify_label: exact @name("flow_label");
        }
        actions = {
            @tableonly cnp_ipv6;
            @tableonly OF_IPV6(source_qp_unknown);
            @defaultonly unknown_label;
        }
        const default_action = unknown_label;
        size = FLOW_TABLE_SIZE;
        USE_DIRECT_COUNTER(flow_by_label_ipv6_counter)
    }

    apply {
        if (!flow_by_label_ipv4.apply().hit) {
            flow_by_label_ipv6.apply();
        }
    }
}

#endif
