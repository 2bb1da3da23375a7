/* What Python calls of the laboratory. The text between the CDEF marks, here and in headers of
 * hosts/roce, is also declared to cffi by `make ffi`, so it must be plain C. Times are nanoseconds
 * since the start of the simulation. */
#ifndef LAB_API_H
#define LAB_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "requester.h"
#include "sw_frame.h"

/* BEGIN CDEF */
/* Results: a number, 0 when done, otherwise one of these. */
enum {
    LAB_ERR_MEMORY = -1,
    LAB_ERR_NODE = -2,
    LAB_ERR_PORT = -3,
    LAB_ERR_TIME = -4,
    LAB_ERR_QP = -5,
};

typedef struct lab lab;

/* Frames of one direction of a link: put = delivered + cut + errors + in_flight. */
typedef struct {
    uint64_t put, put_octets, delivered, cut, errors, in_flight;
} lab_link_stats;

/* Frames of a host: made = sent + queued. */
typedef struct {
    uint64_t made, sent, sent_octets, queued;
    uint64_t received, received_octets;
    uint64_t overflowed; /* of these, lost because its memory was full */
    uint64_t unlinked; /* sent while it had no link */
    /* Of received frames that a host made: number, sum, least and greatest time since. */
    uint64_t timed, delay_sum_ns, delay_min_ns, delay_max_ns;
} lab_host_stats;

/* fast_cnp_port: UDP destination port by which taps know Fast CNPs. */
lab *lab_new(uint64_t seed, uint16_t fast_cnp_port);
/* Everything but the engines, which must be closed before. */
void lab_free(lab *l);

/* A node's number. A switch without an engine is off: it loses what arrives. */
int64_t lab_add_switch(lab *l);
/* Give a switch an engine, in the place of any other, or none (NULL). Engines are closed after
 * another took their place and before the laboratory is freed; what waits in one is lost with it. */
int64_t lab_set_engine(lab *l, uint32_t node, const sw_sim_api *api, sw_engine *e);
int64_t lab_add_host(lab *l);
/* A host's line. rate_bps 0: frames take no time. overhead: octets of a frame on the wire beyond
 * its own. */
int64_t lab_set_line(lab *l, uint32_t node, uint64_t rate_bps, uint32_t overhead);
/* The link's number; its direction from `a` is twice this, the other one more. Hosts have port 0. */
int64_t lab_connect(lab *l, uint32_t a, uint32_t a_port, uint32_t b, uint32_t b_port,
                    uint64_t delay_ns);
/* Frames of both directions take up to `jitter` longer, at random, and do not overtake each other. One
 * bit in `bits_per_error` is wrong, at random: its frame is lost to the check sequence. 0: none. */
int64_t lab_set_impairment(lab *l, uint32_t link, uint64_t jitter, uint64_t bits_per_error);
/* A link that is down loses what is on it and what is sent. */
int64_t lab_set_link(lab *l, uint32_t link, bool up);

/* Whether a run ends when the switch has an event for its control plane; not with a new engine. */
int64_t lab_listen(lab *l, uint32_t node, bool listens);
/* Whether it has one. */
bool lab_has_event(const lab *l, uint32_t node);

/* Do all that is due until `until`, or until a switch that is listened to has an event; the time
 * reached. */
uint64_t lab_run(lab *l, uint64_t until);
/* Where the virtual time is. */
const uint64_t *lab_clock(const lab *l);
/* Whether the last run ended for an event: not all that is due at its end was done. */
bool lab_stopped(const lab *l);
/* UINT64_MAX: nothing will happen. */
uint64_t lab_next_due(lab *l);

/* Send frames from a host, one after another from the list, `count` of them in all (0: for ever).
 * mean_ps: time between them in picoseconds, that of a Poisson process if `poisson`. */
int64_t lab_send_series(lab *l, uint32_t node, uint64_t start, uint64_t mean_ps, bool poisson,
                        uint64_t count, uint32_t n, const uint32_t *lengths,
                        const uint8_t *octets);
/* One frame, now. */
int64_t lab_send_frame(lab *l, uint32_t node, uint32_t len, const uint8_t *octets);

/* A RoCEv2 host. Of params, `remote` is that of each connection, and a line rate of 0 that of the
 * host's link. */
