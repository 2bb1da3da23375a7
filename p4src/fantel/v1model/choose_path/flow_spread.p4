#ifndef FCN_FLOW_SPREAD_P4
#define FCN_FLOW_SPREAD_P4

#include "../../../base/v1model/pe.p4"
#include "../../../forwarding/v1model/entropy.p4"

// FlowSpread: a hash that distributes flows over paths. Connections of the same two hosts differ in their queue pairs, but not
// always in their ports.
// Reads:  customer headers.
// Writes: spread; meta.entropy.
// When:   the policy is known.
control FlowSpread(in pe_headers_t hdr, inout pe_meta_t meta, out bit<32> spread) {
    Entropy() entropy;

    apply {
        entropy.apply(hdr, meta);
        qpn_t dest_qp = 0;
        if (hdr.roce.bth.isValid()) {
            dest_qp = hdr.roce.bth.dest_qp;
        }
        hash(spread, HashAlgorithm.crc32, 32w0, { meta.entropy, dest_qp }, 64w0x100000000);
    }
}

#endif
