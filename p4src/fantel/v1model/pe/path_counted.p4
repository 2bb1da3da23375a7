#ifndef FCN_FANTEL_PE_PATH_COUNTED_P4
#define FCN_FANTEL_PE_PATH_COUNTED_P4

#include "../../../base/v1model/pe.p4"
#include "../path_state/path_registers.p4"

// PathCounted
// Writes: path_cnps.
// When:   behind TellSender.
control PathCounted(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.fantel.tells_of_path && meta.base.tells != NotificationKind.NONE) {
            bit<16> left;
            path_cnps.read(left, meta.fantel.path_cnp_policy);
            path_cnps.write(meta.fantel.path_cnp_policy, left - 1);
        }
    }
}

#endif
