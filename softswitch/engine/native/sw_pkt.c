/* Packets and the frames they are made of. */
#include "sw_trace.h"

#include <stdlib.h>

/* More packets. Their memory is cleared: reset() clears no more than what a packet changed. */
static bool grow(sw_engine *e)
{
    /* An odd number of cache lines, as frames have. */
    size_t n, size = ((sizeof(sw_pkt) + prog->phv_size + 63) & ~(size_t)127) + 64;
    uint8_t *memory = sw_slab_take(&e->pkt_slabs, size, &n);
    if (!memory)
        return false;
    while (n) {
        sw_pkt *p = (sw_pkt *)(void *)(memory + --n * size);
        memset(p, 0, size);
        p->next = e->free_pkts;
        e->free_pkts = p;
    }
    return true;
}

/* A packet without a frame; headers are not reset. */
static sw_pkt *pkt_new(sw_engine *e)
{
    if (SW_UNLIKELY(!e->free_pkts) && !grow(e))
        return NULL;
    sw_pkt *p = e->free_pkts;
    e->free_pkts = p->next;
    p->truncated = SW_NO_TRUNCATION;
    SW_TRACE(p->trace = 0);
    p->exit = p->dropped = p->checksum_error = p->came_round = false;
    p->parser_error = p->copies = p->repetitions = p->charge = 0;
    p->clone_session = p->clone_list = p->learn_list = p->resubmit_list = p->recirculate_list = 0;
    return p;
}

static void set_frame(sw_pkt *p, sw_frame *f)
{
    p->frame = f;
    p->buf = f->data;
    p->head = f->head;
}

sw_pkt *sw_pkt_of(sw_engine *e, sw_frame *f)
{
    sw_pkt *p = pkt_new(e);
    if (!p) {
        e->no_memory_drops++;
        sw_frame_give(e->pool, f);
        return NULL;
    }
    set_frame(p, f);
    p->len = f->len;
    return p;
}

sw_pkt *sw_pkt_with(sw_engine *e, const uint8_t *data, uint32_t len, uint32_t gap)
{
    if (len > SW_MAX_FRAME + SW_HEADROOM) {
        e->oversize_drops++;
        return NULL;
    }
    sw_frame *f = sw_frame_take_short(e->pool, len, gap, SW_COPY_ROOM);
    if (!f) {
        e->no_memory_drops++;
        return NULL;
    }
    memcpy(f->data + f->head, data, len - gap);
    return sw_pkt_of(e, f);
}

bool sw_pkt_whole(sw_engine *e, sw_pkt *p)
{
    if (!p->frame->gap)
        return false;
    sw_frame *whole = sw_frame_take(e->pool, p->len, SW_COPY_ROOM);
    if (!whole) {
        e->no_memory_drops++;
        p->dropped = true;
        return false;
    }
    sw_octets(whole->data + whole->head, sw_data(p), p->len, p->frame->gap, p->len);
    whole->born = p->frame->born;
    sw_frame_give(e->pool, p->frame);
    set_frame(p, whole);
    return true;
}

void sw_pkt_settle(sw_engine *e, sw_pkt *p)
{
    uint32_t near = sw_near(p->len, p->frame->gap), size = sw_size(p);
    if (size > near && (near < SW_NEAR || size < p->len))
        sw_pkt_whole(e, p);
}

bool sw_pkt_widen(sw_engine *e, sw_pkt *p, uint32_t size)
{
    uint32_t len = size + p->len, gap = p->frame->gap;
    sw_frame *f =
        len > SW_MAX_FRAME + SW_HEADROOM ? NULL : sw_frame_take_short(e->pool, len, gap, 0);
    if (!f)
        return false;
    f->head = f->cap - (p->len - gap);
    memcpy(f->data + f->head, sw_data(p), p->len - gap);
    f->born = p->frame->born;
    sw_frame_give(e->pool, p->frame);
    set_frame(p, f);
    return true;
}

void sw_pkt_end(sw_engine *e, sw_pkt *p, enum sw_end why)
{
    e->ended[why]++;
    SW_TRACE(sw_trace_end(e, p, why));
    if (SW_UNLIKELY(p->charge))
        sw_ingress_release(e, p);
    if (p->frame)
        sw_frame_give(e->pool, p->frame);
    p->next = e->free_pkts;
    e->free_pkts = p;
}

/* The frame of a packet that has left; the packet ends. */
sw_frame *sw_pkt_leave(sw_engine *e, sw_pkt *p)
{
    sw_frame *f = p->frame;
    f->head = p->head;
    f->len = sw_size(p);
    if (f->len < p->len)
        f->gap = 0; /* what is left ends before it, see sw_pkt_settle() */
    p->frame = NULL;
    sw_pkt_end(e, p, SW_SENT);
    return f;
}
