/* The control-plane interface; every function takes the engine's lock. The text between the CDEF
 * marks is also declared to cffi by `make ffi`, so it must be plain C. */
#ifndef SW_CTL_H
#define SW_CTL_H

#include "sw_core.h"

/* BEGIN CDEF */
/* Results: a handle or 0 when done, otherwise one of these. */
enum {
    SW_ERR_EXISTS = -1,
    SW_ERR_FULL = -2,
    SW_ERR_NOT_FOUND = -3,
    SW_ERR_ACTION = -4,
    SW_ERR_MEMORY = -5,
    SW_ERR_INDEX = -6,
    SW_ERR_SYSTEM = -7
};

typedef struct {
    uint32_t target;        /* 0 action, 1 member, 2 group */
    uint32_t id;            /* of the action, or slot of the member or group */
    const uint8_t *args;    /* big-endian, each in whole octets */
    uint32_t n_args;        /* octets */
    uint64_t timeout_ns;
} sw_action_ref;

typedef struct {
    uint64_t rx_packets, rx_octets, tx_packets, tx_octets, queue_drops;
    uint64_t queue_depth, queue_peak, queue_octets, queue_octets_peak;
} sw_port_stats;

typedef struct {
    uint64_t lost_events, oversize_drops, input_drops, growth_drops, gso_drops, no_memory_drops;
    uint64_t loop_drops;
    uint64_t failed_assertions, tx_errors, rx_ring_drops, capture_drops;
} sw_engine_stats;

/* Packets since the start: received + copied is the sum of all others. */
typedef struct {
    uint64_t received, copied;
    uint64_t refused; /* not taken in, and not received */
    uint64_t sent, to_cpu, replaced;
    uint64_t ingress_drops, egress_drops, queue_full_drops, no_queue_drops, no_link_drops;
    uint64_t buffer_full_drops, ingress_full_drops, input_full_drops, failed_drops;
    uint64_t held; /* waiting in queues and on wires now */
} sw_balance;

/* A test of a field at an offset, of a header that is valid where phv[valid] is not 0 (UINT32_MAX: it
 * always is), with value and mask as this machine stores them; `at` UINT32_MAX: of the port. */
typedef struct {
    uint32_t group, at, size, valid;
    uint8_t value[16], mask[16];
} sw_trace_test;

/* Octets to be taken, stories and packets of theirs that are inside, packets that no story is told
 * of, records without room. */
typedef struct {
    uint32_t size, stories, live;
    uint64_t passed, lost;
} sw_trace_state;

SW_API sw_engine *sw_engine_new(uint32_t cpu_port, uint32_t drop_port, uint32_t queues, bool memory,
                         int event_fd);
SW_API void sw_engine_free(sw_engine *e);
/* Before this code goes on with an engine that other code of the same program made. */
SW_API void sw_ctl_adopt(sw_engine *e);

SW_API void sw_ctl_inject(sw_engine *e, uint32_t port, const uint8_t *data, uint32_t len);
SW_API void sw_ctl_advance(sw_engine *e, uint64_t ns);
SW_API uint64_t sw_ctl_now(sw_engine *e);
SW_API uint64_t sw_ctl_next_due(sw_engine *e);
/* Octets of buffered output; take copies and removes whole records of port, time and frame. */
SW_API size_t sw_ctl_out_size(sw_engine *e);
SW_API size_t sw_ctl_out_take(sw_engine *e, uint8_t *dst, size_t cap);
SW_API size_t sw_ctl_events_size(sw_engine *e);
SW_API size_t sw_ctl_events_take(sw_engine *e, uint8_t *dst, size_t cap);

SW_API int64_t sw_ctl_table_add(sw_engine *e, uint32_t table, const uint64_t *key, const uint64_t *mask,
                         const uint64_t *high, uint32_t prefix_len, int32_t priority,
                         const sw_action_ref *a);
SW_API int64_t sw_ctl_table_modify(sw_engine *e, uint32_t table, uint32_t handle, const sw_action_ref *a);
SW_API int64_t sw_ctl_table_delete(sw_engine *e, uint32_t table, uint32_t handle);
SW_API int64_t sw_ctl_table_default(sw_engine *e, uint32_t table, const sw_action_ref *a);
SW_API int64_t sw_ctl_idle_ns(sw_engine *e, uint32_t table, uint32_t handle);
/* Handle UINT32_MAX is the default entry. */
SW_API int64_t sw_ctl_direct_counter(sw_engine *e, uint32_t table, uint32_t handle, bool write,
                              uint64_t *packets, uint64_t *octets);
SW_API int64_t sw_ctl_direct_meter(sw_engine *e, uint32_t table, uint32_t handle, bool set,
                            const uint64_t *rates);

SW_API int64_t sw_ctl_member_set(sw_engine *e, uint32_t slot, uint32_t action, const uint8_t *args,
                          uint32_t n_args);
