/* Integers, byte order and bit access shared by the runtime and the generated code. */
#ifndef SW_BASE_H
#define SW_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SW_INLINE static inline __attribute__((always_inline, unused))
#define SW_OWN static __attribute__((noinline, unused))
#define SW_API __attribute__((visibility("default")))
#define SW_LIKELY(x) __builtin_expect(!!(x), 1)
#define SW_UNLIKELY(x) __builtin_expect(!!(x), 0)

typedef unsigned __int128 u128;
typedef __int128 s128;
/* Stored 128-bit fields need no more than 8-byte alignment. */
typedef u128 u128_mem __attribute__((aligned(8)));

/* Mask of the low n bits, 0 <= n <= 64 (128). */
SW_INLINE uint64_t sw_mask64(unsigned n) { return n >= 64 ? ~0ULL : (1ULL << n) - 1; }
SW_INLINE u128 sw_mask128(unsigned n) { return n >= 128 ? ~(u128)0 : ((u128)1 << n) - 1; }

/* Two's complement value of the low n bits. */
SW_INLINE int64_t sw_sext64(uint64_t v, unsigned n)
{
    uint64_t sign = 1ULL << (n - 1);
    v &= sw_mask64(n);
    return (int64_t)((v ^ sign) - sign);
}
SW_INLINE s128 sw_sext128(u128 v, unsigned n)
{
    u128 sign = (u128)1 << (n - 1);
    v &= sw_mask128(n);
    return (s128)((v ^ sign) - sign);
}

/* Shifts by any amount; a right shift of a negative number is arithmetic. */
SW_INLINE uint64_t sw_shl64(uint64_t v, uint64_t n) { return n >= 64 ? 0 : v << n; }
SW_INLINE u128 sw_shl128(u128 v, uint64_t n) { return n >= 128 ? 0 : v << n; }
SW_INLINE uint64_t sw_shr64(uint64_t v, uint64_t n) { return n >= 64 ? 0 : v >> n; }
SW_INLINE u128 sw_shr128(u128 v, uint64_t n) { return n >= 128 ? 0 : v >> n; }
SW_INLINE int64_t sw_sar64(int64_t v, uint64_t n) { return v >> (n >= 64 ? 63 : n); }
SW_INLINE s128 sw_sar128(s128 v, uint64_t n) { return v >> (n >= 128 ? 127 : n); }

/* Division by zero has no meaning in P4; the result here is zero. */
SW_INLINE u128 sw_div128(u128 a, u128 b) { return b ? a / b : 0; }
SW_INLINE u128 sw_mod128(u128 a, u128 b) { return b ? a % b : 0; }
SW_INLINE uint64_t sw_div64(uint64_t a, uint64_t b) { return b ? a / b : 0; }
SW_INLINE uint64_t sw_mod64(uint64_t a, uint64_t b) { return b ? a % b : 0; }

SW_INLINE uint64_t sw_ld16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, 2);
    return __builtin_bswap16(v);
}
SW_INLINE uint64_t sw_ld32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return __builtin_bswap32(v);
}
SW_INLINE uint64_t sw_ld64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return __builtin_bswap64(v);
}
SW_INLINE void sw_st16(uint8_t *p, uint64_t x)
{
    uint16_t v = __builtin_bswap16((uint16_t)x);
    memcpy(p, &v, 2);
}
SW_INLINE void sw_st32(uint8_t *p, uint64_t x)
{
    uint32_t v = __builtin_bswap32((uint32_t)x);
    memcpy(p, &v, 4);
}
SW_INLINE void sw_st64(uint8_t *p, uint64_t x)
{
    uint64_t v = __builtin_bswap64(x);
    memcpy(p, &v, 8);
}

/* Big-endian integers of n bytes, n <= 8; n is a constant wherever speed matters. */
SW_INLINE uint64_t sw_ldn(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    unsigned i = 0;
    if (n == 8)
        return sw_ld64(p);
    if (n >= 4) {
        v = sw_ld32(p);
        i = 4;
    }
    if (n - i >= 2) {
        v = v << 16 | sw_ld16(p + i);
        i += 2;
    }
    if (n - i)
        v = v << 8 | p[i];
    return v;
}
SW_INLINE void sw_stn(uint8_t *p, uint64_t v, unsigned n)
{
    unsigned i = 0;
    if (n == 8) {
        sw_st64(p, v);
        return;
    }
    if (n >= 4) {
        sw_st32(p, v >> (8 * (n - 4)));
        i = 4;
    }
    if (n - i >= 2) {
        sw_st16(p + i, v >> (8 * (n - i - 2)));
        i += 2;
    }
    if (n - i)
        p[i] = (uint8_t)v;
}
/* The same for up to 16 bytes. */
SW_INLINE u128 sw_ldn128(const uint8_t *p, unsigned n)
{
    if (n <= 8)
        return sw_ldn(p, n);
    return (u128)sw_ldn(p, n - 8) << 64 | sw_ld64(p + n - 8);
}
SW_INLINE void sw_stn128(uint8_t *p, u128 v, unsigned n)
{
    if (n <= 8) {
        sw_stn(p, (uint64_t)v, n);
        return;
    }
    sw_stn(p, (uint64_t)(v >> 64), n - 8);
    sw_st64(p + n - 8, (uint64_t)v);
}

/* Whether big-endian numbers of n and m octets are equal, whatever their lengths. */
static inline __attribute__((unused)) bool sw_number_equal(const uint8_t *a, uint32_t n,
                                                           const uint8_t *b, uint32_t m)
{
    for (; n > m; n--)
        if (*a++)
            return false;
    for (; m > n; m--)
        if (*b++)
            return false;
    return !memcmp(a, b, n);
}

/* Copy `width` bits that start `bit` bits into src to dst as a right-aligned big-endian integer. */
static inline __attribute__((unused)) void sw_bits_get(const uint8_t *src, uint32_t bit,
                                                       uint32_t width, uint8_t *dst)
{
    uint32_t n = (width + 7) / 8, pad = n * 8 - width;
    memset(dst, 0, n);
    for (uint32_t i = 0; i < width; i++) {
        uint32_t s = bit + i, d = pad + i;
        if (src[s / 8] >> (7 - s % 8) & 1)
            dst[d / 8] |= (uint8_t)(1u << (7 - d % 8));
    }
}
/* The reverse; bits of dst outside the field stay. */
static inline __attribute__((unused)) void sw_bits_put(uint8_t *dst, uint32_t bit, uint32_t width,
                                                       const uint8_t *src)
{
    uint32_t n = (width + 7) / 8, pad = n * 8 - width;
    for (uint32_t i = 0; i < width; i++) {
        uint32_t s = pad + i, d = bit + i;
        uint8_t m = (uint8_t)(1u << (7 - d % 8));
        if (src[s / 8] >> (7 - s % 8) & 1)
            dst[d / 8] |= m;
        else
            dst[d / 8] &= (uint8_t)~m;
    }
}
#endif
