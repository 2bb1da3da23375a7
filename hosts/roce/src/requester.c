#include "requester_cm.h"

#include "bytes.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9
/* Any R_Key and address will do: the receiver has no memory to protect. */
#define REMOTE_KEY 0x1000u
#define FIRST_RING 8u

void requester_init(struct requester *r, const struct requester_params *params, uint32_t local_qp,
                    uint32_t comm_id, uint32_t first_psn)
{
    memset(r, 0, sizeof *r);
    r->params = *params;
    r->local_qp = local_qp;
    r->local_comm_id = comm_id;
    r->first_psn = first_psn & PSN_MASK;
    r->cm_at = r->timeout_at = ROCE_NEVER;
    dcqcn_init(&r->rp, &params->dcqcn);
    delay_init(&r->delay, &params->delay);
}

void requester_free(struct requester *r)
{
    free(r->messages);
    free(r->asked);
    marks_free(&r->kept);
    r->messages = NULL;
    r->asked = NULL;
}

static const struct message *message_at(const struct requester *r, uint64_t index)
{
    return r->messages ? &r->messages[index & (r->ring_size - 1)] : &r->only;
}

static bool grow_messages(struct requester *r)
{
    uint64_t wide = r->messages ? r->ring_size * 2 : FIRST_RING;
    struct message *all = calloc(wide, sizeof *all);
    if (!all)
        return false;
    for (uint64_t i = r->first_message; i < r->end_message; i++)
        all[i & (wide - 1)] = *message_at(r, i);
    free(r->messages);
    r->messages = all;
    r->ring_size = wide;
    return true;
}

bool requester_post(struct requester *r, uint64_t id, uint64_t size, uint64_t start)
{
    uint64_t room = r->messages ? r->ring_size : 1;
    if (r->end_message - r->first_message == room && !grow_messages(r))
        return false;
    uint64_t packets = (size + r->params.mtu - 1) / r->params.mtu;
    struct message *m = r->messages ? &r->messages[r->end_message & (r->ring_size - 1)] : &r->only;
    *m = (struct message){id, size, start, r->posted, packets};
    r->end_message++;
    r->posted += packets;
    return true;
}

/* Run the timers of the rate, and tell of a cut. */
static void advance(struct requester *r, const struct requester_io *io, uint64_t now)
{
    dcqcn_advance(&r->rp, now);
    if (!r->rp.cut_is_new)
        return;
    r->rp.cut_is_new = false;
    r->cuts++;
    io->notice(io->context, r, NOTICE_CUT, (uint64_t)r->rp.current_rate, &r->cnp_from,
               r->rp.last_cut);
}

void requester_join(struct requester *r, uint32_t remote_qp)
{
    r->state = CONNECTED;
    r->remote_qp = remote_qp;
}

/* Congestion control by delay. */

static bool by_delay(const struct requester *r)
{
    return r->params.delay.kind != DELAY_NONE;
}

static uint64_t window_of(const struct requester *r)
{
    uint64_t most = r->params.window;
    uint64_t own = r->params.delay.kind == DELAY_SWIFT ? delay_window(&r->delay) : most;

    return own < most ? own : most;
}

static double packet_bits(const struct requester *r)
{
    return (double)(r->last_len * 8);
}

double requester_rate(const struct requester *r)
{
    const struct delay_control *d = &r->delay;

    if (!by_delay(r))
        return r->rp.current_rate;
    if (d->params.kind == DELAY_TIMELY || !d->has_rtt)
        return d->rate;
    double rate = d->window * packet_bits(r) * NS_PER_S / (double)d->rtt;
    return rate < d->params.line_rate ? rate : d->params.line_rate;
}

static struct asked *asked_at(const struct requester *r, uint64_t index)
{
    return &r->asked[index & (r->asked_size - 1)];
}

