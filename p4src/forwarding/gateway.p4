#ifndef FCN_GATEWAY_P4
#define FCN_GATEWAY_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"
#include "../base/sizes.p4"

// Gateway: answers a host that asks for the MAC address of its gateway, so that customers keep their
// connectivity without a controller: ARP requests (RFC 826) and neighbour solicitations (RFC 4861 section
// 7.2.4), also those of a host that tries whether the address is free: it is told that it is not (RFC 5227
// section 2.1.1, RFC 4862 section 5.4.3).
// Reads:  port and VLAN, hdr.neighbor, which the parser has extracted from requests only;
//         meta.solicitation_sound.
// Writes: Ethernet addresses and ARP, which become the answer; the rest of an advertisement is Advertisement's.
//         meta.answered, meta.event, meta.egress_vlan_id.
// When:   every packet from the wire; only DC ports have gateways.
control Gateway(inout pe_headers_t hdr, inout pe_meta_t meta) {
    // The answer goes to the sender's MAC address in the request (RFC 826). The address of a probe's
    // sender, 0.0.0.0, stays what it is.
    action answer_arp(mac_addr_t mac) {
        ipv4_addr_t gateway = hdr.neighbor.arp.target;
        hdr.ethernet.dst = hdr.neighbor.arp.sender_mac;
        hdr.ethernet.src = mac;
        hdr.neighbor.arp.operation = ArpOperation.REPLY;
        hdr.neighbor.arp.target_mac = hdr.neighbor.arp.sender_mac;
        hdr.neighbor.arp.target = hdr.neighbor.arp.sender;
        hdr.neighbor.arp.sender_mac = mac;
        hdr.neighbor.arp.sender = gateway;
        meta.answered = true;
        meta.event = Event.ARP_ANSWERED;
        meta.egress_vlan_id = meta.base.vlan_id;
    }
    // Until Advertisement knows who asks, it is who sent the frame.
    action answer_nd(mac_addr_t mac) {
        hdr.ethernet.dst = hdr.ethernet.src;
        hdr.ethernet.src = mac;
        meta.answered = true;
        meta.event = Event.ND_ANSWERED;
        meta.egress_vlan_id = meta.base.vlan_id;
    }
    action leave_to_controller() { }

    PLACED(gateway_ipv4) @name(".gateway_ipv4")
    table gateway_ipv4 {
        key = {
            meta.base.ingress_port: exact @name("port");
            meta.base.vlan_id: exact @name("vlan_id");
            hdr.neighbor.arp.target: exact @name("address");
        }
        actions = {
            @tableonly answer_arp;
            @defaultonly leave_to_controller;
        }
        const default_action = leave_to_controller;
        size = GATEWAY_TABLE_SIZE;
    }

    PLACED(gateway_ipv6) @name(".gateway_ipv6")
    table gateway_ipv6 {
        key = {
            meta.base.ingress_port: exact @name("port");
            meta.base.vlan_id: exact @name("vlan_id");
            hdr.neighbor.nd.target: exact @name("address");
        }
        actions = {
            @tableonly answer_nd;
            @defaultonly leave_to_controller;
        }
        const default_action = leave_to_controller;
        size = GATEWAY_TABLE_SIZE;
    }

    apply {
        if (hdr.neighbor.arp.isValid()) {
            gateway_ipv4.apply();
        }
        if (hdr.neighbor.nd.isValid() && meta.solicitation_sound) {
            gateway_ipv6.apply();
        }
    }
}

// Advertisement: makes the answer to a neighbour solicitation. It is apart from Gateway for a chip, where these
// headers are written late.
// Reads:  meta.answered, IPv6 source, hdr.neighbor.
// Writes: IPv6 addresses and length, hdr.neighbor, Ethernet destination; the checksum is the top-level
//         control's.
// When:   every packet behind Gateway.
control Advertisement(inout pe_headers_t hdr, in pe_meta_t meta) {
    action advertise(bit<32> flags) {
        hdr.ipv6.payload_len = SOLICITATION_WITH_OPTION_LENGTH;
        hdr.ipv6.src = hdr.neighbor.nd.target;
        hdr.neighbor.nd.type = NdType.ADVERTISEMENT;
        hdr.neighbor.nd.flags = flags;
        hdr.neighbor.nd_option.setValid();
        hdr.neighbor.nd_option.type = NdOption.TARGET_MAC;
        hdr.neighbor.nd_option.length = 1;
        hdr.neighbor.nd_option.mac = hdr.ethernet.src;
    }
    action advertise_to_option() {
        hdr.ipv6.dst = hdr.ipv6.src;
        hdr.ethernet.dst = hdr.neighbor.nd_option.mac;
        advertise(ROUTER_SOLICITED_OVERRIDE);
    }
    action advertise_to_sender() {
        hdr.ipv6.dst = hdr.ipv6.src;
        advertise(ROUTER_SOLICITED_OVERRIDE);
    }
    // The asker has no address yet: the answer goes to all nodes of the link, unsolicited.
    action advertise_to_all() {
        hdr.ipv6.dst = ALL_NODES;
        hdr.ethernet.dst = ALL_NODES_MAC;
        advertise(ROUTER_OVERRIDE);
    }

    @hidden PLACED(advertisement)
    table advertisement {
        key = {
            hdr.ipv6.src: ternary;
            hdr.neighbor.nd_option.isValid(): ternary;
            hdr.neighbor.nd_option.type: ternary;
        }
        actions = {
            advertise_to_option;
            advertise_to_sender;
            advertise_to_all;
        }
        const default_action = advertise_to_sender;
        const entries = {
            (0, _, _): advertise_to_all();
            (_, true, NdOption.SOURCE_MAC): advertise_to_option();
        }
    }

    apply {
        if (meta.answered && hdr.neighbor.nd.isValid()) {
            advertisement.apply();
        }
    }
}

#endif
