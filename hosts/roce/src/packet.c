#include "packet.h"

#include "bytes.h"
#include "checksum.h"
#include "icrc.h"

#include <string.h>

static size_t address_len(const struct ip_address *address)
{
    return address->version == 4 ? 4 : 16;
}

bool ip_address_equal(const struct ip_address *a, const struct ip_address *b)
{
    return a->version == b->version && memcmp(a->octets, b->octets, address_len(a)) == 0;
}

/* Checksum of a UDP datagram with its pseudo-header; ip is the IPv4 or IPv6 header before it. The
 * zeros of a gap add nothing. */
static uint16_t udp_checksum(const uint8_t *ip, size_t ip_len, size_t udp_len, size_t gap)
{
    bool v4 = ip_len == IPV4_HEADER;
    uint32_t sum = checksum_add(0, ip + (v4 ? IPV4_SRC : IPV6_SRC), v4 ? 8 : 32);

    sum += IP_PROTOCOL_UDP + (uint32_t)udp_len;
    return checksum_of(checksum_add(sum, ip + ip_len, udp_len - gap));
}

static void build_ip(const struct roce_packet *packet, uint8_t *out, size_t udp_len)
{
    uint8_t traffic_class = (uint8_t)(packet->dscp << 2 | packet->ecn);

    if (packet->src.version == 4) {
        out[0] = 0x45;
        out[IPV4_TOS] = traffic_class;
        put16(out + IPV4_LENGTH, (uint32_t)(IPV4_HEADER + udp_len));
        put16(out + IPV4_ID, packet->ipv4_id);
        put16(out + IPV4_FLAGS, IPV4_DONT_FRAGMENT);
        out[IPV4_TTL] = DEFAULT_HOP_LIMIT;
        out[IPV4_PROTOCOL] = IP_PROTOCOL_UDP;
        put16(out + IPV4_CHECKSUM, 0);
        memcpy(out + IPV4_SRC, packet->src.octets, 4);
        memcpy(out + IPV4_DST, packet->dst.octets, 4);
        put16(out + IPV4_CHECKSUM, checksum_of(checksum_add(0, out, IPV4_HEADER)));
    } else {
        put32(out, 6u << 28 | (uint32_t)traffic_class << 20);
        put16(out + IPV6_LENGTH, (uint32_t)udp_len);
        out[IPV6_NEXT_HEADER] = IP_PROTOCOL_UDP;
        out[IPV6_HOP_LIMIT] = DEFAULT_HOP_LIMIT;
        memcpy(out + IPV6_SRC, packet->src.octets, 16);
        memcpy(out + IPV6_DST, packet->dst.octets, 16);
    }
}

size_t roce_length(const struct roce_packet *packet)
{
    size_t ip_len = packet->src.version == 4 ? IPV4_HEADER : IPV6_HEADER;

    return ip_len + UDP_HEADER + BTH_HEADER + packet->payload_len + ICRC_LENGTH;
}

size_t roce_build(const struct roce_packet *packet, size_t gap, uint8_t *out, size_t capacity)
{
    size_t ip_len = packet->src.version == 4 ? IPV4_HEADER : IPV6_HEADER;
    size_t udp_len = UDP_HEADER + BTH_HEADER + packet->payload_len + ICRC_LENGTH;

    if (packet->payload_len % 4 || packet->payload_len > ROCE_MAX_PAYLOAD ||
        ip_len + udp_len - gap > capacity)
        return 0;
    build_ip(packet, out, udp_len);

    uint8_t *udp = out + ip_len;
    put16(udp + UDP_SRC, packet->udp_src_port);
    put16(udp + UDP_DST, ROCE_UDP_PORT);
    put16(udp + UDP_LENGTH, (uint32_t)udp_len);
    put16(udp + UDP_CHECKSUM, 0);

    uint8_t *bth = udp + UDP_HEADER;
    memset(bth, 0, BTH_HEADER);
    bth[0] = packet->opcode;
    put16(bth + BTH_P_KEY, packet->p_key);
    bth[BTH_BECN] = packet->becn ? 0x40 : 0;
    put24(bth + BTH_DEST_QP, packet->dest_qp);
    bth[BTH_ACK_REQ] = packet->ack_req ? 0x80 : 0;
    put24(bth + BTH_PSN, packet->psn);
    size_t filled = packet->payload_len - packet->zeros;
    if (filled)
        memcpy(bth + BTH_HEADER, packet->payload, filled);
    memset(bth + BTH_HEADER + filled, 0, packet->zeros - gap);

    size_t covered = ip_len + udp_len - ICRC_LENGTH;
    uint32_t icrc = roce_icrc(out, covered, gap);
    for (int i = 0; i < ICRC_LENGTH; i++)
        out[covered - gap + (size_t)i] = (uint8_t)(icrc >> (8 * i));
    if (packet->src.version == 6) {
        uint16_t checksum = udp_checksum(out, ip_len, udp_len, gap);
        put16(udp + UDP_CHECKSUM, checksum ? checksum : 0xffff);
    }
    return ip_len + udp_len;
}

const char *roce_verdict_name(enum roce_verdict verdict)
{
    static const char *const names[ROCE_VERDICTS] = {
        "ok", "not_roce", "bad_length", "bad_checksum", "bad_icrc", "not_ours",
    };
    return names[verdict];
}

