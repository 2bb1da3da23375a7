/* Functions called by primitives of the generated program: meters, random numbers, stacks, assertions. */
#include "sw_core.h"

uint32_t sw_meter_run(const sw_engine *e, sw_meter *m, uint32_t octets)
{
    if (!m->configured)
        return 0;
    uint64_t us = e->now_ns / 1000, need = m->bytes ? octets : 1;
    for (int i = 1; i >= 0; i--) {
        uint64_t earned = (uint64_t)((double)us * m->rate[i]);
        uint64_t fresh = earned > m->given[i] ? earned - m->given[i] : 0;
        m->given[i] = earned;
        m->tokens[i] = m->tokens[i] + fresh < m->burst[i] ? m->tokens[i] + fresh : m->burst[i];
        if (m->tokens[i] < need)
            return (uint32_t)i + 1;
        m->tokens[i] -= need;
    }
    return 0;
}

/* SplitMix64: seeds that differ little give states that differ much. 0 would be a state for ever. */
uint64_t sw_random_seed(uint64_t seed)
{
    uint64_t z = seed + 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    return z ? z : 1;
}

uint64_t sw_random(sw_engine *e, uint64_t low, uint64_t high)
{
    uint64_t x = e->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    e->random = x;
    uint64_t span = high - low;
    return span == UINT64_MAX ? x : low + (uint64_t)((u128)x * (span + 1) >> 64);
}

bool sw_pack(uint32_t action, const uint8_t *args, uint32_t n, uint8_t *data)
{
    if (!prog->action_data[action])
        return false;
    const sw_arg *end = prog->args + prog->first_arg[action + 1];
    uint32_t total = 0;
    for (const sw_arg *a = prog->args + prog->first_arg[action]; a < end; a++)
        total += (a->width + 7) / 8;
    if (n != total)
        return false;
    for (const sw_arg *a = prog->args + prog->first_arg[action]; a < end; a++) {
        uint32_t octets = (a->width + 7) / 8;
        if (a->width > 128) {
            memcpy(data + a->at, args, octets);
        } else {
            u128 v = sw_ldn128(args, octets) & sw_mask128(a->width);
            uint32_t stored = 1; /* as layout.storage() */
            while (stored < octets)
                stored *= 2;
            memcpy(data + a->at, &v, stored);
        }
        args += octets;
    }
    return true;
}

void sw_assert_failed(sw_engine *e, sw_pkt *p)
{
    e->failed_assertions++;
    p->dropped = true;
}

bool sw_again(sw_engine *e, sw_pkt *p)
{
    if (p->repetitions < SW_REPETITIONS) {
        p->repetitions++;
        return true;
    }
    if (!p->dropped)
        e->loop_drops++;
    p->dropped = true;
    return false;
}

static void swap_bytes(uint8_t *a, uint8_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

static void stack_swap(uint8_t *array, size_t size, uint8_t *valid, size_t i, size_t k)
{
    swap_bytes(array + i * size, array + k * size, size);
    swap_bytes(valid + i, valid + k, 1);
}

void sw_stack_up(void *array, size_t size, uint8_t *valid, uint32_t n, uint64_t count)
{
    for (size_t i = n; count && i-- > count;)
        stack_swap(array, size, valid, i, i - (size_t)count);
}

void sw_stack_down(void *array, size_t size, uint8_t *valid, uint32_t n, uint64_t count)
{
    for (size_t i = 0; count && count < n && i < n - count; i++)
        stack_swap(array, size, valid, i, i + (size_t)count);
}

void sw_next_push(uint8_t *next, uint32_t n, uint64_t count)
{
    *next = count < n - *next ? (uint8_t)(*next + count) : (uint8_t)n;
}

void sw_next_pop(uint8_t *next, uint32_t n, uint64_t count)
{
    (void)n;
    *next = count < *next ? (uint8_t)(*next - count) : 0;
}

void sw_stack_push(void *array, size_t size, uint8_t *valid, uint8_t *next, uint32_t n,
                   uint64_t count)
{
    sw_next_push(next, n, count);
    sw_stack_up(array, size, valid, n, count);
    memset(valid, 0, count < n ? (size_t)count : n);
}

void sw_stack_pop(void *array, size_t size, uint8_t *valid, uint8_t *next, uint32_t n,
                  uint64_t count)
{
    size_t by = count < n ? (size_t)count : n;
    sw_next_pop(next, n, count);
    sw_stack_down(array, size, valid, n, count);
    memset(valid + (n - by), 0, by);
}
