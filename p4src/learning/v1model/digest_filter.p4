#ifndef FCN_DIGEST_FILTER_P4
#define FCN_DIGEST_FILTER_P4

#include "../../base/v1model/pe.p4"

// DigestFilter: one digest per learning window for the packets of one new flow (FCN-3).
// Reads:  hash over what is to be reported, VRF, window and time now in microseconds.
// Writes: report; the cell: tag(32) time(32). The tag is what the index leaves of the hash and the VRF, so
//         that no tenant's invented packets pass for another's.
// When:   something is about to be reported.
control DigestFilter(
        in bit<32> fingerprint, in vrf_t vrf, in microseconds_t window, in bit<48> now, out bool report) {
    register<bit<64>, bit<16>>(DIGEST_FILTER_SIZE) last_report;

    apply {
        bit<64> last;
        bit<16> index = fingerprint[15:0];
        bit<32> tag = fingerprint[31:16] ++ vrf;
        last_report.read(last, index);
        report = last[63:32] != tag || last == 0 || now[31:0] - last[31:0] >= window;
        if (report) {
            last_report.write(index, tag ++ now[31:0]);
        }
    }
}

#endif
