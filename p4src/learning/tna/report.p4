#ifndef FCN_REPORT_P4
#define FCN_REPORT_P4

#include "../../base/rate_limits.p4"
#include "../../base/sizes.p4"
#include "../../tna/pe_metadata.p4"

// Fingerprint: a hash over what Report may report, the same for all packets of a new flow. With the port: who invents
// packets of a host behind another does not use up its reports.
// Reads:  meta.vrf, meta.ingress_port, customer addresses, DestQP, what the parser saw of the connection manager.
// Writes: md.fingerprint, md.attribute_and_port.
// When:   every packet.
control Fingerprint(in pe_headers_t hdr, inout tna_pe_meta_t md) {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) fingerprint_ipv4;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) fingerprint_ipv6;

    action hash_ipv4() {
        md.fingerprint = fingerprint_ipv4.get({
            md.meta.base.vrf, hdr.ipv4.src, hdr.ipv4.dst, hdr.roce.bth.dest_qp, md.meta.cm.attribute,
            md.meta.base.ingress_port, md.meta.cm.local_comm_id, md.meta.cm.remote_comm_id, md.meta.cm.qpn });
        md.attribute_and_port = md.meta.cm.attribute ++ md.meta.base.ingress_port;
    }
    action hash_ipv6() {
        md.fingerprint = fingerprint_ipv6.get({
            md.meta.base.vrf, hdr.ipv6.src, hdr.ipv6.dst, hdr.roce.bth.dest_qp, md.meta.cm.attribute,
            md.meta.base.ingress_port, md.meta.cm.local_comm_id, md.meta.cm.remote_comm_id, md.meta.cm.qpn });
        md.attribute_and_port = md.meta.cm.attribute ++ md.meta.base.ingress_port;
    }
    // Tables only to be placed: Report, three stages long, waits for these.
    @hidden PLACED(fingerprint_of_ipv4)
    table fingerprint_of_ipv4 {
        actions = {
            hash_ipv4;
        }
        const default_action = hash_ipv4;
    }
    @hidden PLACED(fingerprint_of_ipv6)
    table fingerprint_of_ipv6 {
        actions = {
            hash_ipv6;
        }
        const default_action = hash_ipv6;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            fingerprint_of_ipv4.apply();
        }
        if (!hdr.ipv4.isValid()) {
            fingerprint_of_ipv6.apply();
        }
    }
}

// Report: new flows and connection set-ups to the controller (FCN-3), within the limit of the VRF. A
// storm of packets of one new flow is one digest per window; no tenant's packets pass for another's.
// Reads:  meta.learning_*, meta.role, meta.forward, what FlowTable found, customer headers, what the
//         parser saw of the connection manager, md.meta.base.now.
// Writes: md.digest_is_due, md.report_color.
// When:   every packet, behind its route; a RoCEv2 packet from a DC port that enters a tunnel is what
//         is reported.
//
// BMv2 keeps tag and time in one cell; a register's ALU here takes two operands, so they are two registers one behind
// the other, with the same outcome. Times are compared as in FlowGate.
struct report_tag_t {
    bit<16> fingerprint;
    bit<16> vrf;
}

