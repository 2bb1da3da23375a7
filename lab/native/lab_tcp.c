/* TCP from one host to another, in segments of one size: NewReno (RFC 5681, 6582), timer (RFC 6298),
 * ECN (RFC 3168). Each segment is acknowledged at once. */
#include "lab_tcp.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "checksum.h"
#include "lab_ethernet.h"
#include "wire.h"

#define FIRST_PORT 1024u /* of flow 0, at its sender */
#define MOST_FLOWS (LAB_TCP_PORT - FIRST_PORT)
#define NONE UINT64_MAX
#define FIRST_TIMEOUT 1000000000u
#define LONGEST_TIMEOUT 60000000000u
#define DUPLICATES 3u

enum {
    TCP_HEADER = 20,
    TCP_SEQUENCE = 4,
    TCP_ACKNOWLEDGEMENT = 8,
    TCP_FLAGS = 12, /* length(4) reserved(4) CWR ECE URG ACK PSH RST SYN FIN */
    TCP_WINDOW = 14,
    TCP_CHECKSUM = 16,
    FIVE_WORDS = 5 << 12,
    ACK = 1 << 4,
    ECE = 1 << 6,
    CWR = 1 << 7,
    HOPS = 64,
};

/* Of a flow: segments are numbered from 0. */
struct lab_tcp {
    lab_tcp_flow o;
    lab_host *from, *to;
    lab_tcp *sibling; /* those of the same sender are a ring */
    uint16_t port;
    /* The sender: what is not acknowledged yet, what it sends next, what was never sent. */
    uint64_t una, next, fresh;
    uint64_t again;   /* to be sent once more before all else; NONE */
    uint64_t recover; /* what was sent before the last loss was seen; no other loss until then */
    uint64_t marked;  /* the same of the last mark */
    double window, threshold;
    uint32_t duplicates;
    bool recovering, reduced;          /* the receiver has to hear of the reduction */
    uint64_t timed, timed_at;          /* a segment whose round trip is measured, or NONE */
    uint64_t srtt, rttvar, rto, alarm; /* rto: with what it was raised by */
    lab_tcp_stats stats;
    /* The receiver: the first that is missing, and which behind it are there. */
    uint64_t missing;
    bool *there; /* of `o.window`, by number modulo that */
    bool echo;
};

/* Octets of the headers before TCP's. */
static uint32_t below(const lab_tcp *t)
{
    return ETHERNET_HEADER + (t->o.version == 4 ? IPV4_HEADER : IPV6_HEADER);
}

