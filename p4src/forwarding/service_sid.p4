#ifndef FCN_SERVICE_SID_P4
#define FCN_SERVICE_SID_P4

#include "../base/pe_metadata.p4"
#include "../base/sizes.p4"

// ServiceSid: is the underlay destination a service SID of this node (FCN-5), or its END.CON SID of a VRF (SRF-4)?
// Reads:  underlay destination.
// Writes: meta.base.destination (SERVICE_SID, END_CON); meta.base.vrf or meta.end_con_vrf,
//         meta.base.notification_kind.
// When:   every packet from a core port.
control ServiceSid(in ipv6_addr_t dst, inout pe_meta_t meta) {
    action end_dt46(vrf_t vrf) {
        meta.base.destination = Destination.SERVICE_SID;
        meta.base.vrf = vrf;
    }
    // Draft rocev2-fcn section 4.2.2
    action end_con(vrf_t vrf) {
        meta.base.destination = Destination.END_CON;
        meta.base.notification_kind = NotificationKind.END_CON_CNP;
        meta.end_con_vrf = vrf;
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
            @tableonly end_con;
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
