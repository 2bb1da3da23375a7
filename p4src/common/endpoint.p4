#ifndef FCN_ENDPOINT_P4
#define FCN_ENDPOINT_P4

// Endpoint: is the underlay destination this node's?
// Reads:  underlay destination address.
// Writes: meta.is_local (own address), meta.is_end_sid (SRv6 End, RFC 8986 section 4.1).
// When:   every packet from a core port.
control Endpoint(in ipv6_addr_t dst, inout meta_t meta) {
    action local_address() {
        meta.is_local = true;
    }
    action end() {
        meta.is_end_sid = true;
    }
    action transit() { }

    PLACE_AT(0) @name(".endpoint")
    table endpoint {
        key = {
            dst: exact @name("dst");
        }
        actions = {
            @tableonly local_address;
            @tableonly end;
            @defaultonly transit;
        }
        const default_action = transit;
        size = ENDPOINT_TABLE_SIZE;
    }

    apply {
        endpoint.apply();
    }
}

#endif
