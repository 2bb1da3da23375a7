#ifndef FCN_TNA_PE_FROM_CUSTOMER_P4
#define FCN_TNA_PE_FROM_CUSTOMER_P4

#include "../../forwarding/customer_packet.p4"
#include "../../forwarding/gateway.p4"
#include "../../forwarding/tna/entropy.p4"
#include "../pe_metadata.p4"

// FromCustomer: what later steps need to know of the customer's packet; one that asks for its gateway is answered. The VLAN
// tag ends.
// Reads:  customer headers; the parser's sums.
// Writes: what CustomerPacket, Gateway and Entropy write; md.ipv4_options_sum, is_advertisement; md.meta.solicitation_sound.
// When:   every packet but the controller's, before lookups.
control FromCustomer(inout pe_pass_headers_t hdr, inout tna_pe_meta_t md) {
    CustomerPacket() customer_packet;
    Gateway() gateway;
    Entropy() entropy;

    action take_off_vlan_tag() {
        hdr.pe.ethernet.ether_type = hdr.pe.vlan.ether_type;
        hdr.pe.vlan.setInvalid();
    }

    apply {
        customer_packet.apply(hdr.pe, md.meta);
        if (md.parser_sum == ICMPV6_PROTOCOL && hdr.pe.ipv6.version == 6
                && hdr.pe.ipv6.payload_len[15:8] == 0) {
            md.meta.solicitation_sound = true;
        }
        // Dropped, unless it passes through in a tunnel: then it stays wrong, though the deparser computes it.
        if (md.meta.ipv4_checksum_failed) {
            md.ipv4_options_sum = 1;
        }
        gateway.apply(hdr.pe, md.meta);
        if (md.meta.answered && hdr.pe.neighbor.nd.isValid()) {
            md.is_advertisement = true;
        }
        if (hdr.pe.vlan.isValid()) {
            take_off_vlan_tag();
        }
        entropy.apply(hdr.pe, md.ports, md.meta);
    }
}

#endif
