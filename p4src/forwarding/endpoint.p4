#ifndef FCN_ENDPOINT_P4
#define FCN_ENDPOINT_P4

#include "../base/metadata.p4"
#include "../base/sizes.p4"

// Endpoint: is the underlay destination this node's?
// Reads:  underlay destination address.
// Writes: meta.destination: NODE (own address) or END_SID (SRv6 End, RFC 8986 section 4.1).
// When:   every packet from a core port.
control Endpoint(in ipv6_addr_t dst, inout base_meta_t meta) {
    action local_address() {
        meta.destination = Destination.NODE;
    }
    action end() {
        meta.destination = Destination.END_SID;
    }
    action transit() { }

    PLACED(endpoint) @name(".endpoint")
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
