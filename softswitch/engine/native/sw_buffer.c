/* What packets take of a switch's memory: room in queues, and behind ports that must not lose any
 * (IEEE 802.1Qbb), where the sender is told to pause in time. */
#include "sw_core.h"

#include <stdlib.h>

/* Octets a packet that waits for its egress will have. */
static uint32_t octets_of(const sw_pkt *p)
{
    return p->reg_len < p->truncated ? p->reg_len : p->truncated;
}

/* SW_ENDS where there is room for the packet in a queue, otherwise how it must end. One that is
 * counted at its ingress was promised room there. */
enum sw_end sw_buffer_take(sw_engine *e, sw_port *port, unsigned queue, sw_pkt *p)
{
    uint32_t octets = octets_of(p);
    if (!p->charge) {
        bool full = sw_queued(port, queue) >= port->depth ||
                    (port->depth_octets && port->octets[queue] + octets > port->depth_octets);
        bool no_memory =
            e->buffer_octets && e->promised + e->buffered + octets > e->buffer_octets;
        if (SW_UNLIKELY(full || no_memory)) {
            port->queue_drops++;
            return full ? SW_QUEUE_FULL : SW_BUFFER_FULL;
        }
        e->buffered += octets;
    }
    p->held = octets;
    port->octets[queue] += octets;
    port->queued_octets += octets;
    if (port->queued_octets > port->peak_octets)
        port->peak_octets = port->queued_octets;
    return SW_ENDS;
}

void sw_buffer_give(sw_engine *e, sw_port *port, unsigned queue, const sw_pkt *p)
{
    port->octets[queue] -= p->held;
    port->queued_octets -= p->held;
    if (!p->charge)
        e->buffered -= p->held;
}

/* Ingress. */

static uint64_t promised(const sw_ingress_limits *limits)
{
    return (uint64_t)__builtin_popcount(limits->priorities) * limits->size;
}

bool sw_ingress_set(sw_engine *e, uint32_t number, const sw_ingress_limits *limits)
{
    sw_port *port = &e->ports[number];
    if (!port->ingress && !(port->ingress = calloc(1, sizeof *port->ingress)))
        return false;
    e->promised += promised(limits) - promised(&port->ingress->limits);
    port->ingress->limits = *limits;
    return true;
}

/* Count a packet that has just been received; false: there is no room. */
bool sw_ingress_charge(sw_engine *e, sw_pkt *p)
{
    sw_intake *in = e->ports[p->ingress_port].ingress;
    uint8_t priority = (uint8_t)sw_frame_priority(sw_data(p), p->len), bit = (uint8_t)(1u << priority);
    if (!(in->limits.priorities & bit))
        return true;
    if (in->use.octets[priority] + p->len > in->limits.size) {
        in->use.drops++;
        return false;
    }
    p->charge = p->len;
    p->charge_priority = priority;
    in->use.octets[priority] += p->len;
    if (in->use.octets[priority] > in->use.peak)
        in->use.peak = in->use.octets[priority];
    if (in->use.octets[priority] > in->limits.xoff && !(in->paused & bit)) {
        in->paused |= bit;
        if (e->pauser)
            e->pauser(e->pauser_context, p->ingress_port, priority, true);
    }
    return true;
}

void sw_ingress_release(sw_engine *e, sw_pkt *p)
{
    sw_intake *in = e->ports[p->ingress_port].ingress;
    uint8_t bit = (uint8_t)(1u << p->charge_priority);
    in->use.octets[p->charge_priority] -= p->charge;
    p->charge = 0;
    if ((in->paused & bit) && in->use.octets[p->charge_priority] <= in->limits.xon) {
        in->paused &= (uint8_t)~bit;
        if (e->pauser)
            e->pauser(e->pauser_context, p->ingress_port, p->charge_priority, false);
    }
}
