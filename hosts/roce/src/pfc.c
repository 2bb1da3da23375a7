#include "pfc.h"

#include "bytes.h"

#include <string.h>

#define QUANTUM_BITS 512u
#define NS_PER_S 1000000000u

const uint8_t pfc_address[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

bool pfc_parse(const uint8_t *frame, size_t len, struct pfc_frame *out)
{
    if (len < PFC_END || memcmp(frame, pfc_address, sizeof pfc_address) != 0 ||
        get16(frame + PFC_ETHER_TYPE_AT) != PFC_ETHER_TYPE ||
        get16(frame + PFC_OPCODE_AT) != PFC_OPCODE)
        return false;
    out->vector = (uint8_t)get16(frame + PFC_VECTOR_AT);
    for (size_t i = 0; i < PFC_PRIORITIES; i++)
        out->quanta[i] = (uint16_t)get16(frame + PFC_TIMES_AT + 2 * i);
    return true;
}

uint64_t pfc_ns(uint32_t quanta, uint64_t rate_bps)
{
    return (uint64_t)((unsigned __int128)quanta * QUANTUM_BITS * NS_PER_S / rate_bps);
}

unsigned pfc_priority(uint8_t dscp) { return dscp >> 3; }
