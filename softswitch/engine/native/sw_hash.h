/* The hash algorithms of simple_switch that v1model programs use. */
#ifndef SW_HASH_H
#define SW_HASH_H

#include "sw_base.h"

/* CRC tables, filled once by sw_hash_init(). */
extern uint32_t sw_crc32_table[8][256];
extern uint16_t sw_crc16_table[8][256];
extern uint16_t sw_ccitt_table[256];
void sw_hash_init(void);

uint64_t sw_hash_crc32(const uint8_t *p, size_t n);    /* zlib: 0x04c11db7, reflected */
uint64_t sw_hash_crc16(const uint8_t *p, size_t n);    /* ARC: 0x8005, reflected, initially 0 */
uint64_t sw_hash_crcCCITT(const uint8_t *p, size_t n); /* 0x1021, initially 0xffff */
uint64_t sw_hash_csum16(const uint8_t *p, size_t n);   /* RFC 1071 */
uint64_t sw_hash_xor16(const uint8_t *p, size_t n);
uint64_t sw_hash_xor32(const uint8_t *p, size_t n);
uint64_t sw_hash_identity(const uint8_t *p, size_t n); /* the first eight bytes */
#define sw_hash_cksum16 sw_hash_csum16
#endif
