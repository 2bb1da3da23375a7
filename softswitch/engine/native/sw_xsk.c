#include "sw_xsk.h"

#include <errno.h>
#include <linux/if_xdp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SOL_XDP
#define SOL_XDP 283
#endif
#ifndef AF_XDP
#define AF_XDP 44
#endif

#define RING_MASK (SW_XSK_FRAMES - 1)
#define SEND_BUFFER (64 << 20)

static bool map_ring(sw_xsk_ring *r, int fd, const struct xdp_ring_offset *o, size_t entry,
                     off_t where)
{
    r->map_size = (size_t)o->desc + SW_XSK_FRAMES * entry;
    r->map = mmap(NULL, r->map_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, where);
    if (r->map == MAP_FAILED) {
        r->map = NULL;
        return false;
    }
    uint8_t *base = r->map;
    r->producer = (uint32_t *)(base + o->producer);
    r->consumer = (uint32_t *)(base + o->consumer);
    r->entries = base + o->desc;
    return true;
}

static bool set_up(sw_xsk *x, int ifindex)
{
    int n = SW_XSK_FRAMES, buffer = SEND_BUFFER;
    size_t size = (size_t)SW_XSK_FRAMES * SW_XSK_FRAME;
    void *frames = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (frames == MAP_FAILED)
        return false;
    x->frames = frames;
    struct xdp_umem_reg memory = {
        .addr = (uintptr_t)frames, .len = size, .chunk_size = SW_XSK_FRAME};
    struct sockaddr_xdp at = {
        .sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY, .sxdp_ifindex = (uint32_t)ifindex};
    struct xdp_mmap_offsets o;
    socklen_t o_size = sizeof o;
    setsockopt(x->fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer);
    return !setsockopt(x->fd, SOL_XDP, XDP_UMEM_REG, &memory, sizeof memory) &&
           !setsockopt(x->fd, SOL_XDP, XDP_UMEM_FILL_RING, &n, sizeof n) &&
           !setsockopt(x->fd, SOL_XDP, XDP_UMEM_COMPLETION_RING, &n, sizeof n) &&
           !setsockopt(x->fd, SOL_XDP, XDP_TX_RING, &n, sizeof n) &&
           !getsockopt(x->fd, SOL_XDP, XDP_MMAP_OFFSETS, &o, &o_size) && o_size == sizeof o &&
           map_ring(&x->tx, x->fd, &o.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING) &&
           map_ring(&x->done, x->fd, &o.cr, sizeof(uint64_t), XDP_UMEM_PGOFF_COMPLETION_RING) &&
           !bind(x->fd, (struct sockaddr *)&at, sizeof at);
}

sw_xsk *sw_xsk_open(int ifindex)
{
    sw_xsk *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (x->fd < 0 || !set_up(x, ifindex)) {
        sw_xsk_close(x);
        return NULL;
    }
    for (uint32_t i = 0; i < SW_XSK_FRAMES; i++)
        x->free[x->n_free++] = (uint64_t)i * SW_XSK_FRAME;
    return x;
}

void sw_xsk_close(sw_xsk *x)
{
    if (x->tx.map)
        munmap(x->tx.map, x->tx.map_size);
    if (x->done.map)
        munmap(x->done.map, x->done.map_size);
    if (x->fd >= 0)
        close(x->fd);
    if (x->frames)
        munmap(x->frames, (size_t)SW_XSK_FRAMES * SW_XSK_FRAME);
    free(x);
}

static void reclaim(sw_xsk *x)
{
    const uint64_t *done = x->done.entries;
    uint32_t from = *x->done.consumer;
    uint32_t to = __atomic_load_n(x->done.producer, __ATOMIC_ACQUIRE);
    for (; from != to && x->n_free < SW_XSK_FRAMES; from++)
        x->free[x->n_free++] = done[from & RING_MASK];
    __atomic_store_n(x->done.consumer, from, __ATOMIC_RELEASE);
}

bool sw_xsk_put(sw_xsk *x, const uint8_t *data, uint32_t len)
{
    if (!x->n_free)
        reclaim(x);
    if (!x->n_free || len > SW_XSK_FRAME)
        return false;
    uint64_t frame = x->free[--x->n_free];
    struct xdp_desc *queue = x->tx.entries;
    uint32_t at = *x->tx.producer;
    memcpy(x->frames + frame, data, len);
    queue[at & RING_MASK] = (struct xdp_desc){.addr = frame, .len = len};
    __atomic_store_n(x->tx.producer, at + 1, __ATOMIC_RELEASE);
    return true;
}

uint32_t sw_xsk_flush(sw_xsk *x)
{
    uint32_t end = *x->tx.producer;
    uint32_t left = end - __atomic_load_n(x->tx.consumer, __ATOMIC_ACQUIRE);
    while (left) {
        int r = (int)sendto(x->fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
        uint32_t now = end - __atomic_load_n(x->tx.consumer, __ATOMIC_ACQUIRE);
        if (now == left && !(r < 0 && errno == EINTR))
            break;
        left = now;
    }
    /* In copy mode the kernel consumes descriptors only during sendto, so those left over (link down
     * or queue full) can be taken back; they would otherwise be sent at a later time. */
    const struct xdp_desc *queue = x->tx.entries;
    for (uint32_t i = 0; i < left; i++)
        x->free[x->n_free++] = queue[(end - 1 - i) & RING_MASK].addr;
    if (left)
        __atomic_store_n(x->tx.producer, end - left, __ATOMIC_RELEASE);
    reclaim(x);
    return left;
}
