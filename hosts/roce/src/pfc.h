/* PAUSE frames of flow control by priority: IEEE 802.1Qbb-2011, 802.3 annex 31D. */
#ifndef FCN_ROCE_PFC_H
#define FCN_ROCE_PFC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFC_PRIORITIES 8

/* A MAC control frame with a vector of priorities and a time for each, in quanta of 512 bit times. */
enum {
    PFC_ETHER_TYPE = 0x8808,
    PFC_OPCODE = 0x0101,
    PFC_ETHER_TYPE_AT = 12,
    PFC_OPCODE_AT = 14,
    PFC_VECTOR_AT = 16,
    PFC_TIMES_AT = 18,
    PFC_END = PFC_TIMES_AT + 2 * PFC_PRIORITIES,
};

struct pfc_frame {
    uint8_t vector; /* bit per priority that the frame is about */
    uint16_t quanta[PFC_PRIORITIES];
};

/* Bridges do not forward what is sent to it. */
extern const uint8_t pfc_address[6];

/* Read a frame from its Ethernet header on; false when it is no PAUSE by priority or is cut off. */
bool pfc_parse(const uint8_t *frame, size_t len, struct pfc_frame *out);

/* So many quanta on a link of this rate (not 0), in nanoseconds. */
uint64_t pfc_ns(uint32_t quanta, uint64_t rate_bps);

/* The priority of packets of a DSCP: its class selector (RFC 2474), the three high bits. */
unsigned pfc_priority(uint8_t dscp);

#endif
