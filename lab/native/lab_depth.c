#include "lab_depth.h"

#include <stdlib.h>

struct lab_depth {
    lab_depth *next; /* of the same switch */
    uint32_t port;
    uint64_t packets, octets; /* since `since` */
    uint64_t begun, since;
    double packet_ns, octet_ns;
    uint64_t most_packets, most_octets;
};

static void add_time(lab_depth *d, uint64_t now)
{
    d->packet_ns += (double)d->packets * (double)(now - d->since);
    d->octet_ns += (double)d->octets * (double)(now - d->since);
    d->since = now;
}

void lab_depth_look(const lab_switch *s, uint64_t now)
{
    for (lab_depth *d = s->depths; d; d = d->next) {
        uint64_t packets = 0, octets = 0;
        if (s->engine) {
            packets = s->api->look(s->engine, SW_LOOK_QUEUED, d->port, 0);
            octets = s->api->look(s->engine, SW_LOOK_QUEUED_OCTETS, d->port, 0);
        }
        if (packets == d->packets && octets == d->octets)
            continue;
        add_time(d, now);
        d->packets = packets;
        d->octets = octets;
        if (packets > d->most_packets)
            d->most_packets = packets;
        if (octets > d->most_octets)
            d->most_octets = octets;
    }
}

void lab_depth_free(lab_depth *first)
{
    while (first) {
        lab_depth *next = first->next;
        free(first);
        first = next;
    }
}

static lab_depth *depth_of(const lab_switch *s, uint32_t port)
{
    lab_depth *d = s ? s->depths : NULL;
    while (d && d->port != port)
        d = d->next;
    return d;
}

int64_t lab_measure_depth(lab *l, uint32_t node, uint32_t port)
{
    lab_switch *s = lab_switch_of(l, node);
    if (!s)
        return LAB_ERR_NODE;
    if (port >= LAB_PORTS)
        return LAB_ERR_PORT;
    if (depth_of(s, port))
        return 0;
    lab_depth *d = calloc(1, sizeof *d);
    if (!d)
        return LAB_ERR_MEMORY;
    *d = (lab_depth){.next = s->depths, .port = port, .begun = l->now, .since = l->now};
    s->depths = d;
    lab_depth_look(s, l->now);
    return 0;
}

int64_t lab_depth_of(const lab *l, uint32_t node, uint32_t port, lab_depth_stats *out)
{
    lab_depth *d = depth_of(lab_switch_of(l, node), port);
    if (!d)
        return LAB_ERR_PORT;
    add_time(d, l->now);
    double time = l->now > d->begun ? (double)(l->now - d->begun) : 1;
    *out = (lab_depth_stats){d->most_packets, d->most_octets, d->packet_ns / time,
                             d->octet_ns / time};
    return 0;
}