typedef struct {
    struct requester_params params;
    uint8_t mac[6], gateway_mac[6];
    uint64_t cnp_interval;
    int64_t first_psn; /* of connections it opens; below 0: at random */
    /* Queue pairs of the first connection it opens, and of the first it accepts; others follow. */
    uint32_t first_qp, first_accepted_qp;
} lab_roce_options;

/* Of a connection a host opened. state: UNCONNECTED, CONNECTING, CONNECTED, DISCONNECTING, CLOSED,
 * FAILED, from 0. */
typedef struct {
    uint32_t state, local_qp, remote_qp;
    double rate_bps, target_bps, alpha;
    uint64_t packets, octets, retransmitted, acknowledged, highest;
    uint64_t acks, naks, timeouts, cnps, cuts;
} lab_requester_stats;

/* Of a connection a host accepted. */
typedef struct {
    uint32_t local_qp, remote_qp;
    uint64_t packets, octets, payload, messages, marked, cnps, naks, beyond_gap, repeated;
} lab_responder_stats;

/* Of a host: packets that none of its connections took, by reason. */
typedef struct {
    uint64_t not_roce, bad_length, bad_checksum, bad_icrc, not_ours, unknown_qp;
} lab_roce_refused;

/* A message all of whose packets were acknowledged. start: when it could be sent. */
typedef struct {
    uint32_t node, connection;
    uint64_t id, size, start, completed;
} lab_completion;

/* Connections that a host accepts: a flood of requests ends there. */
#define LAB_MAX_ACCEPTED 4096
int64_t lab_roce(lab *l, uint32_t node, const lab_roce_options *options);
/* The number of a new connection, opened by the connection manager at `at`. */
int64_t lab_roce_connect(lab *l, uint32_t node, const uint8_t *address, uint64_t at);
int64_t lab_roce_post(lab *l, uint32_t node, uint32_t connection, uint64_t id, uint64_t size,
                      uint64_t start);
int64_t lab_roce_disconnect(lab *l, uint32_t node, uint32_t connection);
int64_t lab_roce_requester(lab *l, uint32_t node, uint32_t connection, lab_requester_stats *out);
/* LAB_ERR_NODE when there is no such connection. */
int64_t lab_roce_responder(const lab *l, uint32_t node, uint32_t connection,
                           lab_responder_stats *out);
int64_t lab_roce_refused_of(const lab *l, uint32_t node, lab_roce_refused *out);
/* Completions of all hosts since the last call, in order; how many were copied. */
size_t lab_completions(const lab *l);
size_t lab_take_completions(lab *l, lab_completion *out, size_t n);

/* TCP from one host to another beside what they do else, from `start` on: NewReno with a timer (RFC 5681,
 * 6582, 6298) and, where `ecn`, RFC 3168. It exists without handshakes. All segments have `mss` octets, the
 * windows are in segments, and `window` times `mss` is below 2^31. segments: to be sent in all. */
typedef struct {
    uint8_t mac[6], gateway_mac[6], address[16];
} lab_tcp_end;
typedef struct {
    lab_tcp_end source, target;
    uint8_t version, dscp;
    bool ecn;
    uint32_t mss, window, first_window;
    uint64_t segments, start, min_rto;
} lab_tcp_flow;
/* completed: when all was acknowledged; 0: not yet. marked: segments with CE that arrived. */
typedef struct {
    double window;
    uint64_t sent, resent, acknowledged, marked, cuts, timeouts, completed;
} lab_tcp_stats;
#define LAB_TCP_PORT 5001
/* The number of the flow. */
int64_t lab_tcp_add(lab *l, uint32_t from, uint32_t to, const lab_tcp_flow *flow);
int64_t lab_tcp_stats_of(const lab *l, uint32_t flow, lab_tcp_stats *out);

/* Jobs: tasks that wait for others, exactly. A task's time is `duration`, from when all that it waits
 * for is done, and not before `start`. A message is sent at the end of that time, behind those that its
 * connection was given before, and done when its receiver took all of it; other tasks are done when
 * their time is over. Connections of jobs have no other messages. */

/* The number of a connection for messages of jobs: of the host that opened it and of the one that
 * accepted it. */