/* The packet asks for an ACK; without memory its round trip is not measured. */
static void ask(struct requester *r, uint64_t packet, uint64_t now)
{
    if (r->end_asked - r->first_asked == r->asked_size) {
        uint64_t wide = r->asked_size ? r->asked_size * 2 : FIRST_RING;
        struct asked *all = calloc(wide, sizeof *all);
        if (!all)
            return;
        for (uint64_t i = r->first_asked; i < r->end_asked; i++)
            all[i & (wide - 1)] = *asked_at(r, i);
        free(r->asked);
        r->asked = all;
        r->asked_size = wide;
    }
    *asked_at(r, r->end_asked++) = (struct asked){packet, now};
}

static void tell_cut(struct requester *r, const struct requester_io *io, uint64_t now)
{
    r->cuts++;
    requester_tell(r, io, NOTICE_CUT, (uint64_t)requester_rate(r), now);
}

/* So many more packets are acknowledged, the last one by an ACK: of the newest packet that asked. */
static void measure(struct requester *r, const struct requester_io *io, uint64_t packets,
                    uint64_t now)
{
    const struct asked *newest = NULL;

    while (r->first_asked < r->end_asked &&
           asked_at(r, r->first_asked)->packet < r->acknowledged)
        newest = asked_at(r, r->first_asked++);
    if (newest && delay_on_rtt(&r->delay, now - newest->at, packets, packet_bits(r), now))
        tell_cut(r, io, now);
}

static void lost(struct requester *r, const struct requester_io *io, bool all, uint64_t now)
{
    r->first_asked = r->end_asked;
    if (delay_on_loss(&r->delay, all, now))
        tell_cut(r, io, now);
}

/* Data. */

/* The first packet that is to be sent again and not known to be there. */
static void find_again(struct requester *r)
{
    while (r->again < r->kept_end && r->again < r->lost_end &&
           marks_get(&r->kept, (uint32_t)r->again))
        r->again++;
    while (r->again < r->lost_end && message_at(r, r->again_cursor)->first +
                                             message_at(r, r->again_cursor)->packets <= r->again)
        r->again_cursor++;
}

/* Selective repeat: all is lost before `end` that the receiver has not said to have. */
static void send_lost(struct requester *r, const struct requester_io *io, uint64_t begin,
                      uint64_t end, uint64_t now)
{
    uint64_t missing = 0;

    for (uint64_t i = begin; i < end; i++)
        missing += i >= r->kept_end || !marks_get(&r->kept, (uint32_t)i);
    requester_tell(r, io, NOTICE_RETRANSMISSION, missing, now);
    r->lost_end = end;
    find_again(r);
}

static void all_lost(struct requester *r, const struct requester_io *io, uint64_t now)
{
    r->again = r->acknowledged;
    r->again_cursor = r->first_message;
    send_lost(r, io, r->acknowledged, r->highest, now);
}

/* Send again from the oldest packet that has not been acknowledged. */
static void go_back(struct requester *r, const struct requester_io *io, uint64_t now)
{
    requester_tell(r, io, NOTICE_RETRANSMISSION, r->next - r->acknowledged, now);
    r->next = r->asked_before = r->acknowledged;
    r->cursor = r->first_message;
}

static void progress(struct requester *r, const struct requester_io *io, uint64_t acknowledged,
                     uint64_t now)
{
    if (acknowledged <= r->acknowledged || acknowledged > r->highest)
        return;
    for (uint64_t i = r->acknowledged; i < acknowledged && i < r->kept_end; i++)
        marks_take(&r->kept, (uint32_t)i);
    r->acknowledged = acknowledged;
    r->timeouts_in_a_row = 0;
    r->timeout_at = acknowledged == r->highest ? ROCE_NEVER : now + r->params.timeout;
    while (r->first_message < r->end_message) {
        const struct message *m = message_at(r, r->first_message);
        if (m->first + m->packets > acknowledged)
            break;
        io->completed(io->context, r, m, now);
        r->first_message++;
    }
    if (r->cursor < r->first_message)
        r->cursor = r->first_message;
    if (r->next < acknowledged)
        r->next = acknowledged;
    if (r->again < acknowledged) {
        r->again = acknowledged;
        r->again_cursor = r->first_message;
    }
    find_again(r);
}

