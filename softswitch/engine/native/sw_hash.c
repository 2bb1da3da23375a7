#include "sw_hash.h"

uint32_t sw_crc32_table[8][256];
uint16_t sw_crc16_table[8][256];
uint16_t sw_ccitt_table[256];

void sw_hash_init(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t a = i, b = i, c = i << 8;
        for (int k = 0; k < 8; k++) {
            a = a & 1 ? a >> 1 ^ 0xedb88320u : a >> 1;
            b = b & 1 ? b >> 1 ^ 0xa001u : b >> 1;
            c = c & 0x8000u ? c << 1 ^ 0x1021u : c << 1;
        }
        sw_crc32_table[0][i] = a;
        sw_crc16_table[0][i] = (uint16_t)b;
        sw_ccitt_table[i] = (uint16_t)c;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++) {
            uint32_t v = sw_crc32_table[k - 1][i];
            uint16_t w = sw_crc16_table[k - 1][i];
            sw_crc32_table[k][i] = sw_crc32_table[0][v & 255] ^ v >> 8;
            sw_crc16_table[k][i] = (uint16_t)(sw_crc16_table[0][w & 255] ^ w >> 8);
        }
}

uint64_t sw_hash_crc32(const uint8_t *p, size_t n)
{
    uint32_t(*t)[256] = sw_crc32_table;
    uint32_t c = 0xffffffffu;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t a, b;
        memcpy(&a, p, 4);
        memcpy(&b, p + 4, 4);
        a ^= c;
        c = t[7][a & 255] ^ t[6][a >> 8 & 255] ^ t[5][a >> 16 & 255] ^ t[4][a >> 24] ^
            t[3][b & 255] ^ t[2][b >> 8 & 255] ^ t[1][b >> 16 & 255] ^ t[0][b >> 24];
    }
    while (n--)
        c = t[0][(c ^ *p++) & 255] ^ c >> 8;
    return c ^ 0xffffffffu;
}

uint64_t sw_hash_crc16(const uint8_t *p, size_t n)
{
    uint16_t(*t)[256] = sw_crc16_table;
    uint16_t c = 0;
    for (; n >= 8; n -= 8, p += 8)
        c = t[7][(p[0] ^ c) & 255] ^ t[6][(p[1] ^ c >> 8) & 255] ^ t[5][p[2]] ^ t[4][p[3]] ^
            t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
    while (n--)
        c = (uint16_t)(t[0][(c ^ *p++) & 255] ^ c >> 8);
    return c;
}

uint64_t sw_hash_crcCCITT(const uint8_t *p, size_t n)
{
    uint16_t c = 0xffff;
    while (n--)
        c = (uint16_t)(sw_ccitt_table[(c >> 8 ^ *p++) & 255] ^ c << 8);
    return c;
}

uint64_t sw_hash_csum16(const uint8_t *p, size_t n)
{
    uint64_t sum = 0;
    for (; n >= 4; n -= 4, p += 4)
        sum += sw_ld32(p);
    if (n >= 2) {
        sum += sw_ld16(p);
        n -= 2;
        p += 2;
    }
    if (n)
        sum += (uint64_t)*p << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return ~sum & 0xffff;
}

static uint64_t xor_words(const uint8_t *p, size_t n, unsigned size)
{
    uint64_t v = 0;
    for (; n >= size; n -= size, p += size)
        v ^= sw_ldn(p, size);
    if (n)
        v ^= sw_ldn(p, (unsigned)n) << (8 * (size - n));
    return v;
}

uint64_t sw_hash_xor16(const uint8_t *p, size_t n) { return xor_words(p, n, 2); }
uint64_t sw_hash_xor32(const uint8_t *p, size_t n) { return xor_words(p, n, 4); }
uint64_t sw_hash_identity(const uint8_t *p, size_t n) { return sw_ldn(p, n < 8 ? (unsigned)n : 8); }