int64_t lab_job_channel(lab *l, uint32_t node, uint32_t connection, uint32_t receiver,
                        uint32_t responder);
/* The number of a new task: time alone, or time and a message. */
int64_t lab_job_time(lab *l, uint64_t start, uint64_t duration);
int64_t lab_job_message(lab *l, uint32_t channel, uint64_t id, uint64_t size, uint64_t start,
                        uint64_t duration);
/* A task waits for one that was added before it. */
int64_t lab_job_after(lab *l, uint32_t task, uint32_t before);
/* Begin what waits for nothing. */
int64_t lab_job_begin(lab *l);
/* LAB_ERR_MEMORY when there was no memory for a message, so that what waits for it waits for ever. */
int64_t lab_job_check(const lab *l);

/* When its time began, or of a message when it could be sent, and when it was done; UINT64_MAX: not
 * yet. */
typedef struct {
    uint64_t begun, done;
} lab_task_times;

int64_t lab_job_times(const lab *l, uint32_t task, lab_task_times *out);

/* Flow control by priority (IEEE 802.1Qbb) of a port. It honours PAUSE frames, and sends them for
 * what it received and still has in memory: of a switch all that has not left it, of a host what its
 * drain has not taken yet. */
typedef struct {
    uint64_t rate_bps;        /* of the line, above 0 */
    uint64_t drain_bps;       /* of a host; 0: at once */
    uint32_t xoff, xon, size; /* octets, of a switch per priority; size 0: no memory is counted */
    uint16_t quanta;          /* of the PAUSE frames sent, which are repeated after half of them */
    uint8_t priorities;       /* bit per priority */
    uint8_t queue;            /* of a switch: in which packets of these priorities wait */
} lab_pfc_options;

/* PAUSE frames sent and received; octets in memory, the most so far, frames there was no room for. */
typedef struct {
    uint64_t sent, received, octets, peak, dropped;
} lab_pfc_stats;

/* A PAUSE for one priority that a node sent, or received and honours; 0 quanta: it ends. */
typedef struct {
    uint64_t time, duration;
    uint32_t node, port;
    uint16_t quanta;
    uint8_t priority, sent;
} lab_pause;

int64_t lab_set_pfc(lab *l, uint32_t node, uint32_t port, const lab_pfc_options *options);
int64_t lab_pfc_stats_of(const lab *l, uint32_t node, uint32_t port, lab_pfc_stats *out);
/* As notices are kept and taken. */
void lab_keep_pauses(lab *l, size_t most);
size_t lab_pauses(const lab *l);
size_t lab_take_pauses(lab *l, lab_pause *out, size_t n);
uint64_t lab_pauses_lost(const lab *l);

/* Random early detection at a switch's port: packets that are ECN-capable are marked with CE as they
 * leave more than kmin octets behind, with a probability that grows to pmax (in units of 2^-32) at
 * kmax, and all of them beyond. kmin <= kmax. */
int64_t lab_set_red(lab *l, uint32_t node, uint32_t port, uint32_t kmin, uint32_t kmax,
                    uint64_t pmax);

int64_t lab_link_stats_of(const lab *l, uint32_t direction, lab_link_stats *out);
int64_t lab_host_stats_of(const lab *l, uint32_t node, lab_host_stats *out);
/* Frames a switch sent on ports that have no link, and frames that arrived while it was off. */
uint64_t lab_switch_unlinked(const lab *l, uint32_t node);
uint64_t lab_switch_off_drops(const lab *l, uint32_t node);
/* Measure the queues of a switch's port, all together, from now on. */
int64_t lab_measure_depth(lab *l, uint32_t node, uint32_t port);

/* The most in them since then, for however short a time, and the means over time. */
typedef struct {
    uint64_t most_packets, most_octets;
    double mean_packets, mean_octets;
} lab_depth_stats;

/* LAB_ERR_PORT when they are not measured. */
int64_t lab_depth_of(const lab *l, uint32_t node, uint32_t port, lab_depth_stats *out);
/* Forget the times of received frames, to measure from now on. */
int64_t lab_reset_delays(lab *l, uint32_t node);
/* Frames that exist outside the engines' buffers of unused ones. */
uint64_t lab_frames_in_use(const lab *l);
/* Call `meet` as frame `number` arrives, before anything is done with it. Frames that links deliver
 * are numbered from 1, over all links; `direction` is the link's. */