/* The receiver kept a packet; whether that says that others are lost. */
static bool on_kept(struct requester *r, const struct requester_io *io, uint64_t kept, uint64_t now)
{
    uint64_t begin = r->kept_end > r->acknowledged ? r->kept_end : r->acknowledged;

    if (begin < r->lost_end)
        begin = r->lost_end;
    if (!marks_set(&r->kept, (uint32_t)r->acknowledged, (uint32_t)kept, 1))
        return false;
    if (kept >= r->kept_end)
        r->kept_end = kept + 1;
    if (kept <= begin) {
        find_again(r);
        return false;
    }
    requester_tell(r, io, NOTICE_NAK, r->acknowledged, now);
    send_lost(r, io, begin, kept, now);
    return true;
}

void requester_on_ack(struct requester *r, const struct requester_io *io,
                      const struct roce_packet *packet, uint64_t now)
{
    if (r->state != CONNECTED || packet->payload_len < AETH_HEADER)
        return;
    uint32_t ahead = (packet->psn - (r->first_psn + (uint32_t)r->acknowledged)) & PSN_MASK;
    uint8_t kind = packet->payload[0] & AETH_KIND;
    if (ahead > PSN_MASK / 2)
        return; /* of a packet acknowledged long since */
    if (kind == 0) {
        uint64_t before = r->acknowledged;
        r->acks++;
        progress(r, io, r->acknowledged + ahead + 1, now);
        if (by_delay(r) && r->acknowledged > before)
            measure(r, io, r->acknowledged - before, now);
    } else if (packet->payload[0] == AETH_NAK_SEQUENCE && r->acknowledged + ahead < r->highest) {
        r->naks++;
        progress(r, io, r->acknowledged + ahead, now);
        if (r->params.selective) {
            if (packet->payload_len < AETH_HEADER + SACK_HEADER)
                return;
            uint64_t kept = r->acknowledged +
                            ((get24(packet->payload + AETH_HEADER + 1) - packet->psn) & PSN_MASK);
            if (kept > r->acknowledged && kept < r->highest && on_kept(r, io, kept, now) &&
                by_delay(r))
                lost(r, io, false, now);
            return;
        }
        requester_tell(r, io, NOTICE_NAK, r->acknowledged, now);
        r->timeout_at = now + r->params.timeout;
        go_back(r, io, now);
        if (by_delay(r))
            lost(r, io, false, now);
    }
}

void requester_on_cnp(struct requester *r, const struct requester_io *io,
                      const struct roce_packet *packet, uint64_t now)
{
    if (r->state != CONNECTED || packet->payload_len != CNP_PAYLOAD)
        return;
    advance(r, io, now);
    r->cnps++;
    r->cnp_from = packet->src;
    io->notice(io->context, r, NOTICE_CNP, (uint64_t)r->rp.current_rate, &packet->src, now);
    if (by_delay(r))
        return;
    dcqcn_on_cnp(&r->rp, now);
    advance(r, io, now);
}

uint64_t requester_timer_due(const struct requester *r)
{
    uint64_t cut = r->rp.cut_is_new ? r->rp.last_cut : r->rp.cut_due;
    uint64_t due = r->cm_at < r->timeout_at ? r->cm_at : r->timeout_at;

    return cut < due ? cut : due;
}

void requester_timers(struct requester *r, const struct requester_io *io, uint64_t now)
{
    advance(r, io, now);
    if (r->cm_at <= now)
        requester_retry_cm(r, io, now);
    if (r->timeout_at > now)
        return;
    r->timeouts++;
    requester_tell(r, io, NOTICE_TIMEOUT, r->acknowledged, now);
    /* From when it is sent again, which may be much later at a low rate. */
    r->timeout_at = ROCE_NEVER;
    if (r->timeouts_in_a_row++ == r->params.retries) {
        requester_end(r, io, FAILED, now);
        return;
    }
    if (r->params.selective)
        all_lost(r, io, now);
    else
        go_back(r, io, now);
    if (by_delay(r))
        lost(r, io, true, now);
}

/* When the last packet has been serialised at the current rate; the fraction of a nanosecond
 * beyond is kept, because a packet at 400 Gb/s takes few of them. */
