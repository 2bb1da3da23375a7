/* Random early detection at a switch's port, as switches do for DCQCN (SIGCOMM 2015, section 3.1): a
 * packet that leaves is marked with CE by what still waits behind it. */
#include "lab_red.h"

#include <stdlib.h>

#include "bytes.h"
#include "lab_ethernet.h"

enum {
    ECN = 3, /* of the second octet of IPv4; two bits of the IPv6 traffic class are in its upper half */
    IPV6_ECN_SHIFT = 4,
};

struct lab_red {
    uint32_t kmin, kmax;
    uint64_t pmax;
    lab_random random;
};

int64_t lab_set_red(lab *l, uint32_t node, uint32_t port, uint32_t kmin, uint32_t kmax,
                    uint64_t pmax)
{
    lab_switch *s = lab_switch_of(l, node);
    if (!s)
        return LAB_ERR_NODE;
    if (port >= LAB_PORTS)
        return LAB_ERR_PORT;
    lab_red *r = s->red[port] ? s->red[port] : malloc(sizeof *r);
    if (!r)
        return LAB_ERR_MEMORY;
    lab_random of_node = lab_random_of(l->seed, s->actor.number);
    *r = (lab_red){kmin, kmax, pmax, lab_random_of(lab_random_next(&of_node), port)};
    s->red[port] = r;
    return 0;
}

/* Whether a packet is marked that leaves this many octets behind. */
static bool chosen(lab_red *r, uint64_t octets)
{
    if (octets <= r->kmin)
        return false;
    if (octets > r->kmax)
        return true;
    uint64_t probability = r->pmax * (octets - r->kmin) / (r->kmax - r->kmin);
    return lab_random_next(&r->random) >> 32 < probability;
}

static void mark_ipv4(uint8_t *frame)
{
    uint16_t before = get16(frame + ETHERNET_HEADER);
    frame[ETHERNET_HEADER + 1] |= ECN;
    /* RFC 1624, equation 3 */
    uint32_t sum = (uint16_t)~get16(frame + ETHERNET_HEADER + IPV4_CHECKSUM);
    sum += (uint16_t)~before;
    sum += get16(frame + ETHERNET_HEADER);
    sum = (sum & 0xffff) + (sum >> 16);
    put16(frame + ETHERNET_HEADER + IPV4_CHECKSUM, (uint16_t)~((sum & 0xffff) + (sum >> 16)));
}

void lab_red_pass(lab_red *r, uint64_t octets, sw_frame *f)
{
    uint8_t *frame = f->data + f->head;
    if (f->len < ETHERNET_HEADER + IPV4_HEADER)
        return;
    unsigned type = get16(frame + ETHERNET_TYPE);
    if (type != TYPE_IPV4 && type != TYPE_IPV6)
        return;
    unsigned shift = type == TYPE_IPV6 ? IPV6_ECN_SHIFT : 0;
    unsigned ecn = frame[ETHERNET_HEADER + 1] >> shift & ECN;
    /* Only what is ECN-capable (RFC 3168). */
    if (ecn == 0 || ecn == ECN || !chosen(r, octets))
        return;
    if (type == TYPE_IPV4)
        mark_ipv4(frame);
    else
        frame[ETHERNET_HEADER + 1] |= ECN << IPV6_ECN_SHIFT;
}