SW_API int64_t sw_ctl_member_drop(sw_engine *e, uint32_t slot);
SW_API int64_t sw_ctl_group_set(sw_engine *e, uint32_t slot, uint32_t n, const uint32_t *members);
SW_API int64_t sw_ctl_group_drop(sw_engine *e, uint32_t slot);

SW_API int64_t sw_ctl_counter(sw_engine *e, uint32_t counter, uint32_t index, bool write,
                       uint64_t *packets, uint64_t *octets);
/* rates: cir, cburst, pir, pburst. */
SW_API int64_t sw_ctl_meter(sw_engine *e, uint32_t meter, uint32_t index, bool set,
                     const uint64_t *rates);
/* value: 16 octets, big-endian. */
SW_API int64_t sw_ctl_register(sw_engine *e, uint32_t reg, uint32_t index, bool write, uint8_t *value);

SW_API int64_t sw_ctl_session_set(sw_engine *e, uint32_t id, uint32_t n, const uint32_t *ports,
                           const uint32_t *instances, uint32_t class_of_service,
                           uint32_t truncate);
SW_API int64_t sw_ctl_session_drop(sw_engine *e, uint32_t id);
SW_API int64_t sw_ctl_mgroup_set(sw_engine *e, uint32_t id, uint32_t n, const uint32_t *ports,
                          const uint32_t *instances);
SW_API int64_t sw_ctl_mgroup_drop(sw_engine *e, uint32_t id);

/* depth UINT32_MAX leaves it unchanged. */
SW_API int64_t sw_ctl_port_queue(sw_engine *e, uint32_t port, uint32_t depth, uint64_t rate_pps,
                          uint64_t rate_bps, uint64_t delay_ns);
/* Octets a frame takes on the wire beyond its own, which count for rate_bps. */
SW_API int64_t sw_ctl_port_overhead(sw_engine *e, uint32_t port, uint32_t octets);
/* Octets each queue of a port holds, and all queues of all ports together; 0: unlimited. */
SW_API int64_t sw_ctl_port_buffer(sw_engine *e, uint32_t port, uint32_t octets);
SW_API void sw_ctl_buffer(sw_engine *e, uint64_t octets);
/* What the program's random numbers follow from, from now on. */
SW_API void sw_ctl_seed(sw_engine *e, uint64_t seed);
SW_API int64_t sw_ctl_port_stats(sw_engine *e, uint32_t port, sw_port_stats *out);
SW_API bool sw_ctl_port_up(sw_engine *e, uint32_t port);
SW_API void sw_ctl_stats(sw_engine *e, sw_engine_stats *out);
SW_API void sw_ctl_balance(sw_engine *e, sw_balance *out);
/* For simulations; see sw_frame.h. */
SW_API const sw_sim_api *sw_ctl_sim_api(void);

/* Of each point whether a packet passed it; only in a program that was built with them. */
extern uint8_t sw_seen[];

/* For stories of packets, only in a program that was built for them; see sw_trace.h. */
/* Where each field is in the headers and metadata, and its octets, by header and field of the model. */
extern const uint32_t sw_fields[][2];
SW_API int64_t sw_ctl_trace_start(sw_engine *e, const sw_trace_test *tests, uint32_t n,
                                  uint32_t stories, uint32_t story_octets, uint32_t octets);
SW_API void sw_ctl_trace_stop(sw_engine *e);
SW_API void sw_ctl_trace_look(sw_engine *e, sw_trace_state *out);
SW_API size_t sw_ctl_trace_take(sw_engine *e, uint8_t *dst, size_t cap);

/* Interfaces and the thread that serves them. On SW_ERR_SYSTEM errno is set. */
SW_API int64_t sw_ctl_port_attach(sw_engine *e, uint32_t port, const char *ifname);
/* Write what an attached port receives and sends to these files, which stay the caller's. */
SW_API int64_t sw_ctl_port_keep(sw_engine *e, uint32_t port, int in, int out);
SW_API int64_t sw_ctl_port_detach(sw_engine *e, uint32_t port);
SW_API int64_t sw_ctl_start(sw_engine *e);
/* Stop forwarding until sw_ctl_start(); ports stay open and frames wait in their rings. */
SW_API void sw_ctl_pause(sw_engine *e);
SW_API void sw_ctl_stop(sw_engine *e);
/* END CDEF */

void sw_lock(sw_engine *e);
void sw_unlock(sw_engine *e);
/* Advance e->now_ns to the wall clock and process what has become due. */
void sw_catch_up(sw_engine *e);
uint64_t sw_clock_ns(void);
/* Wake the packet thread. */
void sw_wake(sw_engine *e);
/* If it sleeps for longer than it may now; the caller holds the lock. To wake it takes longer than to add an entry. */
void sw_wake_if_due(sw_engine *e);
#endif
