/* What a packet passes, written down while it does: only in programs built for it (codegen/points.py).
 * The others have the same layout of engine and packets, so that either can go on with the other's. */
#ifndef SW_TRACE_H
#define SW_TRACE_H

#include "sw_ctl.h"

#ifdef SW_TRACED
#define SW_TRACE(call) call
#else
#define SW_TRACE(call) ((void)0)
#endif

#ifdef SW_TRACED

/* What happened; what its record has beside the packet's number: `arg`, `extra`, payload. */
enum sw_trace_kind {
    SW_T_BEGIN = 1, /* port, time, octets of the frame */
    SW_T_COPY,      /* enum sw_trace_copy, number of the original | session, instance or list << 32 */
    SW_T_PASS,      /* enum sw_trace_part, time, words of headers and metadata that are not 0 */
    SW_T_CHANGES,   /* -, -, words that are others now */
    SW_T_POINT,     /* number of the point */
    SW_T_TABLE,     /* number of the point, -, sw_trace_lookup and what it names */
    SW_T_CELL,      /* number of the point, index, octets of the register's cell as they are stored */
    SW_T_QUEUED,    /* port, time, queue and its depth (two words of 32 bits) */
    SW_T_SENT,      /* port, time, octets of the frame */
    SW_T_END,       /* enum sw_end, time */
    SW_T_NOTE,      /* enum sw_trace_note, number */
    SW_T_CUT        /* the story is too long: what follows of this packet is not told */
};
enum sw_trace_copy { SW_T_CLONE_I2E = 1, SW_T_CLONE_E2E, SW_T_REPLICA, SW_T_RESUBMIT, SW_T_RECIRCULATE };
enum sw_trace_part { SW_T_PARSER, SW_T_EGRESS };
enum sw_trace_note { SW_T_NO_SESSION = 1, SW_T_DIGEST, SW_T_GROUP, SW_T_PARSER_ERROR, SW_T_DEPARSER };

typedef struct {
    uint32_t size, kind, packet, arg; /* size: octets of the payload, which is padded to 8 */
    uint64_t extra;
} sw_trace_record;

/* Followed by the key that was looked up, the entry's key, mask and high (`words` each, as far as
 * `has` says so) and its arguments, big-endian in whole octets. */
typedef struct {
    uint32_t words, action, handle;
    int32_t priority;
    uint32_t prefix_len, has, arguments, chosen; /* chosen: slot of the group's member or the member */
} sw_trace_lookup;
enum { SW_T_HAS_ENTRY = 1, SW_T_HAS_MASK = 2, SW_T_HAS_HIGH = 4, SW_T_OF_MEMBER = 8, SW_T_OF_GROUP = 16 };

typedef struct sw_trace {
    uint8_t *records;
    uint32_t size, cap;
    uint32_t first;          /* packets up to this number are of an earlier trace */
    uint32_t story_cap;      /* octets of one story */
    uint32_t limit;          /* stories */
    uint32_t begun, live;    /* stories, packets of theirs that are inside */
    uint64_t passed, lost;   /* packets that the filter let pass; records without room */
    uint32_t *story_octets;
    sw_trace_test *tests;
    uint32_t n_tests;
    uint32_t undo;           /* where the records of a story begin that may be forgotten */
    uint32_t shadow_of;      /* whose headers and metadata `shadow` has */
    uint64_t shadow[];
} sw_trace;

SW_INLINE bool sw_traced(const sw_engine *e, const sw_pkt *p)
{
    return SW_UNLIKELY(p->trace) && e->trace && p->trace > e->trace->first;
}

/* The packet begins a pass through parser and ingress; not told of it begins a story, maybe. */
void sw_trace_pass(sw_engine *e, sw_pkt *p);
/* It is parsed; a story that the filter does not want is forgotten. */
void sw_trace_parsed(sw_engine *e, sw_pkt *p);
void sw_trace_egress(sw_engine *e, sw_pkt *p);
/* What has changed since the last record belongs to what was told last. */
void sw_trace_flush(sw_engine *e, const sw_pkt *p);
void sw_trace_copied(sw_engine *e, const sw_pkt *p, sw_pkt *c, enum sw_trace_copy how, uint32_t by);
void sw_trace_point(sw_engine *e, sw_pkt *p, uint32_t point);
void sw_trace_table(sw_engine *e, sw_pkt *p, uint32_t point, const uint64_t *key, unsigned words,
                    const sw_entry *n, bool hit, uint32_t action, const void *data);
void sw_trace_cell(sw_engine *e, sw_pkt *p, uint32_t point, uint64_t index, const void *cell,
                   uint32_t size);
void sw_trace_queued(sw_engine *e, const sw_pkt *p, uint32_t port, uint32_t queue, uint32_t depth);
void sw_trace_sent(sw_engine *e, const sw_pkt *p, uint32_t port, uint64_t at);
void sw_trace_end(sw_engine *e, sw_pkt *p, enum sw_end why);
void sw_trace_note(sw_engine *e, const sw_pkt *p, enum sw_trace_note note, uint64_t number);
#endif
#endif
