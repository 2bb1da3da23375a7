/* Packets, ports and the engine; the interface of the generated program. */
#ifndef SW_CORE_H
#define SW_CORE_H

#include <pthread.h>

#include "sw_base.h"
#include "sw_frame.h"
#include "sw_hash.h"
#include "sw_table.h"

#define SW_PORTS 512u
#define SW_QUEUES 8u
#define SW_SESSIONS 32768u
#define SW_NO_TRUNCATION UINT32_MAX

/* standard_metadata.instance_type */
enum { SW_NORMAL, SW_I2E_CLONE, SW_E2E_CLONE, SW_COALESCED, SW_RECIRC, SW_REPLICATION, SW_RESUBMIT };

typedef struct sw_pkt {
    struct sw_pkt *next;   /* what queues are walked by comes first */
    uint64_t due_ns;
    sw_frame *frame;       /* where its octets are */
    uint8_t *buf;          /* those of the frame */
    uint32_t head, len;    /* data is buf[head .. head + len) */
    uint32_t truncated;    /* data beyond this length does not exist */
    uint32_t ingress_len;  /* counters and byte meters use this length */
    uint32_t reg_len;      /* packet length, kept up by setValid and setInvalid */
    uint32_t ingress_port, egress_port;
    uint32_t parser_error;
    uint32_t copies;       /* copies this one was made through, see SW_COPIES */
    bool checksum_error;
    bool exit;
    bool dropped; /* by an assertion or a full buffer */
    uint8_t queue;
    bool came_round; /* it was recirculated from `egress_port` */
    uint8_t charge_priority;
    uint16_t repetitions; /* how often actions went back to an earlier step */
    uint32_t charge; /* octets it takes of its ingress port's memory; 0: it is not counted there */
    uint32_t held;   /* octets it takes in its queue */
    uint32_t trace;  /* its number in what is told of packets (sw_trace.h), 0: nothing is */
    uint16_t story;
    /* Requests of the pass; 0 is none. Clone sessions carry SW_SESSION_VALID. */
    uint16_t clone_session, clone_list, learn_list, resubmit_list, recirculate_list;
    uint8_t phv[] __attribute__((aligned(16)));
} sw_pkt;

/* Most of them, for all actions of a packet. */
#define SW_REPETITIONS 16384u

#define SW_SESSION_VALID 0x8000u

SW_INLINE uint8_t *sw_data(const sw_pkt *p) { return p->buf + p->head; }
/* Length of the data once truncation is applied. */
SW_INLINE uint32_t sw_size(const sw_pkt *p) { return p->len < p->truncated ? p->len : p->truncated; }
/* What of it is in memory at sw_data(). */
SW_INLINE uint32_t sw_at_hand(const sw_pkt *p)
{
    uint32_t near = sw_near(p->len, p->frame->gap);
    return near < p->truncated ? near : p->truncated;
}
/* Write all of it. */
SW_INLINE void sw_put_data(uint8_t *out, const sw_pkt *p)
{
    sw_octets(out, sw_data(p), p->len, p->frame->gap, sw_size(p));
}

/* How a packet ended. Those replaced live on as their copies. */
enum sw_end {
    SW_SENT,
    SW_TO_CPU,
    SW_REPLACED,
    SW_INGRESS_DROP, /* by the program */
    SW_EGRESS_DROP,
    SW_QUEUE_FULL,
    SW_NO_QUEUE, /* no such port or priority */
    SW_NO_LINK,
    SW_BUFFER_FULL,  /* the memory that all queues share */
    SW_INGRESS_FULL, /* the memory of its port and priority, which should have paused the sender */
    SW_INPUT_FULL, /* resubmitted or recirculated while too many wait */
    SW_FAILED,     /* failed assertion, or no room to grow */
    SW_ENDS
};

/* An argument of an action: its offset in the action's data, and its bits. */
typedef struct {
    uint32_t at, width;
} sw_arg;

/* Generated functions that are parts of one (codegen/blocks.py) return the block that is next. */
#define SW_END UINT32_MAX

/* How far a parser has come: octets, and transitions back to an earlier state. */
typedef struct {
    uint32_t off, repetitions;
} sw_parsing;