static void emit(lab_tcp *t, uint64_t now, bool data, uint64_t number, bool ect)
{
    uint32_t octets = TCP_HEADER + (data ? t->o.mss : 0), start = below(t);
    lab_host *h = data ? t->from : t->to;
    const lab_tcp_end *own = data ? &t->o.source : &t->o.target, *peer = data ? &t->o.target : &t->o.source;
    sw_frame *f = lab_host_frame_of_zeros(h, start + octets);
    if (!f)
        return;
    uint8_t *out = f->data + f->head, *ip = out + ETHERNET_HEADER, *tcp = out + start;
    memset(out, 0, f->len - f->gap);
    memcpy(out, own->gateway_mac, 6);
    memcpy(out + 6, own->mac, 6);
    uint32_t size = t->o.version == 4 ? 4 : 16, sum = IP_PROTOCOL_TCP + octets;
    uint8_t tos = (uint8_t)(t->o.dscp << 2 | (ect ? ECT_0 : NOT_ECT));
    uint8_t *addresses = ip + (size == 4 ? IPV4_SRC : IPV6_SRC);
    if (size == 4) {
        put16(out + ETHERNET_TYPE, TYPE_IPV4);
        ip[0] = 0x45;
        ip[IPV4_TOS] = tos;
        put16(ip + IPV4_LENGTH, IPV4_HEADER + octets);
        put16(ip + IPV4_FLAGS, IPV4_DONT_FRAGMENT);
        ip[IPV4_TTL] = HOPS;
        ip[IPV4_PROTOCOL] = IP_PROTOCOL_TCP;
    } else {
        put16(out + ETHERNET_TYPE, TYPE_IPV6);
        put16(ip, (uint32_t)(6 << 12 | tos << 4));
        put16(ip + IPV6_LENGTH, octets);
        ip[IPV6_NEXT_HEADER] = IP_PROTOCOL_TCP;
        ip[IPV6_HOP_LIMIT] = HOPS;
    }
    memcpy(addresses, own->address, size);
    memcpy(addresses + size, peer->address, size);
    if (size == 4)
        put16(ip + IPV4_CHECKSUM, checksum_of(checksum_add(0, ip, IPV4_HEADER)));
    uint32_t flags = FIVE_WORDS | ACK;
    if (!data && t->echo)
        flags |= ECE;
    if (data && t->reduced && number == t->fresh) {
        flags |= CWR;
        t->reduced = false;
    }
    put16(tcp, data ? t->port : LAB_TCP_PORT);
    put16(tcp + 2, data ? LAB_TCP_PORT : t->port);
    put32(tcp + (data ? TCP_SEQUENCE : TCP_ACKNOWLEDGEMENT), (uint32_t)(number * t->o.mss));
    put16(tcp + TCP_FLAGS, flags);
    put16(tcp + TCP_WINDOW, 0xffff);
    sum = checksum_add(checksum_add(sum, addresses, 2 * (size_t)size), tcp, TCP_HEADER);
    put16(tcp + TCP_CHECKSUM, checksum_of(sum)); /* the payload is zeros */
    lab_host_send(h, now, f);
}

static uint64_t allowed(const lab_tcp *t)
{
    return t->window < t->o.window ? (uint64_t)t->window : t->o.window;
}

/* The segment to be sent now; NONE. */
static uint64_t wanted(const lab_tcp *t)
{
    if (t->again != NONE)
        return t->again;
    return t->next < t->o.segments && t->next - t->una < allowed(t) ? t->next : NONE;
}

static void send(lab_tcp *t, uint64_t now, uint64_t number)
{
    bool first = number == t->fresh;
    /* RFC 3168, 6.1.5: retransmissions are not ECN-capable. */
    emit(t, now, true, number, t->o.ecn && first);
    t->stats.sent++;
    t->stats.resent += !first;
    if (t->again == number)
        t->again = NONE;
    else
        t->next++;
    t->fresh += first;
    if (first && t->timed == NONE) {
        t->timed = number;
        t->timed_at = now;
    }
    if (t->alarm == LAB_NEVER)
        t->alarm = now + t->rto;
}

static void measured(lab_tcp *t, uint64_t rtt)
{
    if (!t->srtt) {
        t->srtt = rtt;
        t->rttvar = rtt / 2;
    } else {
        uint64_t off = rtt > t->srtt ? rtt - t->srtt : t->srtt - rtt;
        t->rttvar = (3 * t->rttvar + off) / 4;
        t->srtt = (7 * t->srtt + rtt) / 8;
    }
    t->rto = t->srtt + 4 * t->rttvar;
    t->rto = t->rto < t->o.min_rto ? t->o.min_rto : t->rto;
}

/* Half of what is on the way. */
static void halve(lab_tcp *t)
{
    t->threshold = (double)(t->next - t->una) / 2;
    if (t->threshold < 2)
        t->threshold = 2;
    t->stats.cuts++;
}

