#include "lab_kind.h"

#include "bytes.h"
#include "lab_api.h"
#include "lab_ethernet.h"
#include "wire.h"

/* The tunnels of the PEs: IP in IPv6 with or without an SRH (RFC 8754), VXLAN (RFC 7348), GRE (RFC
 * 2784, RFC 2890), MPLS in UDP (RFC 7510). Ports and protocols as in p4src/base/types.p4;
 * FCN_LABEL_BIT is set by lab/build.py. */
enum {
    PROTOCOL_IPV4 = 4,
    PROTOCOL_IPV6 = 41,
    PROTOCOL_ROUTING = 43,
    PROTOCOL_GRE = 47,
    VXLAN_PORT = 4789,
    MPLS_PORT = 6635,
    VXLAN_HEADER = 8,
    GRE_HEADER = 4,
    GRE_OPTION = 4, /* each of checksum, key and sequence number */
    MPLS_LABEL = 4,
    MOST_HEADERS = 16, /* a frame has an end, but following it may take long */
};

/* What is left of a frame, and what it is by its headers so far. */
typedef struct {
    const uint8_t *at;
    uint32_t left, kind;
    uint16_t fast_cnp_port;
    unsigned ip_headers;
    bool labelled; /* the outermost one has the label of a flow (FCN-2) */
} rest;

static bool skip(rest *r, uint32_t octets)
{
    if (octets > r->left) {
        r->left = 0;
        return false;
    }
    r->at += octets;
    r->left -= octets;
    return true;
}

static uint32_t ethertype_of_ip(const rest *r)
{
    uint8_t version = r->left ? r->at[0] >> 4 : 0;
    return version == 4 ? TYPE_IPV4 : version == 6 ? TYPE_IPV6 : 0;
}

static uint32_t after_ethernet(rest *r)
{
    if (r->left < ETHERNET_HEADER)
        return 0;
    uint32_t type = get16(r->at + ETHERNET_TYPE);
    skip(r, ETHERNET_HEADER);
    while (type == TYPE_VLAN && r->left >= VLAN_TAG) {
        type = get16(r->at + 2);
        skip(r, VLAN_TAG);
    }
    return type;
}

static uint32_t after_gre(rest *r)
{
    if (r->left < GRE_HEADER)
        return 0;
    uint32_t flags = get16(r->at), type = get16(r->at + 2);
    uint32_t options = (flags >> 15 & 1) + (flags >> 13 & 1) + (flags >> 12 & 1);
    return skip(r, GRE_HEADER + options * GRE_OPTION) ? type : 0;
}

static uint32_t after_mpls(rest *r)
{
    bool bottom = false;
    while (!bottom && r->left >= MPLS_LABEL) {
        bottom = r->at[2] & 1;
        skip(r, MPLS_LABEL);
    }
    return bottom ? ethertype_of_ip(r) : 0;
}

static uint32_t after_udp(rest *r)
{
    if (r->left < UDP_HEADER)
        return 0;
    uint32_t port = get16(r->at + UDP_DST);
    skip(r, UDP_HEADER);
    if (port == r->fast_cnp_port)
        r->kind |= LAB_KIND_FAST_CNP;
    else if (port == ROCE_UDP_PORT && r->left && r->at[0] == OPCODE_CNP)
        r->kind |= r->ip_headers > 1 && r->labelled ? LAB_KIND_END_CON_CNP : LAB_KIND_CNP;
    else if (port == VXLAN_PORT)
        return skip(r, VXLAN_HEADER) ? after_ethernet(r) : 0;
    else if (port == MPLS_PORT)
        return TYPE_MPLS;
    return 0;
}

static uint32_t after_protocol(rest *r, uint8_t protocol)
{
    while (protocol == PROTOCOL_ROUTING) {
        if (r->left < 2)
            return 0;
        protocol = r->at[0];
        if (!skip(r, 8 + 8 * (uint32_t)r->at[1]))
            return 0;
    }
    if (protocol == PROTOCOL_IPV4)
        return TYPE_IPV4;
    if (protocol == PROTOCOL_IPV6)
        return TYPE_IPV6;
    if (protocol == PROTOCOL_GRE)
        return after_gre(r);
    return protocol == IP_PROTOCOL_UDP ? after_udp(r) : 0;
}

static void note_ecn(rest *r, unsigned ecn)
{
    if ((ecn & ECN_CE) == ECN_CE)
        r->kind |= LAB_KIND_MARKED;
}

/* The EtherType of what the IP packet contains, 0 when that is no packet. */
static uint32_t after_ip(rest *r, uint32_t type)
{
    const uint8_t *ip = r->at;
    r->ip_headers++;
    if (type == TYPE_IPV6) {
        if (!skip(r, IPV6_HEADER))
            return 0;
        note_ecn(r, ip[1] >> 4);
        if (r->ip_headers == 1)
            r->labelled = get32(ip) & FCN_LABEL_BIT;
        return after_protocol(r, ip[IPV6_NEXT_HEADER]);
    }
    if (r->left < IPV4_HEADER || !skip(r, 4 * (uint32_t)(ip[0] & 15)))
        return 0;
    note_ecn(r, ip[IPV4_TOS]);
    return after_protocol(r, ip[IPV4_PROTOCOL]);
}

uint32_t lab_kind_of(const uint8_t *frame, uint32_t len, uint16_t fast_cnp_port, bool *ends)
{
    rest r = {.at = frame, .left = len, .fast_cnp_port = fast_cnp_port};
    uint32_t type = after_ethernet(&r);
    for (uint32_t i = 0; i < MOST_HEADERS && type; i++)
        if (type == TYPE_IPV4 || type == TYPE_IPV6)
            type = after_ip(&r, type);
        else
            type = type == TYPE_MPLS ? after_mpls(&r) : 0;
    *ends = r.left < IPV6_HEADER; /* the most that is read at once */
    return r.kind;
}
