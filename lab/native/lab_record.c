/* Copies of what links deliver, and the digest of all of it. */
#include <stdlib.h>
#include <string.h>

#include "lab_core.h"
#include "lab_kind.h"

#define RECORD_HEADER 24u

/* The digest. Of each frame a sum over its words that has no order to wait for, so that the processor
 * adds several at once; it is as that of XXH3: the halves of a word and of the key of its place are
 * added and multiplied, and the word is added besides, because a product of 0 must not hide a half.
 * These sums, the time, the direction and the length are then mixed into what was before, in order. */

#define LANES 8u

static uint64_t mix(uint64_t digest, uint64_t word)
{
    unsigned __int128 p = (unsigned __int128)(digest ^ word) * 0xd6e8feb86659fd93ULL;
    /* The digest itself stays a part of the result: a product of 0 must not hide what was before. */
    return ((uint64_t)p ^ (uint64_t)(p >> 64)) + (digest << 1 | digest >> 63);
}

/* Keys are numbers of the generator splitmix64. */
static void make_keys(uint64_t *keys, size_t n)
{
    uint64_t state = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t z = state += 0x9e3779b97f4a7c15ULL;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
        keys[i] = z ^ z >> 31;
    }
}

static uint64_t product(uint64_t word, uint64_t key)
{
    return (uint64_t)(uint32_t)((uint32_t)word + (uint32_t)key) *
           (uint32_t)((uint32_t)(word >> 32) + (uint32_t)(key >> 32));
}

static void digest_frame(lab *l, const lab_link *link, const sw_frame *f)
{
    const uint8_t *at = f->data + f->head;
    const uint64_t *key = l->digest_keys;
    uint64_t products[LANES] = {0}, words[LANES] = {0}, block[LANES];
    uint32_t left = f->len;
    for (; left >= sizeof block; left -= sizeof block, at += sizeof block, key += LANES) {
        memcpy(block, at, sizeof block);
        for (uint32_t i = 0; i < LANES; i++) {
            products[i] += product(block[i], key[i]);
            words[i] += block[i];
        }
    }
    memset(block, 0, sizeof block);
    memcpy(block, at, left);
    uint64_t d = mix(mix(l->digest, f->at), (uint64_t)link->direction << 32 | f->len);
    for (uint32_t i = 0; i < LANES; i++) {
        products[i] += product(block[i], key[i]);
        /* The other half's neighbour, so that a word is not added where its own product is. */
        products[i] += words[i ^ 1] + block[i ^ 1];
    }
    for (uint32_t i = 0; i < LANES; i++)
        d = mix(d, products[i]);
    l->digest = d;
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
    memcpy(out + RECORD_HEADER, octets, kept);
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

int64_t lab_keep_digest(lab *l, bool keep)
{
    size_t n = sw_frame_caps[SW_FRAME_CLASSES - 1] / 8 + 2 * LANES;
    if (keep && !l->digest_keys) {
        l->digest_keys = malloc(n * sizeof *l->digest_keys);
        if (!l->digest_keys)
            return LAB_ERR_MEMORY;
        make_keys(l->digest_keys, n);
    }
    l->keep_digest = keep;
    return 0;
}

uint64_t lab_digest(const lab *l) { return l->digest; }
