/* The checksum of IP, UDP and ICMPv6: one's complement sum (RFC 1071). */
#ifndef FCN_ROCE_CHECKSUM_H
#define FCN_ROCE_CHECKSUM_H

#include "bytes.h"

#include <stddef.h>

/* Add data to a sum. */
static inline uint32_t checksum_add(uint32_t sum, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i + 1 < len; i += 2)
        sum += get16(data + i);
    if (len & 1)
        sum += (uint32_t)data[len - 1] << 8;
    return sum;
}

/* The checksum that a sum is; 0 when the checksum field was part of it and right. */
static inline uint16_t checksum_of(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

#endif
