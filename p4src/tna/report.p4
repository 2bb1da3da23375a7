#ifndef FCN_REPORT_P4
#define FCN_REPORT_P4

// DigestFilter: a storm of packets of one new flow is one digest per window (FCN-3).
// Reads:  hash over what is to be reported, window and time now.
// Writes: report.
// When:   something is about to be reported.
//
// BMv2 keeps fingerprint and time in one cell; a register's ALU here takes two operands, so they are
// two registers one behind the other, with the same outcome.
control DigestFilter(in bit<32> fingerprint, in microseconds_t window, in bit<48> now, out bool report) {
    bit<32> now_low;
    bit<32> oldest;
    bit<1> is_same = 0;
    bit<1> is_due = 0;

    Register<bit<32>, bit<16>>(DIGEST_FILTER_SIZE, 0) last_fingerprint;
    RegisterAction<bit<32>, bit<16>, bit<1>>(last_fingerprint) exchange = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last == fingerprint) {
                result = 1;
            } else {
                result = 0;
            }
            last = fingerprint;
        }
    };
    Register<bit<32>, bit<16>>(DIGEST_FILTER_SIZE, 0) last_report;
    RegisterAction<bit<32>, bit<16>, bit<1>>(last_report) report_again = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last <= oldest || last > now_low) {
                last = now_low;
                result = 1;
            } else {
                result = 0;
            }
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<1>>(last_report) report_first = {
        void apply(inout bit<32> last, out bit<1> result) {
            last = now_low;
            result = 1;
        }
    };

    action take_time() {
        now_low = MICROSECONDS(now);
    }
    action find_oldest() {
        oldest = now_low - window;
    }
    action compare() {
        is_same = exchange.execute(fingerprint[15:0]);
    }
    action again() {
        is_due = report_again.execute(fingerprint[15:0]);
    }
    action first() {
        is_due = report_first.execute(fingerprint[15:0]);
    }

    apply {
        take_time();
        find_oldest();
        compare();
        if (is_same == 1) {
            again();
        } else {
            first();
        }
        report = is_due == 1;
    }
}

// Report: new flows and connection set-ups to the controller; the deparser packs the digest.
// Reads:  meta.learning_*, customer headers, what the parser saw of the connection manager.
// Writes: digest type and the event it is, NONE when there is nothing to report.
// When:   a RoCEv2 packet from a DC port enters a tunnel.
control Report(
        in pe_headers_t hdr,
        in meta_t meta,
        in cm_seen_t cm,
        in bit<48> now,
        inout DigestType_t digest_type,
        out Event reported) {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) fingerprint_ipv4;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) fingerprint_ipv6;
    DigestFilter() filter;
    bit<32> fingerprint;

    action hash_ipv4() {
        fingerprint = fingerprint_ipv4.get({
            meta.vrf, hdr.ipv4.src, hdr.ipv4.dst, hdr.bth.dest_qp, cm.attribute, cm.local_comm_id,
            cm.remote_comm_id, cm.qpn });
    }
    action hash_ipv6() {
        fingerprint = fingerprint_ipv6.get({
            meta.vrf, hdr.ipv6.src, hdr.ipv6.dst, hdr.bth.dest_qp, cm.attribute, cm.local_comm_id,
            cm.remote_comm_id, cm.qpn });
    }

    apply {
        bool report = false;
        reported = Event.NONE;

        if (hdr.ipv4.isValid()) {
            hash_ipv4();
        } else {
            hash_ipv6();
        }
        if (meta.learning_enabled == 1
                && (cm.is_valid || (meta.is_roce_flow
                                    && (!meta.flow_label_assigned || meta.flow_watched)))) {
            filter.apply(fingerprint, meta.learning_window, now, report);
        }

        if (report) {
            if (cm.is_valid) {
                reported = Event.CM_MESSAGE;
                if (hdr.ipv4.isValid()) {
                    digest_type = DIGEST_CM_IPV4;
                } else {
                    digest_type = DIGEST_CM_IPV6;
                }
            } else {
                reported = Event.NEW_FLOW;
                if (hdr.ipv4.isValid()) {
                    digest_type = DIGEST_NEW_FLOW_IPV4;
                } else {
                    digest_type = DIGEST_NEW_FLOW_IPV6;
                }
            }
        }
    }
}

#endif
