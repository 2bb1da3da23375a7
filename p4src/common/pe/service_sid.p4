#ifndef FCN_SERVICE_SID_P4
#define FCN_SERVICE_SID_P4

// ServiceSid: is the underlay destination a service SID of this node, and of which VRF? (FCN-5)
// Reads:  underlay destination.
// Writes: meta.base.vrf, meta.base.destination (SERVICE_SID).
// When:   every packet from a core port.
control ServiceSid(in ipv6_addr_t dst, inout pe_meta_t meta) {
    action end_dt46(vrf_t vrf) {
        meta.base.destination = Destination.SERVICE_SID;
        meta.base.vrf = vrf;
    }
    action no_service() { }

    // RFC 8986 section 4.8, End.DT46
    PLACED(service_sid) @name(".service_sid")
    table service_sid {
        key = {
            dst: exact @name("dst");
        }
        actions = {
            @tableonly end_dt46;
            @defaultonly no_service;
        }
        const default_action = no_service;
        size = SERVICE_SID_TABLE_SIZE;
    }

    apply {
        service_sid.apply();
    }
}

#endif
