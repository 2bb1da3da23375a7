#ifndef FCN_ECN_DECAP_P4
#define FCN_ECN_DECAP_P4

#include "../base/pe_metadata.p4"

// EcnDecap: the inner ECN field after decapsulation. The controller writes the rules of the domain's mode,
// for every combination: RFC 6040 section 4.2 in the classic mode (SRF-2), with light CE in
// the two-threshold mode (PEC-5).
// Reads:  meta.customer_ecn (inner), meta.outer_ecn.
// Writes: meta.customer_ecn; meta.event for combinations in no current use; meta.base.drop_reason for
//         combinations that are discarded, and when there is no rule.
// When:   a tunnel ends here.
control EcnDecap(inout pe_meta_t meta) {
    action keep_inner(Event event) {
        meta.event = event;
    }
    action take_outer() {
        meta.customer_ecn = meta.outer_ecn;
    }
    action discard(DropReason reason, Event event) {
        meta.base.drop_reason = reason;
        meta.event = event;
    }

    @name(".decap_ecn")
    table decap_ecn {
        key = {
            meta.customer_ecn: exact @name("inner_ecn");
            meta.outer_ecn: exact @name("outer_ecn");
        }
        actions = {
            keep_inner;
            take_outer;
            discard;
        }
        const default_action = keep_inner(Event.NONE);
        size = 16;
    }

    apply {
        decap_ecn.apply();
    }
}

#endif
