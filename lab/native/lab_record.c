/* Copies of what links deliver, and the digest of all of it. */
#include <stdlib.h>
#include <string.h>

#include "lab_core.h"
#include "lab_kind.h"

#define RECORD_HEADER 32u

#define PAIR 16u
#define HEADERS 128u /* about what switches write to */

static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 p = (unsigned __int128)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t mix(uint64_t digest, uint64_t word)
{
    /* The digest itself stays a part of the result: a product of 0 must not hide what was before. */
    return fold(digest ^ word, 0xd6e8feb86659fd93ULL) + (digest << 1 | digest >> 63);
}

/* Of 16 octets, the `place`th from the end of a frame. */
static uint64_t pair(const uint8_t *octets, uint64_t place)
{
    uint64_t a, b;
    memcpy(&a, octets, 8);
    memcpy(&b, octets + 8, 8);
    return fold(a ^ (0xa0761d6478bd642fULL + place * 0x9e3779b97f4a7c15ULL),
                b ^ (0xe7037ed1a0b428dbULL + place * 0xd1b54a32d192ed03ULL));
}

/* Of the octets that end `after` octets before the frame does, a multiple of a pair: the sum of what
 * its pairs give, so that none waits for another; the first is filled with zeros. */
static uint64_t sum_pairs(const uint8_t *at, uint32_t octets, uint32_t after)
{
    uint64_t sum = 0, place = after / PAIR;
    for (; octets >= PAIR; place++)
        sum += pair(at + (octets -= PAIR), place);
    if (octets) {
        uint8_t first[PAIR] = {0};
        memcpy(first + PAIR - octets, at, octets);
        sum += pair(first, place);
    }
    return sum;
}

/* Of all octets. The payload, which no switch writes to, is summed at the first link only. */
static uint64_t sum_frame(sw_frame *f)
{
    const uint8_t *at = f->data + f->head;
    uint32_t kept = 0;
    if (f->len > 2 * HEADERS && f->head + f->len == f->cap) {
        if (!f->tail || f->cap - f->tail < f->written) {
            uint32_t begin = f->head + HEADERS > f->written ? f->head + HEADERS : f->written;
            f->tail = (f->cap - begin) & ~(PAIR - 1);
            f->tail_sum = sum_pairs(f->data + f->cap - f->tail, f->tail, 0);
        }
        if (f->tail <= f->len)
            kept = f->tail;
    }
    return (kept ? f->tail_sum : 0) + sum_pairs(at, f->len - kept, kept);
}

static void digest_frame(lab *l, const lab_link *link, sw_frame *f)
{
    uint64_t d = mix(mix(l->digest, f->at), (uint64_t)link->direction << 32 | f->len);
    l->digest = mix(d, sum_frame(f));
}

static void copy_frame(lab *l, const lab_link *link, const sw_frame *f)
{
    const uint8_t *octets = f->data + f->head;
    uint32_t kinds = lab_kind_of(octets, f->len, l->fast_cnp_port);
    if (link->tap_kinds && !(kinds & link->tap_kinds))
        return;
    uint32_t kept = f->len < link->tap_snap ? f->len : link->tap_snap;
    size_t padded = ((size_t)kept + 7) & ~(size_t)7;
    if (l->tapped_size + RECORD_HEADER + padded > l->tapped_cap) {
        l->tapped_lost++;
        return;
    }
    uint8_t *out = l->tapped + l->tapped_size;
    uint32_t head[4] = {link->direction, f->len, kinds, kept};
    memcpy(out, &f->at, 8);
    memcpy(out + 8, head, sizeof head);
    memcpy(out + 24, &l->hops, 8);
    memcpy(out + RECORD_HEADER, octets, kept);
    memset(out + RECORD_HEADER + kept, 0, padded - kept);
    l->tapped_size += RECORD_HEADER + padded;
}

void lab_record(lab *l, const lab_link *link, sw_frame *f)
{
    if (l->keep_digest)
        digest_frame(l, link, f);
    if (link->tapped)
        copy_frame(l, link, f);
}

int64_t lab_tap(lab *l, uint32_t direction, uint32_t kinds, uint32_t snap, size_t octets)
{
    if (direction >= l->n_links)
        return LAB_ERR_NODE;
    uint8_t *tapped = realloc(l->tapped, l->tapped_cap + octets);
    if (!tapped && octets)
        return LAB_ERR_MEMORY;
    l->tapped = tapped;
    l->tapped_cap += octets;
    lab_link *link = l->links[direction];
    link->tapped = true;
    link->tap_kinds = kinds;
    link->tap_snap = snap;
    return 0;
}

size_t lab_tapped_size(const lab *l) { return l->tapped_size; }
uint64_t lab_tapped_lost(const lab *l) { return l->tapped_lost; }

size_t lab_tapped_take(lab *l, uint8_t *out, size_t cap)
{
    size_t size = l->tapped_size;
    if (size > cap || !size)
        return 0;
    memcpy(out, l->tapped, size);
    l->tapped_size = 0;
    return size;
}

void lab_keep_digest(lab *l, bool keep) { l->keep_digest = keep; }
uint64_t lab_digest(const lab *l) { return l->digest; }
