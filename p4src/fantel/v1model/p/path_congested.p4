#ifndef FCN_FANTEL_P_PATH_CONGESTED_P4
#define FCN_FANTEL_P_PATH_CONGESTED_P4

#include "../../../base/v1model/p.p4"
#include "../link_registers.p4"

// PathCongested: the PE is to hear that the path of this packet is congested (FAN-6).
// Reads:  meta.base.mode.
// Writes: hdr.notice; last_congested.
// When:   a packet that would cause a notification is in a congested queue (FCN-8), DomainMode was applied.
control PathCongested(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.mode.congestion_kind == NotificationKind.FANTEL && !hdr.notice.isValid()) {
            last_congested.write(standard_metadata.egress_port, standard_metadata.egress_global_timestamp);
            hdr.notice.setValid();
            hdr.notice.report = PathReport.CONGESTED;
            hdr.notice.port = standard_metadata.egress_port;
            hdr.notice.level = (bit<8>)meta.base.level;
            hdr.notice.depth = (bit<32>)standard_metadata.deq_qdepth;
        }
    }
}

#endif
