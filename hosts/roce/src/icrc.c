#include "icrc.h"

#include "wire.h"

#include <stdbool.h>
#include <string.h>

/* CRC-32 of IEEE 802.3, reflected: the polynomial of the Ethernet FCS. */
#define CRC32_POLYNOMIAL 0xEDB88320u
/* State after eight octets of ones, which stand for the masked LRH of InfiniBand. */
#define ICRC_SEED 0xDEBB20E3u

/* crc_table[k][i]: octet i, followed by k octets of zeros. */
static uint32_t crc_table[8][256];
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

uint32_t roce_icrc(const uint8_t *packet, size_t len)
{
    uint8_t head[IPV6_HEADER + UDP_HEADER + BTH_HEADER];
    size_t ip_len;

    if (!crc_table_ready)
        make_crc_table();
    if (packet[0] >> 4 == 4) {
        ip_len = IPV4_HEADER;
        memcpy(head, packet, IPV4_HEADER + UDP_HEADER + BTH_HEADER);
        head[IPV4_TOS] = 0xff;
        head[IPV4_TTL] = 0xff;
        memset(head + IPV4_CHECKSUM, 0xff, 2);
    } else {
        ip_len = IPV6_HEADER;
        memcpy(head, packet, IPV6_HEADER + UDP_HEADER + BTH_HEADER);
        /* Traffic class and flow label are the low 28 bits of the first word. */
        head[0] |= 0x0f;
        memset(head + 1, 0xff, 3);
        head[IPV6_HOP_LIMIT] = 0xff;
    }
    memset(head + ip_len + UDP_CHECKSUM, 0xff, 2);
    head[ip_len + UDP_HEADER + BTH_BECN] = 0xff;

    size_t head_len = ip_len + UDP_HEADER + BTH_HEADER;
    uint32_t crc = crc_update(ICRC_SEED, head, head_len);
    return ~crc_update(crc, packet + head_len, len - head_len);
}
