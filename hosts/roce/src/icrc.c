#include "icrc.h"

#include "packet.h"

#include <stdbool.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* CRC-32 of IEEE 802.3, reflected: the polynomial of the Ethernet FCS. */
#define CRC32_POLYNOMIAL 0xEDB88320u
/* State after eight octets of ones, which stand for the masked LRH of InfiniBand. */
#define ICRC_SEED 0xDEBB20E3u

/* crc_table[k][i]: octet i, followed by k octets of zeros. */
static uint32_t crc_table[8][256];
/* What so many octets of zeros multiply a CRC by. */
static uint32_t zeros_table[UINT16_MAX];
static bool crc_table_ready;

static void make_crc_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) ? CRC32_POLYNOMIAL : 0);
        crc_table[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++) {
            uint32_t crc = crc_table[k - 1][i];
            crc_table[k][i] = (crc >> 8) ^ crc_table[0][crc & 0xff];
        }
    zeros_table[0] = 1u << 31;
    for (size_t i = 1; i < UINT16_MAX; i++)
        zeros_table[i] = zeros_table[i - 1] >> 8 ^ crc_table[0][zeros_table[i - 1] & 0xff];
    crc_table_ready = true;
}

static uint32_t crc_update(uint32_t crc, const uint8_t *data, size_t len)
{
    uint32_t(*t)[256] = crc_table;

    for (; len >= 8; len -= 8, data += 8)
        crc = t[7][(data[0] ^ crc) & 0xff] ^ t[6][(data[1] ^ crc >> 8) & 0xff] ^
              t[5][(data[2] ^ crc >> 16) & 0xff] ^ t[4][data[3] ^ crc >> 24] ^ t[3][data[4]] ^
              t[2][data[5]] ^ t[1][data[6]] ^ t[0][data[7]];
    while (len--)
        crc = (crc >> 8) ^ t[0][(crc ^ *data++) & 0xff];
    return crc;
}

/* The product of polynomials modulo that of the CRC; their highest bit is that of x to the 0. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;

    for (int bit = 31; bit >= 0; bit--) {
        product ^= b & -(a >> bit & 1);
        b = b >> 1 ^ (CRC32_POLYNOMIAL & -(b & 1));
    }
    return product;
}

#ifdef __x86_64__
/*
 * Carry-less multiplication folds octets into 16 with the same CRC, and these into the CRC (Gopal et
 * al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009; the
 * constants are powers of x modulo the polynomial, the polynomial and its inverse, bit-reflected).
 */
#define FOLD_TARGET __attribute__((target("pclmul,sse2")))