/* The generated program. `now_us` counts microseconds since the engine was made. */
typedef struct {
    uint32_t phv_size;
    uint32_t locals_size; /* of fields that only one side of the queues uses (codegen/sides.py) */
    uint32_t n_tables, n_counters, n_meters, n_registers;
    const sw_table_def *tables;
    const uint32_t *counter_sizes;
    const uint32_t *meter_sizes;
    const uint8_t *meter_bytes;
    const uint32_t *register_sizes;
    const uint32_t *register_cells; /* octets per cell */
    const uint32_t *action_data; /* size by action id */
    uint32_t n_actions;
    const sw_arg *args;
    const uint32_t *first_arg; /* by action id; those of an action end where the next one's begin */
    void (*reset)(sw_pkt *p);           /* headers invalid, metadata zero */
    void (*reset_metadata)(sw_pkt *p);
    void (*received)(sw_pkt *p, uint64_t now_us);
    void (*parse)(sw_engine *e, sw_pkt *p);
    void (*parsed)(sw_pkt *p);          /* parser_error and checksum_error to metadata */
    void (*ingress)(sw_engine *e, sw_pkt *p);
    void (*enqueued)(sw_pkt *p, uint64_t now_us, uint32_t depth);
    void (*dequeued)(sw_pkt *p, uint64_t now_us, uint32_t depth, uint32_t drop_port);
    void (*egress)(sw_engine *e, sw_pkt *p);
    void (*deparse)(sw_engine *e, sw_pkt *p);
    void (*copy_fields)(sw_pkt *to, const sw_pkt *from, uint32_t list);
    uint32_t (*learn)(const sw_pkt *p, uint32_t list, uint8_t *out, uint32_t cap);
    uint32_t (*egress_spec)(const sw_pkt *p);
    uint32_t (*mcast_grp)(const sw_pkt *p);
    uint32_t (*priority)(const sw_pkt *p);
    void (*set_priority)(sw_pkt *p, uint32_t v);
    void (*set_ingress_port)(sw_pkt *p, uint32_t v);
    void (*set_instance_type)(sw_pkt *p, uint32_t v);
    void (*set_packet_length)(sw_pkt *p, uint32_t v);
    void (*set_egress_rid)(sw_pkt *p, uint32_t v);
} sw_program;

extern const sw_program sw_prog;
static const sw_program *const prog = &sw_prog;

typedef struct {
    uint32_t port, instance;
} sw_replica;

typedef struct {
    uint32_t n;
    uint32_t class_of_service;
    uint32_t truncate;
    sw_replica *replicas;
} sw_session;

typedef struct sw_mgroup {
    struct sw_mgroup *next;
    uint32_t id, n;
    sw_replica *replicas;
} sw_mgroup;

typedef struct {
    sw_pkt *first, *last;
    uint32_t n;
} sw_fifo;

/* What packets of a port take until they have left the switch, by priority. */
typedef struct {
    sw_ingress_limits limits;
    uint8_t paused; /* bit per priority whose sender was told to pause */
    sw_ingress_use use;
} sw_intake;

typedef struct {
    sw_fifo queues[SW_QUEUES];
    sw_fifo rounds[SW_QUEUES]; /* what came round once more, behind all of queues[] */
    uint32_t waiting;       /* bit per queue that is not empty */
    uint32_t paused;        /* bit per queue that nothing leaves until paused_until */
    uint64_t paused_until[SW_QUEUES];
    uint32_t octets[SW_QUEUES]; /* of what waits */
    uint32_t queued_octets, peak_octets; /* in all queues */
    uint32_t depth_octets;  /* capacity of each queue, 0: unlimited */
    sw_intake *ingress;     /* NULL: not counted */
    sw_fifo wire;           /* serialised, under way to the far end */
    uint32_t queued, depth; /* packets in all queues; capacity of each */
    uint32_t peak, peak_before; /* of queued, since peak_ns and in the second before */
    uint64_t peak_ns;
    sw_line line;
    uint64_t rate_pps, delay_ns; /* rate 0 is unlimited */
    uint64_t due_ns;        /* of what the port does next */
    uint32_t place;         /* among the ports with work pending, from 1; 0: none */
    uint64_t rx_packets, rx_octets, tx_packets, tx_octets, queue_drops;
    bool up;
    bool held;              /* its interface takes no frame for now: nothing leaves the queues */
    struct sw_netif *netif; /* NULL: no interface */
} sw_port;

/* Events for the control plane: this header, then the payload, padded to 8 bytes. */
enum { SW_EV_DIGEST = 1, SW_EV_PACKET_IN, SW_EV_IDLE, SW_EV_PORT };
typedef struct {
    uint32_t size; /* of the payload */
    uint16_t kind;
    uint16_t id;
    uint64_t arg;
} sw_event;

#define SW_EVENT_BUFFER (4u << 20)