static enum roce_verdict parse_ipv4(const uint8_t *data, size_t len, struct roce_packet *packet,
                                    size_t *ip_total)
{
    if (len < IPV4_HEADER)
        return ROCE_BAD_LENGTH;
    if (data[0] != 0x45 || data[IPV4_PROTOCOL] != IP_PROTOCOL_UDP ||
        get16(data + IPV4_FLAGS) & IPV4_MORE_AND_OFFSET)
        return ROCE_NOT_ROCE;
    if (checksum_of(checksum_add(0, data, IPV4_HEADER)) != 0)
        return ROCE_BAD_CHECKSUM;
    *ip_total = get16(data + IPV4_LENGTH);
    packet->src.version = packet->dst.version = 4;
    packet->dscp = data[IPV4_TOS] >> 2;
    packet->ecn = (enum ecn)(data[IPV4_TOS] & 3);
    packet->ipv4_id = get16(data + IPV4_ID);
    memcpy(packet->src.octets, data + IPV4_SRC, 4);
    memcpy(packet->dst.octets, data + IPV4_DST, 4);
    return ROCE_OK;
}

static enum roce_verdict parse_ipv6(const uint8_t *data, size_t len, struct roce_packet *packet,
                                    size_t *ip_total)
{
    if (len < IPV6_HEADER)
        return ROCE_BAD_LENGTH;
    if (data[IPV6_NEXT_HEADER] != IP_PROTOCOL_UDP)
        return ROCE_NOT_ROCE;
    uint8_t traffic_class = (uint8_t)(get16(data) >> 4);
    *ip_total = IPV6_HEADER + (size_t)get16(data + IPV6_LENGTH);
    packet->src.version = packet->dst.version = 6;
    packet->dscp = traffic_class >> 2;
    packet->ecn = (enum ecn)(traffic_class & 3);
    packet->ipv4_id = 0;
    memcpy(packet->src.octets, data + IPV6_SRC, 16);
    memcpy(packet->dst.octets, data + IPV6_DST, 16);
    return ROCE_OK;
}

static bool icrc_valid(const uint8_t *data, size_t covered, size_t gap)
{
    uint32_t icrc = roce_icrc(data, covered, gap);

    for (int i = 0; i < ICRC_LENGTH; i++)
        if (data[covered - gap + (size_t)i] != (uint8_t)(icrc >> (8 * i)))
            return false;
    return true;
}

enum roce_verdict roce_parse(const uint8_t *data, size_t len, size_t gap, struct roce_packet *packet)
{
    size_t ip_total = 0;
    enum roce_verdict verdict;

    memset(packet, 0, sizeof *packet);
    if (len < 1)
        return ROCE_BAD_LENGTH;
    if (data[0] >> 4 == 4)
        verdict = parse_ipv4(data, len, packet, &ip_total);
    else if (data[0] >> 4 == 6)
        verdict = parse_ipv6(data, len, packet, &ip_total);
    else
        return ROCE_NOT_ROCE;
    if (verdict != ROCE_OK)
        return verdict;

    size_t ip_len = packet->src.version == 4 ? IPV4_HEADER : IPV6_HEADER;
    if (ip_total > len || ip_total < ip_len + UDP_HEADER)
        return ROCE_BAD_LENGTH;
    const uint8_t *udp = data + ip_len;
    if (get16(udp + UDP_DST) != ROCE_UDP_PORT)
        return ROCE_NOT_ROCE;
    size_t udp_len = get16(udp + UDP_LENGTH);
    if (udp_len != ip_total - ip_len || udp_len < UDP_HEADER + BTH_HEADER + ICRC_LENGTH)
        return ROCE_BAD_LENGTH;
    /* Zero is "no checksum": usual over IPv4, accepted over IPv6 because the ICRC protects, too. */
    if (get16(udp + UDP_CHECKSUM) != 0 && udp_checksum(data, ip_len, udp_len, gap) != 0)
        return ROCE_BAD_CHECKSUM;
    if (!icrc_valid(data, ip_total - ICRC_LENGTH, gap))
        return ROCE_BAD_ICRC;

    const uint8_t *bth = udp + UDP_HEADER;
    size_t payload = udp_len - UDP_HEADER - BTH_HEADER - ICRC_LENGTH;
    size_t pad = (bth[BTH_FLAGS] >> 4) & 3;
    if (pad > payload)
        return ROCE_BAD_LENGTH;
    packet->udp_src_port = get16(udp + UDP_SRC);
    packet->opcode = bth[0];
    packet->p_key = get16(bth + BTH_P_KEY);
    packet->becn = bth[BTH_BECN] & 0x40;
    packet->dest_qp = get24(bth + BTH_DEST_QP);
    packet->ack_req = bth[BTH_ACK_REQ] & 0x80;
    packet->psn = get24(bth + BTH_PSN);
    packet->payload = bth + BTH_HEADER;
    packet->payload_len = payload - pad;
    return ROCE_OK;
}

uint16_t roce_udp_src_port(uint32_t local_qp, uint32_t remote_qp)
{
    uint64_t v = (uint64_t)local_qp * remote_qp;

    v ^= v >> 20;
    v ^= v >> 40;
    uint32_t flow_label = (uint32_t)v & 0xfffff;
    return (uint16_t)(((flow_label & 0x3fff) ^ (flow_label >> 14)) | 0xc000);
}
