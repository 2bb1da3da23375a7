/* Octet offsets and types of Ethernet frames (IEEE 802.3, 802.1Q). */
#ifndef LAB_ETHERNET_H
#define LAB_ETHERNET_H

enum {
    ETHERNET_TYPE = 12,
    ETHERNET_HEADER = 14,
    VLAN_TAG = 4,
    SHORTEST_FRAME = 60, /* padded; without the check sequence */
    TYPE_IPV4 = 0x0800,
    TYPE_ARP = 0x0806,
    TYPE_VLAN = 0x8100,
    TYPE_IPV6 = 0x86dd,
    TYPE_MPLS = 0x8847,
};

#endif
