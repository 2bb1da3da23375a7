#ifndef FCN_CUSTOMER_PACKET_P4
#define FCN_CUSTOMER_PACKET_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"
#include "../base/sizes.p4"

// CustomerPacket: what later controls need to know of the customer's IP packet, and whether its
// lengths agree.
// Reads:  customer IP, UDP and BTH headers; meta.ipv4_checksum_failed.
// Writes: meta.customer_*, meta.hop_limit, meta.is_roce_flow. meta.customer_fault is why the packet
//         must not be routed in a VRF.
// When:   the packet arrived, and is a customer's or may turn out to be.
control CustomerPacket(in pe_headers_t hdr, inout pe_meta_t meta) {
    apply {
        bit<16> udp_room = 0;
        if (hdr.ipv4.isValid()) {
            meta.customer_ecn = (Ecn)hdr.ipv4.ecn;
            meta.hop_limit = hdr.ipv4.ttl;
            meta.customer_length = hdr.ipv4.total_len;
            meta.customer_next_header = IpProtocol.IPV4;
            udp_room = hdr.ipv4.total_len - IPV4_LENGTH;
            if (meta.ipv4_checksum_failed) {
                meta.customer_fault = DropReason.BAD_CHECKSUM;
            }
        } else if (hdr.ipv6.isValid()) {
            meta.customer_ecn = (Ecn)hdr.ipv6.ecn;
            meta.hop_limit = hdr.ipv6.hop_limit;
            meta.customer_length = hdr.ipv6.payload_len + IPV6_LENGTH;
            meta.customer_next_header = IpProtocol.IPV6;
            udp_room = hdr.ipv6.payload_len;
        } else {
            meta.customer_fault = DropReason.UNSUPPORTED;
        }
        if (hdr.roce.bth.isValid()) {
            // CNPs and the connection manager (QP1) are no flows of their own.
            if (hdr.roce.bth.opcode != BthOpcode.CNP && hdr.roce.bth.dest_qp != QP1
                    && hdr.roce.bth.dest_qp != 0) {
                meta.is_roce_flow = true;
            }
            // Below UDP 8 + BTH 12 + ICRC 4 octets, as masks: Tofino compares no ranges of this width.
            if (hdr.udp.length != udp_room) {
                meta.customer_fault = DropReason.BAD_LENGTH;
            } else if (hdr.udp.length & 0xfff0 == 0 || hdr.udp.length & 0xfff8 == 0x0010) {
                meta.customer_fault = DropReason.BAD_LENGTH;
            }
        }
    }
}

#endif
