/* What a frame is, for taps that select some. */
#ifndef LAB_KIND_H
#define LAB_KIND_H

#include <stdbool.h>
#include <stdint.h>

/* The LAB_KIND_ bits of a frame that begins with its Ethernet header, where Fast CNPs have this UDP
 * destination port. Never reads beyond it: a frame that ends early is what its headers until there
 * say, and `*ends` says that more octets could say more. */
uint32_t lab_kind_of(const uint8_t *frame, uint32_t len, uint16_t fast_cnp_port, bool *ends);
#endif
