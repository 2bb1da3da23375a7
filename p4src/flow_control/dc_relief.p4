#ifndef FCN_DC_RELIEF_P4
#define FCN_DC_RELIEF_P4

#include "../base/sizes.p4"
#include "../base/types.p4"
#include "flow_control_types.p4"

// DcRelief: how the data centre behind a DC port is asked to send less (SRF-8).
// Reads:  meta.upstream_port.
// Writes: meta.relief; meta.refresh: how often a PAUSE frame is repeated.
// When:   packets of the underlay in egress, while flow control is on, that came from no core port.
control DcRelief(inout flow_control_meta_t meta) {
    action set_relief(Relief relief, microseconds_t refresh) {
        meta.relief = relief;
        meta.refresh = refresh;
    }
    action no_relief() { }

    @name(".dc_relief")
    table dc_relief {
        key = {
            meta.upstream_port: exact @name("port");
        }
        actions = {
            @tableonly set_relief;
            @defaultonly no_relief;
        }
        const default_action = no_relief;
        size = PORT_TABLE_SIZE;
    }

    apply {
        dc_relief.apply();
    }
}

#endif