static void on_progress(lab_tcp *t, uint64_t now, uint64_t acked, bool grows)
{
    uint64_t on_the_way = t->next - t->una;
    t->una += acked;
    t->stats.acknowledged = t->una;
    if (t->next < t->una)
        t->next = t->una;
    if (t->again < t->una)
        t->again = NONE;
    if (t->timed != NONE && t->timed < t->una) {
        measured(t, now - t->timed_at);
        t->timed = NONE;
    }
    t->duplicates = 0;
    bool partial = t->recovering && t->una < t->recover;
    if (partial) { /* RFC 6582, 3.2: the next one is missing, too */
        t->again = t->una;
        t->timed = NONE;
        t->window = t->window - (double)acked + 1;
        t->window = t->window < 1 ? 1 : t->window;
    } else if (t->recovering) {
        t->recovering = false;
        t->window = t->threshold;
    } else if (grows && on_the_way >= allowed(t)) {
        t->window += t->window < t->threshold ? 1 : 1 / t->window;
    }
    t->alarm = t->una == t->fresh ? LAB_NEVER : now + t->rto;
    if (t->una == t->o.segments)
        t->stats.completed = now;
}

static void on_ack(lab_tcp *t, uint64_t now, uint32_t number, bool ece)
{
    uint64_t acked = (uint32_t)(number - (uint32_t)(t->una * t->o.mss)) / t->o.mss;
    if (acked > t->fresh - t->una)
        return; /* an old one */
    bool cuts = ece && t->o.ecn && !t->recovering && t->una + acked > t->marked;
    if (cuts) { /* RFC 3168, 6.1.2: as a loss, once in a round trip */
        halve(t);
        t->window = t->threshold;
        t->marked = t->fresh;
        t->reduced = true;
    }
    if (acked) {
        on_progress(t, now, acked, !ece);
    } else if (t->recovering) {
        t->window += 1;
    } else if (t->una < t->fresh && ++t->duplicates == DUPLICATES && t->una >= t->recover) {
        halve(t);
        t->recover = t->fresh;
        t->recovering = true;
        t->again = t->una;
        t->timed = NONE;
        t->window = t->threshold + DUPLICATES;
    }
}

static void on_alarm(lab_tcp *t, uint64_t now)
{
    halve(t);
    t->stats.timeouts++;
    t->window = 1;
    t->next = t->una;
    t->again = t->timed = NONE;
    t->recover = t->fresh;
    t->recovering = false;
    t->duplicates = 0;
    t->rto = 2 * t->rto > LONGEST_TIMEOUT ? LONGEST_TIMEOUT : 2 * t->rto;
    t->alarm = now + t->rto;
}

static void on_data(lab_tcp *t, uint64_t now, uint32_t sequence, bool ce, bool cwr)
{
    int32_t ahead = (int32_t)(sequence - (uint32_t)(t->missing * t->o.mss));
    t->echo = ce || (t->echo && !cwr);
    t->stats.marked += ce;
    uint64_t number = t->missing + (uint32_t)ahead / t->o.mss;
    if (ahead >= 0 && number < t->missing + t->o.window)
        t->there[number % t->o.window] = true;
    for (bool *next; *(next = &t->there[t->missing % t->o.window]); t->missing++)
        *next = false;
    emit(t, now, false, t->missing, false);
}

bool lab_tcp_arrive(lab_host *h, uint64_t now, const sw_frame *f)
{
    const uint8_t *frame = f->data + f->head, *ip = frame + ETHERNET_HEADER;
    if (f->len < ETHERNET_HEADER + IPV4_HEADER + TCP_HEADER)
        return false;
    bool four = get16(frame + ETHERNET_TYPE) == TYPE_IPV4;
    if (four ? ip[0] != 0x45 || ip[IPV4_PROTOCOL] != IP_PROTOCOL_TCP
             : get16(frame + ETHERNET_TYPE) != TYPE_IPV6 || ip[IPV6_NEXT_HEADER] != IP_PROTOCOL_TCP)
        return false;
    const uint8_t *tcp = ip + (four ? IPV4_HEADER : IPV6_HEADER);
    if (tcp + TCP_HEADER > frame + f->len)
        return false;
    bool data = get16(tcp + 2) == LAB_TCP_PORT;
    uint32_t number = get16(tcp + (data ? 0 : 2)) - FIRST_PORT;
    lab_tcp *t = number < h->lab->n_tcp ? h->lab->tcp[number] : NULL;
    if (!t || four != (t->o.version == 4) || h != (data ? t->to : t->from) ||
        memcmp(frame, data ? t->o.target.mac : t->o.source.mac, 6) ||
        f->len < below(t) + TCP_HEADER + (data ? t->o.mss : 0))
        return false;
    uint32_t flags = get16(tcp + TCP_FLAGS), tos = four ? ip[IPV4_TOS] : ip[1] >> 4;
    if (data)
        on_data(t, now, get32(tcp + TCP_SEQUENCE), (~tos & ECN_CE) == 0, flags & CWR);
    else
        on_ack(t, now, get32(tcp + TCP_ACKNOWLEDGEMENT), flags & ECE);
    return true;
}

