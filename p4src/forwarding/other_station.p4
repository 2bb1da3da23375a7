#ifndef FCN_OTHER_STATION_P4
#define FCN_OTHER_STATION_P4

#include "../base/headers.p4"
#include "../base/metadata.p4"
#include "../base/types.p4"

// OtherStation: drops frames for other stations. Those to a group are left to the arrival tables: ARP and neighbour
// discovery use them. Without this control these tables drop the others, too, but for ARP and neighbour discovery.
// Reads:  meta.is_addressed, meta.drop_reason, Ethernet destination.
// Writes: meta.drop_reason.
// When:   behind PortMac.
control OtherStation(in ethernet_h ethernet, inout base_meta_t meta) {
    apply {
        if (!meta.is_addressed && ethernet.dst[40:40] == 0
                && meta.drop_reason == DropReason.NONE) {
            meta.drop_reason = DropReason.OTHER_STATION;
        }
    }
}

#endif
