/* Frames in memory, and what a simulation needs of an engine.
 *
 * A simulation and the engines in it take frames from one pool and pass them on without copying:
 * who receives a frame owns it. Everything in here runs on one thread. */
#ifndef SW_FRAME_H
#define SW_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SW_MAX_FRAME 10240u /* largest frame taken in */
#define SW_HEADROOM 512u    /* what the largest may grow by, as in simple_switch */
#define SW_ROOM 64u         /* before a frame that a host makes: for a tunnel's headers */
#define SW_COPY_ROOM 256u   /* before one that a switch makes: its own headers come later */
#define SW_FRAME_STEP 128u  /* between the sizes of frames in memory */
#define SW_NEAR 96u         /* octets in memory before those left out: more than hosts and links read */
#define SW_FAR 16u          /* and behind */
#define SW_SHORT_FRAME 192u /* of a frame that is made with octets left out, those in memory */
#define SW_FRAME_CLASSES ((SW_MAX_FRAME + SW_HEADROOM + SW_COPY_ROOM + SW_FRAME_STEP - 1) / SW_FRAME_STEP)

typedef struct sw_frame {
    struct sw_frame *next;
    uint64_t at;        /* for whoever owns it: when it is due */
    uint64_t born;      /* when a simulated host made it; UINT64_MAX: it is a switch's own */
    uint32_t cap;       /* octets of data */
    uint32_t head, len; /* the frame is data[head .. head + len - gap), the gap put in */
    uint32_t gap;       /* so many zeros before its last SW_FAR octets are not in memory */
    uint8_t data[] __attribute__((aligned(64)));
} sw_frame;

/* Memory of many frames or packets: one large page where the kernel has them. */
typedef struct sw_slab {
    struct sw_slab *next;
} sw_slab;

#define SW_SLAB (2u << 20)

/* Room for `*n` more things of `size` octets, a multiple of 64; NULL without memory. */
static inline uint8_t *sw_slab_take(sw_slab **slabs, size_t size, size_t *n)
{
    void *memory = NULL;
#ifdef __SANITIZE_ADDRESS__
    size_t octets = 64 + size, align = 64; /* each by itself, so that an access beyond it is seen */
#else
    size_t octets = 64 + size > SW_SLAB ? 64 + size : SW_SLAB, align = SW_SLAB;
#endif
    if (posix_memalign(&memory, align, octets))
        return NULL;
    madvise(memory, octets, MADV_HUGEPAGE);
    sw_slab *slab = (sw_slab *)memory;
    slab->next = *slabs;
    *slabs = slab;
    *n = (octets - 64) / size;
    return (uint8_t *)memory + 64;
}

static inline void sw_slab_release(sw_slab *slabs)
{
    for (sw_slab *slab = slabs, *next; slab; slab = next) {
        next = slab->next;
        free(slab);
    }
}

typedef struct {
    sw_frame *free[SW_FRAME_CLASSES];
    sw_slab *slabs;
    uint64_t in_use; /* frames taken and not given back */
} sw_pool;

/* A line of a rate; 0 is unlimited. */
typedef struct {
    uint64_t rate_bps;
    uint64_t free_ns;  /* when the last bit of the frame before has left */
    uint64_t fraction; /* and what is beyond: this divided by rate_bps nanoseconds */
    uint32_t overhead; /* octets a frame takes beyond its own: preamble, check sequence, gap */
} sw_line;

/* When the last bit leaves of a frame whose first bit does at `at`, which is not before free_ns.
 * What is below a nanosecond is carried over to a frame that follows without a gap. */
static inline uint64_t sw_line_send(sw_line *l, uint32_t len, uint64_t at)
{
    if (!l->rate_bps)
        return l->free_ns = at;
    uint64_t work = ((uint64_t)len + l->overhead) * 8 * 1000000000u;
    if (at == l->free_ns)
        work += l->fraction;
    l->fraction = work % l->rate_bps;
    return l->free_ns = at + work / l->rate_bps;
}

#define SW_PRIORITIES 8u

/* The priority of a frame for flow control by priority (IEEE 802.1Qbb): of its 802.1Q tag, or that of
 * its class selector (RFC 2474): the three high bits of the DSCP. */
static inline unsigned sw_frame_priority(const uint8_t *frame, uint32_t len)
{
    if (len < 16)
        return 0;
    unsigned type = (unsigned)frame[12] << 8 | frame[13];
    if (type == 0x8100)
        return frame[14] >> 5;
    if (type == 0x0800)
        return frame[15] >> 5;
    return type == 0x86dd ? frame[14] >> 1 & 7 : 0;
}

/* Of the memory behind a port, in octets for each priority that has its bit: above xoff the sender
 * is told to pause, at xon to go on; what would exceed size is lost. */
typedef struct {
    uint32_t xoff, xon, size;
    uint8_t priorities;
} sw_ingress_limits;

/* Octets by priority, the most of one so far, and packets there was no room for. */
typedef struct {
    uint32_t octets[SW_PRIORITIES], peak;
    uint64_t drops;
} sw_ingress_use;

typedef struct sw_engine sw_engine;

/* Who sends to a port is to pause this priority, or to go on. */
typedef void sw_pauser(void *context, uint32_t port, uint32_t priority, bool pause);

/* Takes a frame whose last bit has left the port at `at`, which may be in the future. */
typedef void sw_sink(void *context, uint32_t port, uint64_t at, sw_frame *f);

/* What can be looked at of an engine: packets of the cell `b` of counter `a`; packets or octets in
 * the queues of port `a`; the number at place `a` of sw_balance, `held` excluded. */
enum { SW_LOOK_COUNTER, SW_LOOK_QUEUED, SW_LOOK_QUEUED_OCTETS, SW_LOOK_BALANCE };