struct sw_engine {
    pthread_mutex_t lock;
    uint32_t waiters; /* control-plane calls waiting for the lock */
    uint64_t now_ns;
    uint64_t start_ns;
    uint32_t cpu_port, drop_port, n_queues;
    sw_port ports[SW_PORTS];
    uint16_t pending[SW_PORTS]; /* ports with work: a heap, the first to do at the front */
    uint32_t n_pending;
    sw_fifo input; /* resubmitted and recirculated */
    sw_pkt *free_pkts;
    sw_slab *pkt_slabs;
    sw_pool *pool, own_pool;
    /* Packets since the start. refused: received and not taken in. */
    uint64_t received, refused, copied, ended[SW_ENDS];
    sw_session *sessions[SW_SESSIONS];
    sw_mgroup *mgroups[256];
    sw_table *tables;
    sw_counter **counters;
    sw_meter **meters;
    void **registers; /* cells of 1, 2, 4, 8 or 16 bytes */
    /* Members and groups of all profiles, by slot number. */
    sw_member **members;
    sw_group **groups;
    uint32_t n_members, n_groups;
    uint64_t next_idle_ns;
    bool idle_put_off;     /* until frames that waited are met */
    uint64_t idle_again_ns; /* least time until an entry is told again to be idle */
    /* In memory mode frames go to the sink, or without one to the buffer. */
    bool memory;
    sw_sink *sink;
    void *sink_context;
    sw_pauser *pauser;
    void *pauser_context;
    /* In all queues, but for what is counted at its ingress; promised to that; capacity of both, 0:
     * unlimited */
    uint64_t buffered, promised, buffer_octets;
    uint8_t *out;
    size_t out_size, out_cap;
    /* Events. */
    int event_fd;
    uint8_t *events;
    uint32_t events_size;
    uint64_t lost_events, oversize_drops, input_drops, growth_drops, gso_drops, no_memory_drops;
    uint64_t loop_drops;
    uint64_t failed_assertions, tx_errors, rx_ring_drops, capture_drops;
    struct sw_loop *loop;
    struct sw_trace *trace; /* of programs built for it */
    uint32_t traced_packets; /* the last number of one */
    uint64_t random;
    uint8_t scratch[SW_MAX_FRAME + 8192];
    uint8_t locals[] __attribute__((aligned(16))); /* see sw_program */
};

/* Packet processing; the caller holds the lock. */
void sw_receive(sw_engine *e, uint32_t port, const uint8_t *data, uint32_t len);
/* The same without copying; consumes the frame. */
void sw_receive_frame(sw_engine *e, uint32_t port, sw_frame *f);
/* Do everything due by `now`; afterwards e->now_ns is `now`. */
void sw_run_until(sw_engine *e, uint64_t now);
/* Time of the next event for sw_run_until; UINT64_MAX: none. */
uint64_t sw_next_due(const sw_engine *e);
/* Does anything wait at a port without an interface, such as held packets? */
bool sw_inner_due(const sw_engine *e);
/* What waits there goes on from this time at the earliest. */
void sw_inner_defer(sw_engine *e, uint64_t until);
/* Time of the next event at a port with an interface, or of the idle scan. */
uint64_t sw_outer_due(const sw_engine *e);
void sw_emit_event(sw_engine *e, unsigned kind, unsigned id, uint64_t arg, const void *data,
                   uint32_t size);
/* Tell which entries are idle; have that done in time for one with this timeout, 0: it has none. */
void sw_idle_scan(sw_engine *e);
void sw_idle_watch(sw_engine *e, uint64_t timeout_ns);
void sw_idle_put_off(sw_engine *e, uint64_t now);

/* Packets and their frames. */
/* Make room for headers of this size before the payload; false when there is none. */
bool sw_pkt_widen(sw_engine *e, sw_pkt *p, uint32_t size);
/* A packet of this frame, which it owns; headers are not reset. NULL without memory. */
sw_pkt *sw_pkt_of(sw_engine *e, sw_frame *f);
/* The same with a copy of the data, `gap` octets of which are left out. */
sw_pkt *sw_pkt_with(sw_engine *e, const uint8_t *data, uint32_t len, uint32_t gap);
/* Get all octets into memory; false: none was left out, or the packet is dropped without memory. */
bool sw_pkt_whole(sw_engine *e, sw_pkt *p);
/* The same of one that leaves octets out and is sent next, where it is left with too few, or cut
 * behind what it leaves out. */