typedef void lab_meeting(uint32_t direction);
void lab_meet(lab *l, uint64_t number, lab_meeting *meet);
/* Packet-hops: frames that links delivered. */
uint64_t lab_hops(const lab *l);

/* What happened at a RoCEv2 host; what, value and peer as in hosts/roce/src/notice.h. connection: of
 * those it opened or of those it accepted, as `what` says. version: of the peer's address. by_switch:
 * the CNP was made by a switch, whatever its source address says. */
typedef struct {
    uint64_t time, value;
    uint32_t node, connection;
    uint16_t what;
    uint8_t version, by_switch;
    uint8_t peer[16];
} lab_notice;

/* Keep notices, at most so many that were not taken; 0 (at first): none. */
void lab_keep_notices(lab *l, size_t most);
/* Notices since the last call, in order; how many were copied. */
size_t lab_notices(const lab *l);
size_t lab_take_notices(lab *l, lab_notice *out, size_t n);
/* For which there was no room, since the start. */
uint64_t lab_notices_lost(const lab *l);

/* What a frame is by its outer and inner headers: any of its IP headers has CE; it is a Fast CNP; it
 * is a CNP. */
enum { LAB_KIND_MARKED = 1, LAB_KIND_FAST_CNP = 2, LAB_KIND_CNP = 4, LAB_KIND_END_CON_CNP = 8 };

/* What can be looked at: of a switch as SW_LOOK_… in sw_frame.h, and frames that came while it was
 * off; of a direction of a link; of connection `a` of a host (LAB_LOOK_RATE is a double). */
enum {
    LAB_LOOK_COUNTER,
    LAB_LOOK_QUEUED,
    LAB_LOOK_QUEUED_OCTETS,
    LAB_LOOK_BALANCE,
    LAB_LOOK_OFF_DROPS,
    LAB_LOOK_PUT,
    LAB_LOOK_PUT_OCTETS,
    LAB_LOOK_CUT,
    LAB_LOOK_RATE,
    LAB_LOOK_ACKNOWLEDGED,
    LAB_LOOK_OCTETS,
};

/* number: of the node or direction. base: what is added. */
typedef struct {
    uint32_t what, number, a, b;
    uint64_t base;
} lab_probe;

/* Look at n values, which become a row; those of a switch that is off are those of the row before
 * it. */
void lab_look(lab *l, size_t n, const lab_probe *probes, uint64_t *row);

/* A value that a look found changed: when, and of which probe. */
typedef struct {
    uint64_t time, probe, value;
} lab_change;

/* Looks at n probes, of which only changes are noted. last: their values. due: of the next look;
 * the others follow every `every` until before `end`. before: looks due then or later wait. */
typedef struct {
    const lab_probe *probes;
    size_t n;
    uint64_t *last;
    lab_change *changes;
    size_t noted, room;
    uint64_t due, every, end, before;
} lab_watch;

/* Note what is not as it was. The room is for one change of each probe at least. */
void lab_note(lab *l, lab_watch *w);
/* As lab_run, with the looks that are due until then. It ends earlier where the next look might find
 * no room, and after the last look. */
uint64_t lab_run_noting(lab *l, uint64_t until, lab_watch *w);

/* Keep copies of the frames that a link direction delivers: those of one of the kinds (0: of all),
 * their first `snap` octets, at most `octets` of memory more than before. */
int64_t lab_tap(lab *l, uint32_t direction, uint32_t kinds, uint32_t snap, size_t octets);
/* Records of all taps: time (8 octets), direction, length of the frame, kinds, length kept (4 each),
 * the first octets of the frame, padded to 8. */
size_t lab_tapped_size(const lab *l);
size_t lab_tapped_take(lab *l, uint8_t *out, size_t cap);
uint64_t lab_tapped_lost(const lab *l);
/* Whether the digest is kept: a number that two runs share when every link delivered the same
 * octets at the same times in the same order. */
void lab_keep_digest(lab *l, bool keep);
uint64_t lab_digest(const lab *l);
/* END CDEF */
#endif
