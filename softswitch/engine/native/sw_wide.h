/* Integers of more than 128 bits: two's complement in SW_WIDE 64-bit limbs, least first.
 * The generator sets SW_WIDE so that no exact result overflows; results that do not fit are only
 * used modulo a power of two. */
#ifndef SW_WIDE_H
#define SW_WIDE_H

#include "sw_base.h"

typedef struct {
    uint64_t l[SW_WIDE];
} sw_w;

#define SW_WIDE_FN static inline __attribute__((unused))

SW_WIDE_FN sw_w sw_w_u(u128 v)
{
    sw_w r = {{0}};
    r.l[0] = (uint64_t)v;
    r.l[1] = (uint64_t)(v >> 64);
    return r;
}
SW_WIDE_FN sw_w sw_w_s(s128 v)
{
    sw_w r;
    memset(&r, v < 0 ? 0xff : 0, sizeof r);
    r.l[0] = (uint64_t)(u128)v;
    r.l[1] = (uint64_t)((u128)v >> 64);
    return r;
}
SW_WIDE_FN u128 sw_w_low(sw_w a) { return (u128)a.l[1] << 64 | a.l[0]; }
SW_WIDE_FN bool sw_w_neg(sw_w a) { return a.l[SW_WIDE - 1] >> 63; }

/* n bytes, big-endian. */
SW_WIDE_FN sw_w sw_w_ld(const uint8_t *p, unsigned n)
{
    sw_w r = {{0}};
    for (unsigned i = 0; i < n && i < SW_WIDE * 8; i++)
        r.l[i / 8] |= (uint64_t)p[n - 1 - i] << (8 * (i % 8));
    return r;
}
SW_WIDE_FN void sw_w_st(uint8_t *p, unsigned n, sw_w a)
{
    for (unsigned i = 0; i < n; i++)
        p[n - 1 - i] = i < SW_WIDE * 8 ? (uint8_t)(a.l[i / 8] >> (8 * (i % 8)))
                                       : (sw_w_neg(a) ? 0xff : 0);
}
SW_WIDE_FN sw_w sw_w_add(sw_w a, sw_w b)
{
    u128 c = 0;
    for (unsigned i = 0; i < SW_WIDE; i++) {
        c += (u128)a.l[i] + b.l[i];
        a.l[i] = (uint64_t)c;
        c >>= 64;
    }
    return a;
}
SW_WIDE_FN sw_w sw_w_not(sw_w a)
{
    for (unsigned i = 0; i < SW_WIDE; i++)
        a.l[i] = ~a.l[i];
    return a;
}
SW_WIDE_FN sw_w sw_w_sub(sw_w a, sw_w b)
{
    return sw_w_add(sw_w_add(a, sw_w_not(b)), sw_w_u(1));
}
SW_WIDE_FN sw_w sw_w_mul(sw_w a, sw_w b)
{
    sw_w r = {{0}};
    for (unsigned i = 0; i < SW_WIDE; i++) {
        u128 c = 0;
        for (unsigned j = 0; i + j < SW_WIDE; j++) {
            c += (u128)a.l[i] * b.l[j] + r.l[i + j];
            r.l[i + j] = (uint64_t)c;
            c >>= 64;
        }
    }
    return r;
}
SW_WIDE_FN sw_w sw_w_and(sw_w a, sw_w b)
{
    for (unsigned i = 0; i < SW_WIDE; i++)
        a.l[i] &= b.l[i];
    return a;
}
SW_WIDE_FN sw_w sw_w_or(sw_w a, sw_w b)
{
    for (unsigned i = 0; i < SW_WIDE; i++)
        a.l[i] |= b.l[i];
    return a;
}
SW_WIDE_FN sw_w sw_w_xor(sw_w a, sw_w b)
{
    for (unsigned i = 0; i < SW_WIDE; i++)
        a.l[i] ^= b.l[i];
    return a;
}
SW_WIDE_FN sw_w sw_w_shl(sw_w a, uint64_t n)
{
    sw_w r = {{0}};
    uint64_t q = n / 64, k = n % 64;
    for (uint64_t i = SW_WIDE; n < SW_WIDE * 64 && i-- > q;) {
        r.l[i] = a.l[i - q] << k;
        if (k && i > q)
            r.l[i] |= a.l[i - q - 1] >> (64 - k);
    }
    return r;
}
SW_WIDE_FN sw_w sw_w_shr(sw_w a, uint64_t n)
{
    uint64_t fill = sw_w_neg(a) ? ~0ULL : 0, q = n / 64, k = n % 64;
    sw_w r;
    for (uint64_t i = 0; i < SW_WIDE; i++) {
        bool in = n < SW_WIDE * 64;
        uint64_t lo = in && i + q < SW_WIDE ? a.l[i + q] : fill;
        uint64_t hi = in && i + q + 1 < SW_WIDE ? a.l[i + q + 1] : fill;
        r.l[i] = k ? lo >> k | hi << (64 - k) : lo;
    }
    return r;
}
/* Negative, zero or positive as a is less than, equal to or greater than b. */
SW_WIDE_FN int sw_w_cmp(sw_w a, sw_w b)
{
    if (sw_w_neg(a) != sw_w_neg(b))
        return sw_w_neg(a) ? -1 : 1;
    for (unsigned i = SW_WIDE; i-- > 0;)
        if (a.l[i] != b.l[i])
            return a.l[i] < b.l[i] ? -1 : 1;
    return 0;
}
/* The low n bits, as an unsigned number or in two's complement. */
SW_WIDE_FN sw_w sw_w_cut(sw_w a, unsigned n)
{
    for (unsigned i = 0; i < SW_WIDE; i++)
        a.l[i] &= n >= (i + 1) * 64 ? ~0ULL : n <= i * 64 ? 0 : sw_mask64(n - i * 64);
    return a;
}
SW_WIDE_FN sw_w sw_w_sext(sw_w a, unsigned n)
{
    sw_w sign = sw_w_shl(sw_w_u(1), n - 1);
    return sw_w_sub(sw_w_xor(sw_w_cut(a, n), sign), sign);
}
#endif
