#ifndef FCN_TRUST_BOUNDARY_P4
#define FCN_TRUST_BOUNDARY_P4

#include "../base/pe_metadata.p4"
#include "../base/sizes.p4"

// TrustBoundary: notifications are believed from configured prefixes of the domain only (FCN-17).
// Reads:  underlay source address.
// Writes: meta.is_trusted.
// When:   every packet from a core port.
control TrustBoundary(in ipv6_addr_t src, inout pe_meta_t meta) {
    action trust() {
        meta.is_trusted = true;
    }
    action untrusted() {
        meta.is_trusted = false;
    }

    PLACED(trusted_source) @name(".trusted_source")
    table trusted_source {
        key = {
            src: lpm @name("src");
        }
        actions = {
            @tableonly trust;
            untrusted;
        }
        const default_action = untrusted;
        size = TRUSTED_SOURCE_TABLE_SIZE;
    }

    apply {
        trusted_source.apply();
    }
}

#endif
