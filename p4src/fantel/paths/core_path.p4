#ifndef FCN_CORE_PATH_P4
#define FCN_CORE_PATH_P4

#include "../../base/types.p4"
#include "../links/link_types.p4"

// CorePath: the path of a policy that a packet is on (FAN-4). The ingress PE writes its number into the tag of the SRH
// (RFC 8754 section 2); without a tag the packet has one segment, which tells its paths apart.
// Reads:  underlay source; the tag; the destination the packet came with, where the tag is 0; port.
// Writes: is_known, the path's cell and ID; the repeat interval of its reports.
// When:   a packet of the underlay that is no notification meets a dead next hop or a congested queue of that port.
control CorePath(
        in ipv6_addr_t src, in bit<16> tag, in ipv6_addr_t dst, in port_t port, out bool is_known,
        out core_path_t path_cell, out path_id_t path_id, out microseconds_t repeat) {
    action set_core_path(core_path_t cell, path_id_t id, microseconds_t interval) {
        is_known = true;
        path_cell = cell;
        path_id = id;
        repeat = interval;
    }
    action no_core_path() {
        is_known = false;
        path_cell = 0;
        path_id = 0;
        repeat = 0;
    }

    @name(".core_path")
    table core_path {
        key = {
            src: exact @name("ingress_pe");
            tag: exact @name("tag");
            dst: exact @name("dst");
            port: exact @name("port");
        }
        actions = {
            @tableonly set_core_path;
            @defaultonly no_core_path;
        }
        const default_action = no_core_path;
        size = CORE_PATH_CELLS;
    }

    apply {
        core_path.apply();
    }
}

#endif
