/* Copies of what links deliver, and the digest of all of it. */
#include <stdlib.h>
#include <string.h>

#include "lab_core.h"
#include "lab_kind.h"

#define RECORD_HEADER 24u

static uint64_t mix(uint64_t digest, uint64_t word)
{
    unsigned __int128 p = (unsigned __int128)(digest ^ word) * 0xd6e8feb86659fd93ULL;
    /* The digest itself stays a part of the result: a product of 0 must not hide what was before. */
    return ((uint64_t)p ^ (uint64_t)(p >> 64)) + (digest << 1 | digest >> 63);
}

static void digest_frame(lab *l, const lab_link *link, const sw_frame *f)
{
    const uint8_t *at = f->data + f->head;
    uint64_t d = mix(mix(l->digest, f->at), (uint64_t)link->direction << 32 | f->len), word;
    uint32_t left = f->len;
    for (; left >= 8; left -= 8, at += 8) {
        memcpy(&word, at, 8);
        d = mix(d, word);
    }
    word = 0;
    memcpy(&word, at, left);
    l->digest = mix(d, word);
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

void lab_keep_digest(lab *l, bool keep) { l->keep_digest = keep; }
uint64_t lab_digest(const lab *l) { return l->digest; }
