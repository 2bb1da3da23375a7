// The checksums of the provider edge that simple_switch verifies behind the parser, and computes before the deparser.
#ifndef FCN_PE_CHECKSUMS_P4
#define FCN_PE_CHECKSUMS_P4

// PeVerifyChecksum
// Reads:  headers of IPv4, neighbour solicitations and FANTEL messages; fields of headers that are not valid count for
//         nothing.
// Writes: standard_metadata.checksum_error.
// When:   every packet.
control PeVerifyChecksum(inout pe_headers_t hdr, inout pe_meta_t meta) {
    apply {
        verify_checksum(
            hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum(
            hdr.fantel.fantel.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.udp.length, 24w0, hdr.ipv6.next_header,
              hdr.udp.src_port, hdr.udp.dst_port, hdr.udp.length,
              hdr.fantel.fantel.version, hdr.fantel.fantel.type, hdr.fantel.fantel.code, hdr.fantel.fantel.reserved,
              hdr.fantel.origin.tlv, hdr.fantel.origin.node, hdr.fantel.origin.link, hdr.fantel.origin.epoch,
              hdr.fantel.origin.sequence,
              hdr.fantel.path.tlv, hdr.fantel.path.value,
              hdr.fantel.five_tuple.tlv, hdr.arn.five_tuple.ip_version, hdr.arn.five_tuple.label,
              hdr.arn.five_tuple.protocol, hdr.arn.ipv4.src, hdr.arn.ipv4.dst, hdr.arn.ipv6.src, hdr.arn.ipv6.dst,
              hdr.arn.ports.src_port, hdr.arn.ports.dst_port,
              hdr.fantel.cause.tlv, hdr.fantel.cause.value,
              hdr.fantel.buffer.tlv, hdr.fantel.buffer.queue, hdr.fantel.buffer.level, hdr.fantel.buffer.reserved,
              hdr.fantel.buffer.depth,
              hdr.fantel.utilization.tlv, hdr.fantel.utilization.value,
              hdr.fantel.load.tlv, hdr.fantel.load.value },
            hdr.udp.checksum, HashAlgorithm.csum16);
        verify_checksum(
            hdr.fantel.icmpv6.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.ipv6.payload_len, 24w0, hdr.ipv6.next_header,
              hdr.fantel.icmpv6.icmpv6_type, hdr.fantel.icmpv6.code, hdr.fantel.icmpv6.type,
              hdr.fantel.icmpv6.version, hdr.fantel.icmpv6.reserved,
              hdr.fantel.origin.tlv, hdr.fantel.origin.node, hdr.fantel.origin.link, hdr.fantel.origin.epoch,
              hdr.fantel.origin.sequence,
              hdr.fantel.path.tlv, hdr.fantel.path.value,
              hdr.fantel.five_tuple.tlv, hdr.arn.five_tuple.ip_version, hdr.arn.five_tuple.label,
              hdr.arn.five_tuple.protocol, hdr.arn.ipv4.src, hdr.arn.ipv4.dst, hdr.arn.ipv6.src, hdr.arn.ipv6.dst,
              hdr.arn.ports.src_port, hdr.arn.ports.dst_port,
              hdr.fantel.cause.tlv, hdr.fantel.cause.value,
              hdr.fantel.buffer.tlv, hdr.fantel.buffer.queue, hdr.fantel.buffer.level, hdr.fantel.buffer.reserved,
              hdr.fantel.buffer.depth,
              hdr.fantel.utilization.tlv, hdr.fantel.utilization.value,
              hdr.fantel.load.tlv, hdr.fantel.load.value },
            hdr.fantel.icmpv6.checksum, HashAlgorithm.csum16);
        // RFC 4443 section 2.3
        verify_checksum(
            hdr.neighbor.nd.isValid() && !hdr.neighbor.nd_option.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.ipv6.payload_len, 24w0, hdr.ipv6.next_header,
              hdr.neighbor.nd.type, hdr.neighbor.nd.code, hdr.neighbor.nd.flags, hdr.neighbor.nd.target },
            hdr.neighbor.nd.checksum, HashAlgorithm.csum16);
        verify_checksum(
            hdr.neighbor.nd.isValid() && hdr.neighbor.nd_option.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.ipv6.payload_len, 24w0, hdr.ipv6.next_header,
              hdr.neighbor.nd.type, hdr.neighbor.nd.code, hdr.neighbor.nd.flags, hdr.neighbor.nd.target,
              hdr.neighbor.nd_option.type, hdr.neighbor.nd_option.length, hdr.neighbor.nd_option.mac },
            hdr.neighbor.nd.checksum, HashAlgorithm.csum16);
    }
}

// PeComputeChecksum: of what is made here. Other checksums are updated where the header changes.
// Reads:  meta.answered, meta.make_cnp; headers.
// Writes: checksums of neighbour advertisements and of the IPv4 header of CNPs.
// When:   every packet, last.
control PeComputeChecksum(inout pe_headers_t hdr, inout pe_meta_t meta) {
    apply {
        update_checksum(
            meta.answered && hdr.neighbor.nd.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.ipv6.payload_len, 24w0, hdr.ipv6.next_header,
              hdr.neighbor.nd.type, hdr.neighbor.nd.code, hdr.neighbor.nd.flags, hdr.neighbor.nd.target,
              hdr.neighbor.nd_option.type, hdr.neighbor.nd_option.length, hdr.neighbor.nd_option.mac },
            hdr.neighbor.nd.checksum, HashAlgorithm.csum16);
        update_checksum(
            meta.make_cnp && hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

#endif
