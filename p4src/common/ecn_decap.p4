#ifndef FCN_ECN_DECAP_P4
#define FCN_ECN_DECAP_P4

// EcnDecap: the inner ECN field after decapsulation, RFC 6040 section 4.2 (SRF-2).
// Reads:  meta.customer_ecn (inner), meta.outer_ecn.
// Writes: meta.customer_ecn; meta.event for the combinations in no current use;
//         meta.drop_reason for Not-ECT inside CE.
// When:   a tunnel ends here.
control EcnDecap(inout meta_t meta) {
    action keep_inner(Event event) {
        meta.event = event;
    }
    action take_outer() {
        meta.customer_ecn = meta.outer_ecn;
    }
    action discard(DropReason reason, Event event) {
        meta.drop_reason = reason;
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
        const entries = {
            (Ecn.NOT_ECT, Ecn.NOT_ECT): keep_inner(Event.NONE);
            (Ecn.NOT_ECT, Ecn.ECT0): keep_inner(Event.ECN_DANGEROUS_COMBINATION);
            (Ecn.NOT_ECT, Ecn.ECT1): keep_inner(Event.ECN_DANGEROUS_COMBINATION);
            (Ecn.NOT_ECT, Ecn.CE): discard(
                DropReason.ECN_NOT_ECT_CE, Event.ECN_DANGEROUS_COMBINATION);
            (Ecn.ECT0, Ecn.NOT_ECT): keep_inner(Event.NONE);
            (Ecn.ECT0, Ecn.ECT0): keep_inner(Event.NONE);
            (Ecn.ECT0, Ecn.ECT1): take_outer();
            (Ecn.ECT0, Ecn.CE): take_outer();
            (Ecn.ECT1, Ecn.NOT_ECT): keep_inner(Event.NONE);
            (Ecn.ECT1, Ecn.ECT0): keep_inner(Event.ECN_UNUSED_COMBINATION);
            (Ecn.ECT1, Ecn.ECT1): keep_inner(Event.NONE);
            (Ecn.ECT1, Ecn.CE): take_outer();
            (Ecn.CE, Ecn.NOT_ECT): keep_inner(Event.NONE);
            (Ecn.CE, Ecn.ECT0): keep_inner(Event.NONE);
            (Ecn.CE, Ecn.ECT1): keep_inner(Event.ECN_DANGEROUS_COMBINATION);
            (Ecn.CE, Ecn.CE): keep_inner(Event.NONE);
        }
    }

    apply {
        decap_ecn.apply();
    }
}

#endif