void sw_pkt_settle(sw_engine *e, sw_pkt *p);
void sw_pkt_end(sw_engine *e, sw_pkt *p, enum sw_end why);
sw_frame *sw_pkt_leave(sw_engine *e, sw_pkt *p);

/* Room for packets, see sw_buffer.c. */
enum sw_end sw_buffer_take(sw_engine *e, sw_port *port, unsigned queue, sw_pkt *p);
void sw_buffer_give(sw_engine *e, sw_port *port, unsigned queue, const sw_pkt *p);
bool sw_ingress_set(sw_engine *e, uint32_t number, const sw_ingress_limits *limits);
bool sw_ingress_charge(sw_engine *e, sw_pkt *p);
void sw_ingress_release(sw_engine *e, sw_pkt *p);

/* The traffic manager. Both consume the packet. */
void sw_enqueue(sw_engine *e, sw_pkt *p, uint32_t number);
void sw_transmit(sw_engine *e, sw_pkt *p, uint32_t number, uint64_t at);
/* A frame of this length takes its time of the port's rate, but goes back into ingress. */
void sw_line_take(sw_engine *e, uint32_t number, uint32_t len, uint64_t at);
/* The two halves of a pass; they consume the packet. */
void sw_ingress(sw_engine *e, sw_pkt *p);
void sw_egress(sw_engine *e, sw_pkt *p, uint32_t number, uint64_t now);
void sw_fifo_put(sw_fifo *f, sw_pkt *p);
sw_pkt *sw_fifo_take(sw_fifo *f);

/* Packets in a queue. */
SW_INLINE uint32_t sw_queued(const sw_port *port, unsigned queue)
{
    return port->queues[queue].n + port->rounds[queue].n;
}

/* Let nothing out of a port's queues, or again. */
void sw_port_hold(sw_engine *e, uint32_t port, bool held);
/* Let nothing out of one queue before `until`, or from now on when that is past. */
void sw_queue_pause(sw_engine *e, uint32_t port, uint32_t queue, uint64_t until);
/* Send a frame of the port itself, ahead of all that waits. With a sink only. */
void sw_port_control(sw_engine *e, uint32_t port, sw_frame *f);
/* Send a frame on an interface; implemented by the port layer. */
void sw_netif_send(sw_engine *e, struct sw_netif *n, const uint8_t *data, uint32_t len);

/* For generated code. */
uint32_t sw_meter_run(const sw_engine *e, sw_meter *m, uint32_t octets);
uint64_t sw_random_seed(uint64_t seed);
uint64_t sw_random(sw_engine *e, uint64_t low, uint64_t high);
void sw_stack_push(void *array, size_t size, uint8_t *valid, uint8_t *next, uint32_t n,
                   uint64_t count);
void sw_stack_pop(void *array, size_t size, uint8_t *valid, uint8_t *next, uint32_t n,
                  uint64_t count);
/* Their parts for stacks of unions, where several arrays have one next index. */
void sw_stack_up(void *array, size_t size, uint8_t *valid, uint32_t n, uint64_t count);
void sw_stack_down(void *array, size_t size, uint8_t *valid, uint32_t n, uint64_t count);
void sw_next_push(uint8_t *next, uint32_t n, uint64_t count);
void sw_next_pop(uint8_t *next, uint32_t n, uint64_t count);
/* An action's data from its arguments, big-endian integers in whole octets, one after another;
 * false: no such action, or another number of octets. */
bool sw_pack(uint32_t action, const uint8_t *args, uint32_t n, uint8_t *data);
void sw_assert_failed(sw_engine *e, sw_pkt *p);
/* Whether an action may go back once more; if not, the packet is dropped. */
bool sw_again(sw_engine *e, sw_pkt *p);

/* For a parser: whether fewer than `n` octets are left. */
#define SW_TOO_SHORT(n) \
    (len - off < (n) && (!sw_pkt_whole(e, p) || (d = sw_data(p), len = sw_size(p), len - off < (n))))

SW_INLINE void sw_count(sw_counter *c, const sw_pkt *p)
{
    c->packets++;
    c->octets += p->ingress_len;
}
SW_INLINE void sw_hit(const sw_engine *e, sw_entry *n, const sw_pkt *p)
{
    sw_count(&n->counter, p);
    n->last_hit_ns = e->now_ns;
}
/* The member a hash selects; NULL when the group is empty. */
SW_INLINE const sw_member *sw_select(const sw_group *g, uint64_t hash)
{
    return g->size ? g->members[(uint32_t)hash % g->size] : NULL;
}
#endif