control Report(inout tna_pe_meta_t md) {
    past_interval_t interval;

    @name(".reports")
    Counter<bit<32>, ReportKind>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) reports;
    ReportLimit() report_limit;
    Register<report_tag_t, bit<16>>(DIGEST_FILTER_SIZE, { 0, 0 }) last_tag;
    RegisterAction<report_tag_t, bit<16>, bit<1>>(last_tag) exchange = {
        void apply(inout report_tag_t last, out bit<1> result) {
            if (last.fingerprint == md.fingerprint[31:16] && last.vrf == md.meta.base.vrf) {
                result = 1;
            } else {
                result = 0;
            }
            last.fingerprint = md.fingerprint[31:16];
            last.vrf = md.meta.base.vrf;
        }
    };
    Register<bit<32>, bit<16>>(DIGEST_FILTER_SIZE, NEVER) last_report;
    RegisterAction<bit<32>, bit<16>, bit<1>>(last_report) report_again = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last >= interval.start || last < md.meta.base.now) {
                last = md.meta.base.now;
                result = 1;
            } else {
                result = 0;
            }
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<1>>(last_report) report_after_wrap = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last >= interval.start && last < md.meta.base.now) {
                last = md.meta.base.now;
                result = 1;
            } else {
                result = 0;
            }
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<1>>(last_report) report_first = {
        void apply(inout bit<32> last, out bit<1> result) {
            last = md.meta.base.now;
            result = 1;
        }
    };

    action find_interval() {
        SET_INTERVAL(interval, md.meta.base.now, md.meta.learning_window)
    }
    action compare() {
        md.wanted = true;
        md.digest_is_same = exchange.execute(md.fingerprint[15:0]);
    }
    action again() {
        md.digest_is_due = report_again.execute(md.fingerprint[15:0]);
    }
    action again_after_wrap() {
        md.digest_is_due = report_after_wrap.execute(md.fingerprint[15:0]);
    }
    action first() {
        md.digest_is_due = report_first.execute(md.fingerprint[15:0]);
    }
    // A table only to be placed: what follows is three stages long.
    @hidden PLACED(comparison)
    table comparison {
        actions = {
            compare;
        }
        const default_action = compare;
    }

    apply {
        find_interval();
        if (md.meta.learning_enabled == 1 && md.meta.base.role == Role.DC && md.meta.base.forward == Forward.TUNNEL
                && (md.meta.cm.is_valid || (md.meta.is_roce_flow
                                    && (!md.meta.flow_label_assigned || md.meta.flow_watched)))) {
            comparison.apply();
        }
        if (md.wanted) {
            if (md.digest_is_same != 1) {
                first();
            } else if (BEFORE_WRAP(interval)) {
                again_after_wrap();
            } else {
                again();
            }
        }
        if (md.digest_is_due == 1) {
            report_limit.apply(md.meta.base.vrf, md.report_color);
        }
        if (md.digest_is_due == 1) {
            if (md.meta.cm.is_valid) {
                reports.count(ReportKind.CM_MESSAGE);
            } else {
                reports.count(ReportKind.NEW_FLOW);
            }
        }
    }
}

// ChooseDigest: what is reported of a packet, if anything; the deparser packs it: a flow or a connection set-up, or
// the host that asked for its gateway.
// Reads:  what Report found; meta.answered, md.punt_color; header validity.
// Writes: digest type.
// When:   every packet, behind Report and PuntLimit.
control ChooseDigest(in pe_headers_t hdr, in tna_pe_meta_t md, inout DigestType_t digest_type) {
    action send(DigestType_t type) {
        digest_type = type;
    }
    action nothing() { }

    @hidden PLACED(digest_type)
    table digest_of_packet {
        key = {
            md.digest_is_due: ternary;
            md.report_color: ternary;
            md.meta.cm.is_valid: ternary;
            hdr.ipv4.isValid(): ternary;
            md.meta.answered: ternary;
            md.punt_color: ternary;
            hdr.neighbor.arp.isValid(): ternary;
        }
        actions = {
            send;
            nothing;
        }
        const default_action = nothing;
        const entries = {
            (1, GREEN, true, true, _, _, _): send(DIGEST_CM_IPV4);
            (1, GREEN, true, false, _, _, _): send(DIGEST_CM_IPV6);
            (1, GREEN, false, true, _, _, _): send(DIGEST_NEW_FLOW_IPV4);
            (1, GREEN, false, false, _, _, _): send(DIGEST_NEW_FLOW_IPV6);
            (_, _, _, _, true, GREEN, true): send(DIGEST_NEIGHBOR_IPV4);
            (_, _, _, _, true, GREEN, false): send(DIGEST_NEIGHBOR_IPV6);
        }
    }

    apply {
        digest_of_packet.apply();
    }
}

#endif