typedef struct sw_sim_api {
    /* From now on frames come from `pool` and go to `sink`. Before the first packet. */
    void (*attach)(sw_engine *e, sw_pool *pool, sw_sink *sink, void *context);
    /* A frame arrives at `now`, after all that is due until then; the next due time. */
    uint64_t (*arrive)(sw_engine *e, uint64_t now, uint32_t port, sw_frame *f);
    /* Do all that is due until `now`; the next due time. */
    uint64_t (*run_until)(sw_engine *e, uint64_t now);
    uint64_t (*next_due)(const sw_engine *e);
    /* A port got or lost its link: the control plane is told. */
    void (*set_link)(sw_engine *e, uint32_t port, bool up);
    /* Set the clock; nothing is due before `now`. */
    void (*set_now)(sw_engine *e, uint64_t now);
    /* Count what a port receives and tell `pauser`; false without memory. */
    bool (*limit_ingress)(sw_engine *e, uint32_t port, const sw_ingress_limits *limits);
    void (*set_pauser)(sw_engine *e, sw_pauser *pauser, void *context);
    /* NULL: it is not counted. */
    const sw_ingress_use *(*ingress_use)(const sw_engine *e, uint32_t port);
    /* Let nothing out of a queue until a time; the past: let it go on. */
    void (*pause_queue)(sw_engine *e, uint32_t port, uint32_t queue, uint64_t until);
    /* Send a frame ahead of what waits; also from a pauser. Consumes it. */
    void (*send_control)(sw_engine *e, uint32_t port, sw_frame *f);
    /* Where the engine keeps the octets of events for the control plane that wait. */
    const uint32_t *(*waiting_events)(const sw_engine *e);
    /* A value, without all else that reading it by the control plane would copy. 0: there is none. */
    uint64_t (*look)(const sw_engine *e, uint32_t what, uint32_t a, uint32_t b);
} sw_sim_api;

static inline bool sw_pool_grow(sw_pool *pool, uint32_t size_class)
{
    /* With their head an odd number of cache lines, so that the heads of neighbours do not compete
     * for the same sets. */
    uint32_t cap = (size_class + 1) * SW_FRAME_STEP, step = (uint32_t)sizeof(sw_frame) + cap;
    size_t n;
    uint8_t *memory = sw_slab_take(&pool->slabs, step, &n);
    if (!memory)
        return false;
    while (n) {
        sw_frame *f = (sw_frame *)(void *)(memory + --n * step);
        f->cap = cap;
        f->next = pool->free[size_class];
        pool->free[size_class] = f;
    }
    return true;
}

/* A frame with `len` octets at its end and `room` before; NULL without memory, or when that is more
 * than any frame has. */
static inline sw_frame *sw_frame_take(sw_pool *pool, uint32_t len, uint32_t room)
{
    uint32_t size_class = (len + room - 1) / SW_FRAME_STEP;
    if (size_class >= SW_FRAME_CLASSES || (!pool->free[size_class] && !sw_pool_grow(pool, size_class)))
        return NULL;
    sw_frame *f = pool->free[size_class];
    pool->free[size_class] = f->next;
    __builtin_prefetch(f->next);
    pool->in_use++;
    f->born = UINT64_MAX;
    f->len = len;
    f->head = f->cap - len;
    f->gap = 0;
    return f;
}

/* The same of `len` octets, `gap` of which are left out. */
static inline sw_frame *sw_frame_take_short(sw_pool *pool, uint32_t len, uint32_t gap, uint32_t room)
{
    sw_frame *f = sw_frame_take(pool, len - gap, room);
    if (f) {
        f->len = len;
        f->gap = gap;
    }
    return f;
}

/* How many octets a frame may leave out that has nothing but zeros between its headers, of up to
 * SW_SHORT_FRAME - 2 * SW_FAR octets, and its last SW_FAR: a multiple of these. */
static inline uint32_t sw_gap_of(uint32_t len)
{
    return len > SW_SHORT_FRAME ? (len - SW_SHORT_FRAME + SW_FAR - 1) & ~(SW_FAR - 1) : 0;
}

/* How many of the `len` octets that end a frame are in memory before those left out. */
static inline uint32_t sw_near(uint32_t len, uint32_t gap) { return gap ? len - gap - SW_FAR : len; }

/* Write the first `n` of the `len` octets at `at` that end a frame, with those left out. */
static inline void sw_octets(uint8_t *out, const uint8_t *at, uint32_t len, uint32_t gap, uint32_t n)
{
    uint32_t near = sw_near(len, gap);
    if (n <= near) {
        memcpy(out, at, n);
        return;
    }
    uint32_t zeros = n - near < gap ? n - near : gap;
    memcpy(out, at, near);
    memset(out + near, 0, zeros);
    memcpy(out + near + zeros, at + near, n - near - zeros);
}

static inline void sw_frame_give(sw_pool *pool, sw_frame *f)
{
    sw_frame **free = &pool->free[f->cap / SW_FRAME_STEP - 1];
    f->next = *free;
    *free = f;
    pool->in_use--;
}

/* A frame with all its octets in memory, in place of one that leaves some out; NULL without memory. */
static inline sw_frame *sw_frame_whole(sw_pool *pool, sw_frame *f)
{
    sw_frame *whole = sw_frame_take(pool, f->len, SW_ROOM);
    if (whole) {
        sw_octets(whole->data + whole->head, f->data + f->head, f->len, f->gap, f->len);
        whole->born = f->born;
        whole->at = f->at;
    }
    sw_frame_give(pool, f);
    return whole;
}

/* Free all frames, also those in use. */
static inline void sw_pool_release(sw_pool *pool)
{
    sw_slab_release(pool->slabs);
    *pool = (sw_pool){.slabs = NULL};
}
#endif
