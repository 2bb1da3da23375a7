#ifndef FCN_FLOW_BY_LABEL_P4
#define FCN_FLOW_BY_LABEL_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"

// FlowByLabel: from a congestion notification back to the flow (FCN-12, FCN-13). A label is in the
// table of its flow's IP version.
// Reads:  meta.notify_label.
// Writes: meta.base.vrf, meta.cnp_is_ipv4; of the CNP the customer addresses, DestQP and P_Key, which no
//         other packet of this pass needs; meta.label_fault when the label is unknown or the source
//         QP is.
// When:   a trusted notification for this node arrived that names a flow, or the packet is a copy made here.
control FlowByLabel(inout pe_headers_t hdr, inout pe_meta_t meta) {
    DIRECT_COUNTER(flow_by_label_ipv4_counter)
    DIRECT_COUNTER(flow_by_label_ipv6_counter)

    action cnp_ipv4(vrf_t vrf, ipv4_addr_t src, ipv4_addr_t dst, qpn_t dest_qp, bit<16> p_key) {
        COUNT_DIRECT(flow_by_label_ipv4_counter)
        meta.base.vrf = vrf;
        meta.cnp_is_ipv4 = true;
        hdr.ipv4.setValid();
        hdr.ipv6.setInvalid();
        hdr.ipv4.src = src;
        hdr.ipv4.dst = dst;
        hdr.roce.bth.setValid();
        hdr.roce.bth.dest_qp = dest_qp;
        hdr.roce.bth.p_key = p_key;
    }
    action cnp_ipv6(vrf_t vrf, ipv6_addr_t src, ipv6_addr_t dst, qpn_t dest_qp, bit<16> p_key) {
        COUNT_DIRECT(flow_by_label_ipv6_counter)
        meta.base.vrf = vrf;
        meta.cnp_is_ipv4 = false;
        hdr.ipv6.setValid();
        hdr.ipv4.setInvalid();
        hdr.ipv6.src = src;
        hdr.ipv6.dst = dst;
        hdr.roce.bth.setValid();
        hdr.roce.bth.dest_qp = dest_qp;
        hdr.roce.bth.p_key = p_key;
    }
    // Actions count (Tofino), so a table with a counter of its own has actions of its own.
    action source_qp_unknown_ipv4() {
        COUNT_DIRECT(flow_by_label_ipv4_counter)
        meta.label_fault = DropReason.SOURCE_QP_UNKNOWN;
    }
    action source_qp_unknown_ipv6() {
        COUNT_DIRECT(flow_by_label_ipv6_counter)
        meta.label_fault = DropReason.SOURCE_QP_UNKNOWN;
    }
    action not_here() { }
    action unknown_label() {
        meta.label_fault = DropReason.LABEL_UNKNOWN;
    }

    PLACED(flow_by_label_ipv4) @name(".flow_by_label_ipv4")
    table flow_by_label_ipv4 {
        key = {
            meta.notify_label: exact @name("flow_label");
        }
        actions = {
            @tableonly cnp_ipv4;
            @tableonly source_qp_unknown_ipv4;
            @defaultonly not_here;
        }
        const default_action = not_here;
        size = FLOW_TABLE_SIZE;
        USE_DIRECT_COUNTER(flow_by_label_ipv4_counter)
    }

    PLACED(flow_by_label_ipv6) @name(".flow_by_label_ipv6")
    table flow_by_label_ipv6 {
        key = {
            meta.notify_label: exact @name("flow_label");
        }
        actions = {
            @tableonly cnp_ipv6;
            @tableonly source_qp_unknown_ipv6;
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