FOLD_TARGET static __m128i fold(__m128i x, __m128i by, __m128i next)
{
    __m128i low = _mm_clmulepi64_si128(x, by, 0x00), high = _mm_clmulepi64_si128(x, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

static __m128i load(const uint8_t *data)
{
    return _mm_loadu_si128((const __m128i *)(const void *)data);
}

/* The octets before are folded into x; len: a multiple of 16. */
FOLD_TARGET static __m128i fold_all(__m128i x, const uint8_t *data, size_t len)
{
    const __m128i by_512 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i by_128 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);

    if (len >= 128) {
        __m128i four[4] = {fold(x, by_128, load(data))};
        for (int i = 1; i < 4; i++)
            four[i] = load(data + 16 * i);
        for (data += 64, len -= 64; len >= 64; data += 64, len -= 64)
            for (int i = 0; i < 4; i++)
                four[i] = fold(four[i], by_512, load(data + 16 * i));
        x = four[0];
        for (int i = 1; i < 4; i++)
            x = fold(x, by_128, four[i]);
    }
    for (; len; data += 16, len -= 16)
        x = fold(x, by_128, load(data));
    return x;
}

/* The CRC, from 0 on, of 16 octets. */
FOLD_TARGET static uint32_t crc_of_folded(__m128i x)
{
    const __m128i by_96 = _mm_set_epi64x(0x0ccaa009e, 0), by_64 = _mm_set_epi64x(0, 0x163cd6124);
    const __m128i inverse = _mm_set_epi64x(0x1f7011641, 0x1db710641);
    const __m128i low = _mm_set_epi32(0, -1, 0, -1);

    x = _mm_xor_si128(_mm_srli_si128(x, 8), _mm_clmulepi64_si128(x, by_96, 0x10));
    x = _mm_xor_si128(_mm_srli_si128(x, 4), _mm_clmulepi64_si128(_mm_and_si128(x, low), by_64, 0));
    __m128i times = _mm_and_si128(_mm_clmulepi64_si128(_mm_and_si128(x, low), inverse, 0x10), low);
    x = _mm_xor_si128(x, _mm_clmulepi64_si128(times, inverse, 0));
    return (uint32_t)_mm_cvtsi128_si32(_mm_srli_si128(x, 4));
}

/* As crc_of_parts() below. */
FOLD_TARGET static uint32_t fold_parts(const uint8_t *first, size_t first_len, const uint8_t *data,
                                       size_t len, size_t gap)
{
    uint8_t last[16] = {0};
    __m128i x = fold_all(load(first), first + 16, first_len - 16);
    uint32_t crc = crc_of_folded(fold_all(x, data, len));

    if (!gap)
        return crc;
    memcpy(last + sizeof last - ROCE_BEHIND_GAP, data + len, ROCE_BEHIND_GAP);
    x = _mm_clmulepi64_si128(_mm_cvtsi64_si128(crc), _mm_cvtsi64_si128(zeros_table[gap]), 0);
    return crc_of_folded(_mm_xor_si128(_mm_slli_epi64(x, 1), load(last)));
}
#endif

/* Of two parts, multiples of 16 octets, and where there is a gap of that and what is behind it. */
static uint32_t crc_of_parts(const uint8_t *first, size_t first_len, const uint8_t *data, size_t len,
                             size_t gap)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("pclmul"))
        return fold_parts(first, first_len, data, len, gap);
#endif
    uint32_t crc = crc_update(crc_update(0, first, first_len), data, len);
    return gap ? crc_update(multiply(crc, zeros_table[gap]), data + len, ROCE_BEHIND_GAP) : crc;
}

uint32_t roce_icrc(const uint8_t *packet, size_t len, size_t gap)
{
    bool four = packet[0] >> 4 == 4;
    size_t ip_len = four ? IPV4_HEADER : IPV6_HEADER, head_len = ip_len + UDP_HEADER + BTH_HEADER;
    size_t before = gap ? len - gap - ROCE_BEHIND_GAP : len;
    size_t copied = head_len + (before - head_len) % 16;
    /* Zeros before a message do not change a CRC that begins with 0: with them it is a multiple of 16. */
    uint8_t first[IPV6_HEADER + UDP_HEADER + BTH_HEADER + 32] = {0}, *head = first + (-before & 15);

    if (!crc_table_ready)
        make_crc_table();
    memcpy(head, packet, copied);
    if (four) {
        head[IPV4_TOS] = 0xff;
        head[IPV4_TTL] = 0xff;
        memset(head + IPV4_CHECKSUM, 0xff, 2);
    } else {
        /* Traffic class and flow label are the low 28 bits of the first word. */
        head[0] |= 0x0f;
        memset(head + 1, 0xff, 3);
        head[IPV6_HOP_LIMIT] = 0xff;
    }
    memset(head + ip_len + UDP_CHECKSUM, 0xff, 2);
    head[ip_len + UDP_HEADER + BTH_BECN] = 0xff;
    for (int i = 0; i < 4; i++)
        head[i] ^= (uint8_t)(ICRC_SEED >> (8 * i));
    return ~crc_of_parts(first, (size_t)(head - first) + copied, packet + copied, before - copied, gap);
}
