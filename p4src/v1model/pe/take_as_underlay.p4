#ifndef FCN_TAKE_AS_UNDERLAY_P4
#define FCN_TAKE_AS_UNDERLAY_P4

#include "../../base/v1model/pe.p4"

// TakeAsUnderlay: on a core port, what was parsed as a customer's packet is an underlay packet.
// Writes: hdr.outer_ipv6, hdr.ipv6.
// When:   hdr.outer_ipv6 is not valid.
control TakeAsUnderlay(inout pe_headers_t hdr) {
    action take_as_underlay() {
        hdr.outer_ipv6 = hdr.ipv6;
        hdr.ipv6.setInvalid();
    }

    apply {
        take_as_underlay();
    }
}

#endif
