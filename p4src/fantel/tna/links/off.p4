// Of a P that watches no links: its step, empty.
#include "../../../base/p_headers.p4"
#include "../../../base/tna/pass_headers.p4"
#include "../../../tna/p_metadata.p4"

control Links(inout p_pass_headers_t hdr, inout tna_p_meta_t md, inout bit<3> drop) {
    apply { }
}
