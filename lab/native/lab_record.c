/* Copies of what links deliver, and the digest of all of it. */
#include <stdlib.h>
#include <string.h>

#include "lab_core.h"
#include "lab_kind.h"

#define RECORD_HEADER 32u

#define PAIR 16u
_Static_assert(SW_FAR == PAIR, "a gap leaves out whole pairs");

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

static uint64_t sum_frame(const lab *l, const sw_frame *f)
{
    const uint8_t *at = f->data + f->head;
    if (!f->gap)
        return sum_pairs(at, f->len, 0);
    uint32_t near = sw_near(f->len, f->gap), behind = SW_FAR + f->gap;
    uint64_t zeros = l->zeros[behind / PAIR] - l->zeros[SW_FAR / PAIR];
    return zeros + sum_pairs(at + near, SW_FAR, 0) + sum_pairs(at, near, behind);
}

static void digest_frame(lab *l, const lab_link *link, const sw_frame *f)
{
    uint64_t d = mix(mix(l->digest, f->at), (uint64_t)link->direction << 32 | f->len);
    l->digest = mix(d, sum_frame(l, f));
}

static uint32_t kind_of(const lab *l, const sw_frame *f)
{
    const uint8_t *octets = f->data + f->head;
    bool ends;
    uint32_t kinds = lab_kind_of(octets, sw_near(f->len, f->gap), l->fast_cnp_port, &ends);
    if (LAB_UNLIKELY(f->gap && ends)) {
        uint8_t all[SW_FRAME_CLASSES * SW_FRAME_STEP];
        sw_octets(all, octets, f->len, f->gap, f->len);
        kinds = lab_kind_of(all, f->len, l->fast_cnp_port, &ends);
    }
    return kinds;
}

static void copy_frame(lab *l, const lab_link *link, const sw_frame *f)
{
    uint32_t kinds = kind_of(l, f);
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
    sw_octets(out + RECORD_HEADER, f->data + f->head, f->len, f->gap, kept);
    memset(out + RECORD_HEADER + kept, 0, padded - kept);
    l->tapped_size += RECORD_HEADER + padded;
}

void lab_record(lab *l, const lab_link *link, const sw_frame *f)
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

void lab_keep_digest(lab *l, bool keep)
{
    static const uint8_t zeros[PAIR];
    l->keep_digest = keep;
    for (uint64_t i = 0; i + 1 < sizeof l->zeros / sizeof *l->zeros; i++)
        l->zeros[i + 1] = l->zeros[i] + pair(zeros, i);
}

uint64_t lab_digest(const lab *l) { return l->digest; }
