/* The simulation: what acts, when it acts next, and the links between nodes. */
#ifndef LAB_CORE_H
#define LAB_CORE_H

#include "lab_api.h"
#include "lab_list.h"

#define LAB_NEVER UINT64_MAX
#define LAB_PORTS 512u
#define LAB_UNLIKELY(x) __builtin_expect(!!(x), 0)

typedef struct lab_host lab_host;
typedef struct lab_switch lab_switch;
typedef struct lab_pfc lab_pfc;
typedef struct lab_red lab_red;
typedef struct lab_impairment lab_impairment;
typedef struct lab_jobs lab_jobs;
typedef struct lab_depth lab_depth;
typedef struct lab_tcp lab_tcp;

/* Every node and every direction of a link acts by itself; its number decides between two that
 * are due at the same time, so it must not depend on anything but the order of construction. */
enum lab_kind { LAB_SWITCH, LAB_HOST, LAB_LINK, LAB_PFC };

typedef struct {
    enum lab_kind kind;
    uint32_t number; /* its own, among all that act */
    void *thing;     /* lab_switch, lab_host, lab_link or lab_pfc */
} lab_actor;

/* Who acts when. */
typedef struct {
    uint64_t at;
    uint32_t number;
} lab_due;

/* What a host with queue pairs uses when it acts: its role, the link it sends on, and the queue pair
 * that sends next. NULL: nothing beside itself. */
typedef struct {
    const void *role, *out, *pair;
    size_t pair_octets;
} lab_uses;

/* A frame on a link, when it arrives, and its first octet. */
typedef struct {
    uint64_t at;
    sw_frame *frame;
    const uint8_t *octets;
} lab_flying;

/* One direction of a link. */
typedef struct {
    lab_actor actor;
    lab *lab;
    const lab_actor *to;
    uint32_t to_port;
    uint32_t direction; /* its number among the directions */
    uint64_t delay_ns;
    bool up, tapped;
    uint32_t tap_kinds, tap_snap;
    lab_flying *ring; /* of `mask + 1`: those from `first` up to `next` */
    uint32_t mask, first, next;
    lab_link_stats stats; /* in_flight is not kept up */
    lab_impairment *impairment; /* NULL: none */
} lab_link;

struct lab_switch {
    lab_actor actor;
    lab *lab;
    const sw_sim_api *api;
    sw_engine *engine; /* NULL: it is off */
    const uint32_t *waiting_events;
    bool listens;
    uint64_t unlinked, off_drops;
    lab_link *links[LAB_PORTS];
    lab_pfc *pfc[LAB_PORTS]; /* NULL: no flow control */
    lab_red *red[LAB_PORTS]; /* NULL: marking is the program's */
    lab_depth *depths;       /* of queues that are measured */
};

struct lab {
    uint64_t now, seed, hops;
    uint64_t meet_at; /* number of the frame that is met; 0: none */
    lab_meeting *meet;
    uint64_t acts; /* that runs did */
    uint16_t fast_cnp_port; /* UDP destination port by which taps know Fast CNPs */
    bool stopped; /* a switch that is listened to has an event */
    /* Tournament of due times by fours: tree[i] is the first to act of tree[4 * i] and the three behind
     * it, tree[leaves + i] is actor i. The root is tree[1]; `leaves` is a power of four. */
    lab_due *tree;
    uint32_t leaves;
    lab_actor **actors;
    lab_uses *uses; /* of each actor */
    uint32_t n_actors;
    lab_actor **nodes;
    uint32_t n_nodes;
    lab_link **links; /* by direction */
    uint32_t n_links;
    sw_pool pool;
    bool keep_digest;
    uint64_t digest;
    uint64_t zeros[SW_FRAME_CLASSES * SW_FRAME_STEP / SW_FAR + 1]; /* what as many pairs of zeros, from the end of a frame on, add to it */
    uint8_t *tapped;
    size_t tapped_size, tapped_cap;
    uint64_t tapped_lost;
    lab_list completions, notices, pauses;
    lab_jobs *jobs; /* NULL: none */
    lab_tcp **tcp;
    uint32_t n_tcp;
};

/* Give an actor its number; false without memory. */
bool lab_add_actor(lab *l, lab_actor *a, enum lab_kind kind, void *thing);
/* Make it a node, too; its number among the nodes or LAB_ERR_MEMORY. */
int64_t lab_add_node(lab *l, lab_actor *a, enum lab_kind kind, void *thing);
/* The actor acts next at `due`. */
void lab_schedule(lab *l, uint32_t number, uint64_t due);
/* A frame whose last bit leaves at `at` goes onto a link, or is lost where there is none. */
void lab_link_put(lab_link *link, uint64_t at, sw_frame *f);
/* What links do to each frame they deliver, when asked to. */
void lab_record(lab *l, const lab_link *link, const sw_frame *f);
void lab_link_act(lab_link *link);
/* Lose what is on the link. */
void lab_link_clear(lab_link *link);
void lab_switch_free(lab_switch *s);
/* A switch; the engine was given something to do. */
void lab_switch_reschedule(const lab_switch *s);
void lab_switch_arrive(lab_switch *s, uint64_t now, uint32_t port, sw_frame *f);
void lab_switch_act(lab_switch *s);
/* NULL when it is no switch, or no host. */
lab_switch *lab_switch_of(const lab *l, uint32_t node);
lab_host *lab_host_of(const lab *l, uint32_t node);

/* Hosts; see lab_host.h. */
void lab_host_arrive(lab_host *h, uint64_t now, sw_frame *f);
void lab_host_act(lab_host *h, uint64_t now);
void lab_host_attach(lab_host *h, lab_link *out);
void lab_host_free(lab_host *h);
#endif
