/* Building and checking RoCEv2 packets, from the IP header to the ICRC. */
#ifndef FCN_ROCE_PACKET_H
#define FCN_ROCE_PACKET_H

#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROCE_MAX_PAYLOAD (RETH_HEADER + 4096)
#define ROCE_MAX_PACKET (IPV6_HEADER + UDP_HEADER + BTH_HEADER + ROCE_MAX_PAYLOAD + ICRC_LENGTH)

/* BEGIN CDEF */
/* An IP address in network order; IPv4 uses the first four octets. */
struct ip_address {
    int version; /* 4 or 6 */
    uint8_t octets[16];
};
/* END CDEF */

bool ip_address_equal(const struct ip_address *a, const struct ip_address *b);

/* What varies between RoCEv2 packets; payload starts after the BTH and is a multiple of 4. The last
 * `zeros` octets of one that is built are that, and need not be at `payload`. */
struct roce_packet {
    struct ip_address src, dst;
    uint8_t dscp;
    enum ecn ecn;
    uint16_t ipv4_id;
    uint16_t udp_src_port;
    uint8_t opcode;
    uint16_t p_key;
    bool becn;
    bool ack_req;
    uint32_t dest_qp;
    uint32_t psn;
    const uint8_t *payload;
    size_t payload_len, zeros;
};

/* Of a packet in memory `gap` octets may be left out: zeros of its payload, an even number, before
 * ROCE_BEHIND_GAP others and the ICRC. */
#define ROCE_BEHIND_GAP 12

/*
 * Write the packet without its gap, checksums and ICRC included, into out (capacity octets). The UDP
 * checksum is zero over IPv4, as NICs send it, and computed over IPv6. Returns its length with the
 * gap, 0 if it does not fit or the payload is no multiple of four octets.
 */
size_t roce_build(const struct roce_packet *packet, size_t gap, uint8_t *out, size_t capacity);

/* Octets roce_build writes for this packet. */
size_t roce_length(const struct roce_packet *packet);

enum roce_verdict {
    ROCE_OK,
    ROCE_NOT_ROCE,     /* another protocol or port, IP options, a fragment */
    ROCE_BAD_LENGTH,   /* truncated, or IP, UDP and BTH disagree about the length */
    ROCE_BAD_CHECKSUM, /* IPv4 header or UDP */
    ROCE_BAD_ICRC,
    ROCE_NOT_OURS, /* sent to another MAC or IP address; never returned by roce_parse */
};
#define ROCE_VERDICTS (ROCE_NOT_OURS + 1)

const char *roce_verdict_name(enum roce_verdict verdict);

/*
 * Check data (from the IP header) as a receiving NIC does and fill packet; packet->payload points
 * into data, pad octets excluded. On anything but ROCE_OK the contents of packet are unspecified.
 * `len` counts a gap, with which data must end as its IP header says.
 */
enum roce_verdict roce_parse(const uint8_t *data, size_t len, size_t gap, struct roce_packet *packet);

/* UDP source port from the two QPs, as mlx5 and Linux choose it; symmetric in its arguments. */
uint16_t roce_udp_src_port(uint32_t local_qp, uint32_t remote_qp);

#endif
