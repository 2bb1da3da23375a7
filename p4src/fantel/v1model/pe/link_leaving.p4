#ifndef FCN_FANTEL_PE_LINK_LEAVING_P4
#define FCN_FANTEL_PE_LINK_LEAVING_P4

#include "../../../base/v1model/pe.p4"
#include "../link_registers.p4"
#include "../port_sent.p4"

// LinkLeaving
// Writes: port_sent, last_congested.
// When:   a packet leaves by a wire, behind QueueLevel.
control LinkLeaving(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    PortSent() sent;

    apply {
        bit<32> octets = standard_metadata.packet_length;
        if (hdr.outer_ipv6.isValid()) {
            octets = (bit<32>)(ETHERNET_LENGTH + IPV6_LENGTH + hdr.outer_ipv6.payload_len);
        }
        sent.apply(standard_metadata, meta.base.level, octets);
        if (meta.base.level_notifies == 1 && hdr.outer_ipv6.isValid()) {
            last_congested.write(standard_metadata.egress_port, standard_metadata.egress_global_timestamp);
        }
    }
}

#endif