static uint64_t paced(const struct requester *r, double *fraction)
{
    double rate = by_delay(r) ? r->delay.rate : r->rp.current_rate;
    double ns = packet_bits(r) * NS_PER_S / rate + r->fraction;
    uint64_t whole = (uint64_t)ns;

    *fraction = ns - (double)whole;
    return r->last_sent + whole;
}

uint64_t requester_data_due(const struct requester *r)
{
    double fraction;

    bool repeats = r->again < r->lost_end;
    uint64_t number = repeats ? r->again : r->next;

    if (r->state != CONNECTED || number == r->posted || number - r->acknowledged >= window_of(r))
        return ROCE_NEVER;
    uint64_t start = repeats ? 0 : message_at(r, r->cursor)->start;
    uint64_t due = r->has_sent ? paced(r, &fraction) : 0;
    return due > start ? due : start;
}

/* Take the time of the packet from the schedule. */
static void keep_schedule(struct requester *r, uint64_t now)
{
    double fraction = 0;
    uint64_t due = r->has_sent ? paced(r, &fraction) : now;

    if (due > now || now - due > r->params.max_lag) {
        r->last_sent = now;
        r->fraction = 0;
    } else {
        r->last_sent = due;
        r->fraction = fraction;
    }
    r->has_sent = true;
}

size_t requester_send(struct requester *r, const struct requester_io *io, uint64_t now)
{
    const struct requester_params *p = &r->params;
    uint8_t payload[RETH_HEADER + REQUESTER_TIME] = {0};
    bool repeats = r->again < r->lost_end;
    uint64_t number = repeats ? r->again : r->next;
    const struct message *m = message_at(r, repeats ? r->again_cursor : r->cursor);
    uint64_t position = number - m->first;
    bool first = position == 0, last = position + 1 == m->packets;
    size_t head = first ? RETH_HEADER : 0;
    /* Sizes are rounded up to whole words: pad octets would say no more. */
    size_t octets = last ? (size_t)(m->size - position * p->mtu + 3) & ~(size_t)3 : p->mtu;
    struct roce_packet packet = {
        .src = p->local,
        .dst = p->remote,
        .dscp = p->dscp,
        .ecn = p->ecn,
        .udp_src_port = roce_udp_src_port(r->local_qp, r->remote_qp),
        .opcode = first ? (last ? RC_WRITE_ONLY : RC_WRITE_FIRST)
                        : (last ? RC_WRITE_LAST : RC_WRITE_MIDDLE),
        .p_key = DEFAULT_P_KEY,
        .ack_req = last || (p->ack_every && position % p->ack_every == p->ack_every - 1),
        .dest_qp = r->remote_qp,
        .psn = (r->first_psn + (uint32_t)number) & PSN_MASK,
        .payload = payload,
        .payload_len = head + octets,
        .zeros = octets < REQUESTER_TIME ? octets : octets - REQUESTER_TIME,
    };

    advance(r, io, now);
    keep_schedule(r, now);
    /* A window that is full before a packet would ask is opened by its last one. */
    if (repeats || (r->asked_before <= r->acknowledged &&
                    number + 1 - r->acknowledged >= window_of(r)))
        packet.ack_req = true;
    if (packet.ack_req && !repeats)
        r->asked_before = number + 1;
    if (first) {
        put32(payload + 8, REMOTE_KEY);
        put32(payload + 12, (uint32_t)m->size);
    }
    if (octets >= REQUESTER_TIME)
        put64(payload + head, now);
    io->send(io->context, &packet, now);
    r->retransmitted += number < r->highest;
    if (by_delay(r) && packet.ack_req)
        ask(r, number, now);
    if (repeats) {
        r->again++;
        find_again(r);
    } else if (++r->next > r->highest) {
        r->highest = r->next;
    }
    if (r->timeout_at == ROCE_NEVER)
        r->timeout_at = now + p->timeout;
    if (last && !repeats)
        r->cursor++;
    r->last_len = roce_length(&packet);
    r->packets++;
    r->octets += r->last_len;
    dcqcn_on_sent(&r->rp, r->last_len, now);
    return r->last_len;
}
