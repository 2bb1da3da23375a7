/* Transmission through an AF_XDP socket in copy mode: about a third cheaper per frame than a packet
 * socket, since a batch needs no message headers. It needs no XDP program. */
#ifndef SW_XSK_H
#define SW_XSK_H

#include "sw_base.h"

#define SW_XSK_FRAME 4096u /* largest frame, an upper bound set by the kernel's page size */
#define SW_XSK_FRAMES 512u

typedef struct {
    uint32_t *producer, *consumer;
    void *entries;
    void *map;
    size_t map_size;
} sw_xsk_ring;

typedef struct {
    int fd;
    uint8_t *frames;
    sw_xsk_ring tx, done;
    uint64_t free[SW_XSK_FRAMES];
    uint32_t n_free;
} sw_xsk;

/* NULL when the kernel or the interface does not do this; the interface must be up. */
sw_xsk *sw_xsk_open(int ifindex);
void sw_xsk_close(sw_xsk *x);
/* Queue a frame of at most SW_XSK_FRAME octets; false when there is no room. */
bool sw_xsk_put(sw_xsk *x, const uint8_t *data, uint32_t len);
/* Send what is queued; the number of frames that could not be sent and are dropped. */
uint32_t sw_xsk_flush(sw_xsk *x);
#endif
