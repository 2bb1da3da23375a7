#ifndef FCN_FANTEL_PE_PATH_CHECKSUMS_P4
#define FCN_FANTEL_PE_PATH_CHECKSUMS_P4

#include "../../../base/v1model/pe.p4"

// PathChecksums: of FANTEL messages over UDP and over ICMPv6; fields of headers that are not valid count for nothing.
// Writes: standard_metadata.checksum_error.
// When:   every packet, behind the parser.
control PathChecksums(inout pe_headers_t hdr) {
    apply {
        verify_checksum(
            hdr.fantel.fantel.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.udp.length, 24w0, hdr.ipv6.next_header,
              hdr.udp.src_port, hdr.udp.dst_port, hdr.udp.length,
              hdr.fantel.fantel.version, hdr.fantel.fantel.type, hdr.fantel.fantel.code, hdr.fantel.fantel.reserved,
              hdr.fantel.origin.tlv, hdr.fantel.origin.node, hdr.fantel.origin.link, hdr.fantel.origin.epoch,
              hdr.fantel.origin.sequence,
              hdr.fantel.path.tlv, hdr.fantel.path.value,
              hdr.fantel.five_tuple.tlv, hdr.five_tuple.head.ip_version, hdr.five_tuple.head.label,
              hdr.five_tuple.head.protocol, hdr.five_tuple.ipv4.src, hdr.five_tuple.ipv4.dst, hdr.five_tuple.ipv6.src, hdr.five_tuple.ipv6.dst,
              hdr.five_tuple.ports.src_port, hdr.five_tuple.ports.dst_port,
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
              hdr.fantel.five_tuple.tlv, hdr.five_tuple.head.ip_version, hdr.five_tuple.head.label,
              hdr.five_tuple.head.protocol, hdr.five_tuple.ipv4.src, hdr.five_tuple.ipv4.dst, hdr.five_tuple.ipv6.src, hdr.five_tuple.ipv6.dst,
              hdr.five_tuple.ports.src_port, hdr.five_tuple.ports.dst_port,
              hdr.fantel.cause.tlv, hdr.fantel.cause.value,
              hdr.fantel.buffer.tlv, hdr.fantel.buffer.queue, hdr.fantel.buffer.level, hdr.fantel.buffer.reserved,
              hdr.fantel.buffer.depth,
              hdr.fantel.utilization.tlv, hdr.fantel.utilization.value,
              hdr.fantel.load.tlv, hdr.fantel.load.value },
            hdr.fantel.icmpv6.checksum, HashAlgorithm.csum16);
    }
}

#endif
