/* RoCEv2 invariant CRC (InfiniBand Architecture Specification, Annex A17). */
#ifndef FCN_ROCE_ICRC_H
#define FCN_ROCE_ICRC_H

#include <stddef.h>
#include <stdint.h>

/*
 * ICRC of a RoCEv2 packet without IP options or extension headers.
 * packet: from the IP header, len: octets up to, not including, the ICRC itself; at least the IP,
 * UDP and BTH headers. Of these, `gap` are not there (packet.h). The value goes to the packet in
 * little-endian order.
 */
uint32_t roce_icrc(const uint8_t *packet, size_t len, size_t gap);

#endif
