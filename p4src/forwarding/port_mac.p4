#ifndef FCN_PORT_MAC_P4
#define FCN_PORT_MAC_P4

#include "../base/headers.p4"
#include "../base/metadata.p4"
#include "../base/sizes.p4"

// PortMac: is the frame for this node, or for another station of the link? A switch in a data centre floods
// frames whose destination it does not know; a router must not forward them, nor those to a group
// (RFC 1812 sections 4.2.3.1 and 5.3.4).
// Reads:  meta.ingress_port, Ethernet destination.
// Writes: meta.is_addressed: the frame is for the port's own address.
// When:   every packet from the wire, behind PortRole; before Gateway changes the Ethernet destination.
control PortMac(in ethernet_h ethernet, inout base_meta_t meta) {
    action to_this_node() {
        meta.is_addressed = true;
    }
    action to_others() { }

    PLACED(port_mac) @name(".port_mac")
    table port_mac {
        key = {
            meta.ingress_port: exact @name("ingress_port");
            ethernet.dst: exact @name("dst_mac");
        }
        actions = {
            @tableonly to_this_node;
            @defaultonly to_others;
        }
        const default_action = to_others;
        size = PORT_TABLE_SIZE;
    }

    apply {
        port_mac.apply();
    }
}

// OtherStation: drops frames for other stations. Those to a group are left to the arrival tables: ARP and neighbour
// discovery use them. Without this control these tables drop the others, too, but for ARP and neighbour discovery.
// Reads:  meta.is_addressed, meta.drop_reason, Ethernet destination.
// Writes: meta.drop_reason.
// When:   behind PortMac.
control OtherStation(in ethernet_h ethernet, inout base_meta_t meta) {
    apply {
        // BMv2 evaluates every part of a condition: the rest is for few packets.
        if (!meta.is_addressed) {
            if (ethernet.dst[40:40] == 0 && meta.drop_reason == DropReason.NONE) {
                meta.drop_reason = DropReason.OTHER_STATION;
            }
        }
    }
}

#endif
