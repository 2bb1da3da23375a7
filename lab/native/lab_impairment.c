/* Jitter and bit errors of links, by whole numbers only: alike on every machine. */
#include "lab_impairment.h"

#include <stdlib.h>

#include "lab_random.h"

#define CHECK_SEQUENCE 4u /* octets of Ethernet's, which a frame here is without */

struct lab_impairment {
    uint64_t jitter, bits_per_error;
    uint64_t bits; /* up to the next wrong one */
    lab_random random;
};

uint64_t lab_jitter(lab_impairment *i)
{
    if (!i->jitter)
        return 0;
    return (uint64_t)((unsigned __int128)lab_random_next(&i->random) * (i->jitter + 1) >> 64);
}

/* The distance of errors is that of independent ones, as in a continuous stream of bits. */
bool lab_has_error(lab_impairment *i, const sw_frame *f)
{
    uint64_t bits = 8 * ((uint64_t)f->len + CHECK_SEQUENCE);
    bool wrong = false;

    if (!i->bits_per_error)
        return false;
    while (i->bits < bits) {
        wrong = true;
        bits -= i->bits;
        i->bits = lab_random_exponential(&i->random, i->bits_per_error);
    }
    i->bits -= bits;
    return wrong;
}

static int64_t impair(lab_link *link, uint64_t jitter, uint64_t bits_per_error)
{
    lab_impairment *i = link->impairment ? link->impairment : malloc(sizeof *i);
    if (!i)
        return LAB_ERR_MEMORY;
    *i = (lab_impairment){
        .jitter = jitter,
        .bits_per_error = bits_per_error,
        .random = lab_random_of(link->lab->seed, link->actor.number),
    };
    if (bits_per_error)
        i->bits = lab_random_exponential(&i->random, bits_per_error);
    link->impairment = i;
    return 0;
}

int64_t lab_set_impairment(lab *l, uint32_t link, uint64_t jitter, uint64_t bits_per_error)
{
    if (link >= l->n_links / 2)
        return LAB_ERR_NODE;
    int64_t there = impair(l->links[2 * link], jitter, bits_per_error);
    return there ? there : impair(l->links[2 * link + 1], jitter, bits_per_error);
}
