#include "lab_neighbor.h"

#include <string.h>

#include "bytes.h"
#include "checksum.h"
#include "lab_ethernet.h"

enum {
    /* RFC 826, from the Ethernet header on */
    ARP_OPERATION = ETHERNET_HEADER + 6,
    ARP_SENDER_MAC = ETHERNET_HEADER + 8,
    ARP_SENDER_IP = ETHERNET_HEADER + 14,
    ARP_TARGET_MAC = ETHERNET_HEADER + 18,
    ARP_TARGET_IP = ETHERNET_HEADER + 24,
    ARP_END = ETHERNET_HEADER + 28,
    ARP_REQUEST = 1,
    ARP_REPLY = 2,
    /* RFC 4861 sections 4.3 and 4.4, from the IPv6 header on */
    ICMP = IPV6_HEADER,
    ICMP_TYPE = ICMP,
    ICMP_CODE = ICMP + 1,
    ICMP_CHECKSUM = ICMP + 2,
    ICMP_FLAGS = ICMP + 4,
    ICMP_TARGET = ICMP + 8,
    ICMP_END = ICMP + 24,
    OPTION = ICMP_END,
    OPTION_END = OPTION + 8,
    PROTOCOL_ICMPV6 = 58,
    SOLICITATION = 135,
    ADVERTISEMENT = 136,
    OPTION_TARGET_MAC = 2,
    SOLICITED = 0x40,
    OVERRIDE = 0x20,
    ND_HOP_LIMIT = 255,
};

/* Ethernet, IPv4 addresses, of 6 and 4 octets */
static const uint8_t arp_kinds[6] = {0, 1, 8, 0, 6, 4};

static sw_frame *answer_to(lab_host *h, const uint8_t *to, const uint8_t *mac, uint32_t type,
                           uint32_t len)
{
    uint32_t padded = len < SHORTEST_FRAME ? SHORTEST_FRAME : len;
    sw_frame *f = lab_host_frame(h, padded);
    if (!f)
        return NULL;
    uint8_t *out = f->data + f->head;
    memset(out, 0, padded);
    memcpy(out, to, 6);
    memcpy(out + 6, mac, 6);
    put16(out + ETHERNET_TYPE, type);
    return f;
}

static sw_frame *answer_arp(lab_host *h, const uint8_t *mac, const struct ip_address *address,
                            const uint8_t *asked, uint32_t len)
{
    if (len < ARP_END || address->version != 4 ||
        memcmp(asked + ETHERNET_HEADER, arp_kinds, sizeof arp_kinds) ||
        get16(asked + ARP_OPERATION) != ARP_REQUEST ||
        memcmp(asked + ARP_TARGET_IP, address->octets, 4))
        return NULL;
    sw_frame *f = answer_to(h, asked + ARP_SENDER_MAC, mac, TYPE_ARP, ARP_END);
    if (!f)
        return NULL;
    uint8_t *out = f->data + f->head;
    memcpy(out + ETHERNET_HEADER, arp_kinds, sizeof arp_kinds);
    put16(out + ARP_OPERATION, ARP_REPLY);
    memcpy(out + ARP_SENDER_MAC, mac, 6);
    memcpy(out + ARP_SENDER_IP, address->octets, 4);
    memcpy(out + ARP_TARGET_MAC, asked + ARP_SENDER_MAC, 6);
    memcpy(out + ARP_TARGET_IP, asked + ARP_SENDER_IP, 4);
    return f;
}

/* The checksum of an ICMPv6 message with its pseudo-header; 0 when it is there and right. */
static uint16_t icmp_checksum(const uint8_t *ip, uint32_t octets)
{
    uint32_t sum = checksum_add(PROTOCOL_ICMPV6 + octets, ip + IPV6_SRC, 32);
    return checksum_of(checksum_add(sum, ip + ICMP, octets));
}

/* RFC 4861 section 7.1.1. */
static bool is_solicitation(const uint8_t *ip, uint32_t len)
{
    if (len < ICMP_END || ip[0] >> 4 != 6 || ip[IPV6_NEXT_HEADER] != PROTOCOL_ICMPV6 ||
        ip[IPV6_HOP_LIMIT] != ND_HOP_LIMIT || ip[ICMP_TYPE] != SOLICITATION || ip[ICMP_CODE])
        return false;
    uint32_t octets = get16(ip + IPV6_LENGTH);
    return octets >= ICMP_END - ICMP && octets <= len - IPV6_HEADER && !icmp_checksum(ip, octets);
}

static sw_frame *answer_solicitation(lab_host *h, const uint8_t *mac,
                                     const struct ip_address *address, const uint8_t *asked,
                                     uint32_t len)
{
    static const uint8_t nobody[16], all_nodes[16] = {0xff, 2, [15] = 1};
    static const uint8_t all_nodes_mac[6] = {0x33, 0x33, [5] = 1};
    const uint8_t *ip = asked + ETHERNET_HEADER;
    if (address->version != 6 || !is_solicitation(ip, len - ETHERNET_HEADER) ||
        memcmp(ip + ICMP_TARGET, address->octets, 16))
        return NULL;
    /* Somebody who tries whether the address is in use has none. */
    bool anonymous = !memcmp(ip + IPV6_SRC, nobody, 16);
    const uint8_t *to = anonymous ? all_nodes_mac : asked + 6;
    sw_frame *f = answer_to(h, to, mac, TYPE_IPV6, ETHERNET_HEADER + OPTION_END);
    if (!f)
        return NULL;
    uint8_t *out = f->data + f->head + ETHERNET_HEADER;
    out[0] = 6 << 4;
    put16(out + IPV6_LENGTH, OPTION_END - ICMP);
    out[IPV6_NEXT_HEADER] = PROTOCOL_ICMPV6;
    out[IPV6_HOP_LIMIT] = ND_HOP_LIMIT;
    memcpy(out + IPV6_SRC, address->octets, 16);
    memcpy(out + IPV6_DST, anonymous ? all_nodes : ip + IPV6_SRC, 16);
    out[ICMP_TYPE] = ADVERTISEMENT;
    out[ICMP_FLAGS] = anonymous ? OVERRIDE : SOLICITED | OVERRIDE;
    memcpy(out + ICMP_TARGET, address->octets, 16);
    out[OPTION] = OPTION_TARGET_MAC;
    out[OPTION + 1] = 1;
    memcpy(out + OPTION + 2, mac, 6);
    put16(out + ICMP_CHECKSUM, icmp_checksum(out, OPTION_END - ICMP));
    return f;
}

sw_frame *lab_neighbor_answer(lab_host *h, const uint8_t mac[6], const struct ip_address *address,
                              const sw_frame *question)
{
    const uint8_t *asked = question->data + question->head;
    if (question->len < ETHERNET_HEADER)
        return NULL;
    uint32_t type = get16(asked + ETHERNET_TYPE);
    if (type == TYPE_ARP)
        return answer_arp(h, mac, address, asked, question->len);
    return type == TYPE_IPV6 ? answer_solicitation(h, mac, address, asked, question->len) : NULL;
}
