#ifndef FCN_FLOW_TABLE_P4
#define FCN_FLOW_TABLE_P4

#include "../base/headers.p4"
#include "../base/pe_metadata.p4"

// FlowTable: the flow label of a RoCEv2 flow {VRF, source, destination, DestQP} (FCN-2, FCN-4).
// Reads:  meta.base.vrf, customer addresses, BTH DestQP.
// Writes: meta.flow_label, meta.flow_label_assigned, meta.flow_watched.
// When:   meta.is_roce_flow, from a DC port, on the way into a tunnel.
control FlowTable(in ipv4_h ipv4, in ipv6_h ipv6, in bth_h bth, inout pe_meta_t meta) {
    DIRECT_COUNTER(flow_ipv4_counter)
    DIRECT_COUNTER(flow_ipv6_counter)

    // Actions count (Tofino), so a table with a counter of its own has actions of its own.
    action set_flow_label_ipv4(flow_label_t flow_label) {
        COUNT_DIRECT(flow_ipv4_counter)
        meta.flow_label = flow_label;
        meta.flow_label_assigned = true;
    }
    action set_flow_label_ipv6(flow_label_t flow_label) {
        COUNT_DIRECT(flow_ipv6_counter)
        meta.flow_label = flow_label;
        meta.flow_label_assigned = true;
    }
    // The flow is reported on, once per window, so that its source QP can be inferred (FCN-3 b).
    action set_flow_label_watched_ipv4(flow_label_t flow_label) {
        COUNT_DIRECT(flow_ipv4_counter)
        meta.flow_label = flow_label;
        meta.flow_label_assigned = true;
        meta.flow_watched = true;
    }
    action set_flow_label_watched_ipv6(flow_label_t flow_label) {
        COUNT_DIRECT(flow_ipv6_counter)
        meta.flow_label = flow_label;
        meta.flow_label_assigned = true;
        meta.flow_watched = true;
    }
    action flow_unknown() { }

    PLACED(flow_ipv4) @name(".flow_ipv4")
    table flow_ipv4 {
        key = {
            meta.base.vrf: exact @name("vrf");
            ipv4.src: exact @name("src");
            ipv4.dst: exact @name("dst");
            bth.dest_qp: exact @name("dest_qp");
        }
        actions = {
            @tableonly set_flow_label_ipv4;
            @tableonly set_flow_label_watched_ipv4;
            @defaultonly flow_unknown;
        }
        const default_action = flow_unknown;
        size = FLOW_TABLE_SIZE;
        USE_DIRECT_COUNTER(flow_ipv4_counter)
        USE_IDLE_TIMEOUT
    }

    PLACED(flow_ipv6) @name(".flow_ipv6")
    table flow_ipv6 {
        key = {
            meta.base.vrf: exact @name("vrf");
            ipv6.src: exact @name("src");
            ipv6.dst: exact @name("dst");
            bth.dest_qp: exact @name("dest_qp");
        }
        actions = {
            @tableonly set_flow_label_ipv6;
            @tableonly set_flow_label_watched_ipv6;
            @defaultonly flow_unknown;
        }
        const default_action = flow_unknown;
        size = FLOW_TABLE_SIZE;
        USE_DIRECT_COUNTER(flow_ipv6_counter)
        USE_IDLE_TIMEOUT
    }

    apply {
        if (meta.base.role == Role.DC && meta.is_roce_flow) {
            if (ipv4.isValid()) {
                flow_ipv4.apply();
            } else {
                flow_ipv6.apply();
            }
        }
    }
}

#endif
