/* Network interfaces as ports, over AF_PACKET.
 *
 * Frames come in through a memory-mapped ring of TPACKET_V2: version 3 delivers whole blocks and
 * may delay a frame until its block timer expires (a kernel tick at least), which is much longer
 * than the delays measured with this switch. They are sent in batches, through an AF_XDP socket
 * where the kernel has that, otherwise (and frames of more than SW_XSK_FRAME octets) by sendmmsg.
 * Both bypass the interface's queueing discipline. Where one is configured, frames are sent through
 * it one by one, and those it has no room for wait in the queues of the traffic manager. */
#ifndef SW_PORT_H
#define SW_PORT_H

#include <sys/socket.h>
#include <sys/uio.h>

#include "sw_core.h"
#include "sw_xsk.h"

#define SW_BATCH 64u
#define SW_TX_BYTES (SW_BATCH * 2048u + SW_MAX_FRAME + SW_HEADROOM)

typedef struct sw_netif {
    uint32_t port;
    int index;
    char name[16];
    int rx, tx;
    sw_xsk *xsk; /* NULL: all frames are sent through tx */
    bool xsk_used;
    bool queueing; /* the interface has a queueing discipline */
    uint8_t *ring;
    uint32_t frame_size, n_frames, at;
    int kept_in, kept_out; /* files its frames are written to; -1: none */
    uint8_t *tx_bytes;
    uint32_t tx_used, tx_count;
    struct mmsghdr messages[SW_BATCH];
    struct iovec parts[SW_BATCH];
} sw_netif;

/* NULL with errno set when the interface cannot be opened. */
sw_netif *sw_netif_open(uint32_t port, const char *ifname);
void sw_netif_close(sw_netif *n);
/* Receive up to `limit` frames; returns their number. */
uint32_t sw_netif_poll(sw_engine *e, sw_netif *n, uint32_t limit);
void sw_netif_flush(sw_engine *e, sw_netif *n);
/* The interface came up: open the AF_XDP socket, which needs that. */
void sw_netif_up(sw_netif *n);
/* Give up what only one socket of an interface can have; sw_netif_up() takes it again. */
void sw_netif_down(sw_netif *n);
/* Send through the interface's queueing discipline, or past it. */
void sw_netif_set_queueing(sw_engine *e, sw_netif *n, bool queueing);
/* Whether the queueing discipline has room for a frame. */
bool sw_netif_has_room(const sw_netif *n);
/* Begin to receive. */
bool sw_netif_listen(sw_netif *n);
/* Frames dropped because the ring was full, since the last call. */
uint32_t sw_netif_lost(const sw_netif *n);
/* Whether the interface exists, is up and has a carrier. */
bool sw_netif_running(const sw_netif *n);
#endif
