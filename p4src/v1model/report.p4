#ifndef FCN_REPORT_P4
#define FCN_REPORT_P4

// DigestFilter: a storm of packets of one new flow is one digest per window (FCN-3).
// Reads:  hash over what is to be reported, window and time now in microseconds.
// Writes: report; the cell: fingerprint(32) time(32).
// When:   something is about to be reported.
control DigestFilter(in bit<32> fingerprint, in microseconds_t window, in bit<48> now, out bool report) {
    register<bit<64>>(DIGEST_FILTER_SIZE) last_report;

    apply {
        bit<64> last;
        bit<32> index = fingerprint & (DIGEST_FILTER_SIZE - 1);
        last_report.read(last, index);
        report = last[63:32] != fingerprint || last == 0 || now[31:0] - last[31:0] >= window;
        if (report) {
            last_report.write(index, fingerprint ++ now[31:0]);
        }
    }
}

// Report: new flows and connection set-ups to the controller.
// Reads:  meta.learning_*, customer headers.
// Writes: events; nothing of the packet.
// When:   a RoCEv2 packet from a DC port enters a tunnel.
control Report(
        in pe_headers_t hdr,
        inout meta_t meta,
        in bit<48> now,
        out Event reported) {
    DigestFilter() filter;

    apply {
        bit<32> fingerprint;
        bit<32> local_comm_id = 0;
        bit<32> remote_comm_id = 0;
        bit<16> attribute = 0;
        qpn_t qpn = hdr.bth.dest_qp;
        bool is_new_flow =
            meta.is_roce_flow && (!meta.flow_label_assigned || meta.flow_watched);
        bool report = false;
        reported = Event.NONE;

        if (hdr.cm_ids.isValid()) {
            attribute = hdr.mad.attribute;
            local_comm_id = hdr.cm_ids.local_comm_id;
            remote_comm_id = hdr.cm_ids.remote_comm_id;
            qpn = 0;
            if (hdr.cm_req.isValid()) {
                qpn = hdr.cm_req.local_qpn;
                remote_comm_id = 0;
            } else if (hdr.cm_rep.isValid()) {
                qpn = hdr.cm_rep.local_qpn;
            } else if (hdr.cm_dreq.isValid()) {
                qpn = hdr.cm_dreq.remote_qpn;
            }
        }

        if (meta.learning_enabled == 1 && (is_new_flow || hdr.cm_ids.isValid())) {
            if (hdr.ipv4.isValid()) {
                hash(fingerprint, HashAlgorithm.crc32, 32w0,
                     { meta.vrf, hdr.ipv4.src, hdr.ipv4.dst, attribute, local_comm_id,
                       remote_comm_id, qpn },
                     64w0x100000000);
            } else {
                hash(fingerprint, HashAlgorithm.crc32, 32w0,
                     { meta.vrf, hdr.ipv6.src, hdr.ipv6.dst, attribute, local_comm_id,
                       remote_comm_id, qpn },
                     64w0x100000000);
            }
            filter.apply(fingerprint, meta.learning_window, now, report);
        }

        if (report && hdr.cm_ids.isValid()) {
            reported = Event.CM_MESSAGE;
            if (hdr.ipv4.isValid()) {
                digest<cm_ipv4_t>(1, { meta.vrf, hdr.ipv4.src, hdr.ipv4.dst, attribute,
                                       local_comm_id, remote_comm_id, qpn });
            } else {
                digest<cm_ipv6_t>(1, { meta.vrf, hdr.ipv6.src, hdr.ipv6.dst, attribute,
                                       local_comm_id, remote_comm_id, qpn });
            }
        } else if (report) {
            reported = Event.NEW_FLOW;
            if (hdr.ipv4.isValid()) {
                digest<new_flow_ipv4_t>(1, { meta.vrf, hdr.ipv4.src, hdr.ipv4.dst,
                                             hdr.bth.dest_qp, hdr.bth.p_key, hdr.bth.psn,
                                             hdr.udp.src_port, hdr.bth.opcode });
            } else {
                digest<new_flow_ipv6_t>(1, { meta.vrf, hdr.ipv6.src, hdr.ipv6.dst,
                                             hdr.bth.dest_qp, hdr.bth.p_key, hdr.bth.psn,
                                             hdr.udp.src_port, hdr.bth.opcode });
            }
        }
    }
}

#endif