/* When a flow has something to do. */
static uint64_t due_of(const lab_tcp *t)
{
    if (wanted(t) == NONE)
        return t->alarm;
    uint64_t free = lab_host_free_at(t->from, lab_host_queue(t->from, t->o.dscp));
    free = free < t->o.start ? t->o.start : free;
    return free < t->alarm ? free : t->alarm;
}

void lab_tcp_act(lab_host *h, uint64_t now)
{
    /* The line is for one of them after another. */
    lab_tcp *first = h->tcp, *t = first;
    do {
        if (t->alarm <= now)
            on_alarm(t, now);
        if (wanted(t) != NONE && due_of(t) <= now) {
            send(t, now, wanted(t));
            h->tcp = t->sibling;
        }
        t = t->sibling;
    } while (t != first);
}

uint64_t lab_tcp_due(const lab_host *h)
{
    uint64_t due = LAB_NEVER;
    const lab_tcp *t = h->tcp;
    do {
        uint64_t own = due_of(t);
        due = own < due ? own : due;
        t = t->sibling;
    } while (t != h->tcp);
    return due;
}

void lab_tcp_free(lab *l)
{
    for (uint32_t i = 0; i < l->n_tcp; i++) {
        free(l->tcp[i]->there);
        free(l->tcp[i]);
    }
    free(l->tcp);
}

int64_t lab_tcp_add(lab *l, uint32_t from, uint32_t to, const lab_tcp_flow *flow)
{
    lab_host *a = lab_host_of(l, from), *b = lab_host_of(l, to);
    if (!a || !b)
        return LAB_ERR_NODE;
    lab_tcp **flows = NULL, *t = NULL;
    if (l->n_tcp < MOST_FLOWS)
        flows = realloc(l->tcp, (l->n_tcp + 1) * sizeof(lab_tcp *));
    if (flows) {
        l->tcp = flows;
        t = calloc(1, sizeof *t);
    }
    if (!t || !(t->there = calloc(flow->window, sizeof(bool)))) {
        free(t);
        return LAB_ERR_MEMORY;
    }
    t->o = *flow;
    t->from = a;
    t->to = b;
    t->port = (uint16_t)(FIRST_PORT + l->n_tcp);
    t->again = t->timed = NONE;
    t->window = flow->first_window;
    t->threshold = flow->window;
    t->rto = FIRST_TIMEOUT < flow->min_rto ? flow->min_rto : FIRST_TIMEOUT;
    t->alarm = LAB_NEVER;
    l->tcp[l->n_tcp++] = t;
    t->sibling = a->tcp ? a->tcp->sibling : t;
    if (a->tcp)
        a->tcp->sibling = t;
    a->tcp = t;
    lab_host_reschedule(a);
    return l->n_tcp - 1;
}

int64_t lab_tcp_stats_of(const lab *l, uint32_t flow, lab_tcp_stats *out)
{
    if (flow >= l->n_tcp)
        return LAB_ERR_NODE;
    *out = l->tcp[flow]->stats;
    out->window = l->tcp[flow]->window;
    return 0;
}
