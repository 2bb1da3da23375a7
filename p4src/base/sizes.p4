// Sizes and fixed numbers of all programs; sizes that differ between targets are in their externs.p4.
// The controller reads table sizes from P4Info.
#ifndef FCN_SIZES_P4
#define FCN_SIZES_P4

const int PORT_TABLE_SIZE = 512;
const int GATEWAY_TABLE_SIZE = 1024;
const int ENDPOINT_TABLE_SIZE = 256;
const int SERVICE_SID_TABLE_SIZE = 1024;
const int TUNNEL_VRF_TABLE_SIZE = 4096;
const int TUNNEL_TABLE_SIZE = 1024;
const int UNDERLAY_TABLE_SIZE = 4096;
const int UNDERLAY_MEMBERS = 1024;
const int TRUSTED_SOURCE_TABLE_SIZE = 256;
const int NOTIFICATION_PORT_TABLE_SIZE = 16;

// Per-flow state is indexed by the low bits of the flow label: a Tofino register cannot span
// stages, so it holds fewer cells than a 20-bit label has values.
const int FLOW_GATE_SIZE = 65536;
const int LIGHT_CONGESTION_CELLS = 65536;
const int DIGEST_FILTER_SIZE = 65536;
const int PORT_COUNTER_SIZE = 512;
const int VRF_CELLS = 4096;
const int REASON_COUNTER_SIZE = 64;
const int KIND_COUNTER_SIZE = 16;

const bit<8> TUNNEL_HOP_LIMIT = 64;
const bit<8> FANTEL_HOP_LIMIT = 255;

// Octets of headers
const bit<16> ETHERNET_LENGTH = 14;
const bit<16> VLAN_TAG_LENGTH = 4;
const bit<16> TAGGED_ETHERNET_LENGTH = ETHERNET_LENGTH + VLAN_TAG_LENGTH;
const bit<16> IPV4_LENGTH = 20;
const bit<16> IPV6_LENGTH = 40;
const bit<16> SOLICITATION_LENGTH = 24;
const bit<16> SOLICITATION_WITH_OPTION_LENGTH = 32;
const bit<16> UDP_LENGTH = 8;
const bit<16> SRH_LENGTH = 8;
const bit<16> SID_LENGTH = 16;
const bit<16> VXLAN_LENGTH = 8;
const bit<16> GRE_WITH_KEY_LENGTH = 8;
const bit<16> MPLS_LENGTH = 4;
const bit<16> BTH_LENGTH = 12;
const bit<16> ICRC_LENGTH = 4;
const bit<16> CNP_RESERVED_LENGTH = 16;
const bit<16> FAST_CNP_WORD_LENGTH = 4;

const bit<16> FAST_CNP_UDP_LENGTH = UDP_LENGTH + FAST_CNP_WORD_LENGTH;
const bit<16> FAST_CNP_FRAME_LENGTH = ETHERNET_LENGTH + IPV6_LENGTH + FAST_CNP_UDP_LENGTH;

// ARN: the header, a parameter but the five-tuple, that with its ports but without addresses, two addresses
const bit<16> ARN_LENGTH = 4;
const bit<16> ARN_PARAMETER_LENGTH = 4;
const bit<16> ARN_TUPLE_LENGTH = 8;
const bit<16> ARN_IPV4_LENGTH = 8;
const bit<16> ARN_IPV6_LENGTH = 32;
// UDP lengths of those sent here
const bit<16> ARN_PRIORITY_UDP_LENGTH = UDP_LENGTH + ARN_LENGTH + 2 * ARN_PARAMETER_LENGTH;
const bit<16> ARN_TUPLE_UDP_LENGTH = UDP_LENGTH + ARN_LENGTH + ARN_TUPLE_LENGTH + ARN_PARAMETER_LENGTH;
const bit<16> ARN_IPV4_UDP_LENGTH = ARN_TUPLE_UDP_LENGTH + ARN_IPV4_LENGTH;
const bit<16> ARN_IPV6_UDP_LENGTH = ARN_TUPLE_UDP_LENGTH + ARN_IPV6_LENGTH;

// FANTEL: what is in every message, TLVs of one word, five-tuples, buffer status
const bit<16> FANTEL_LENGTH = 24;
const bit<16> FANTEL_WORD_LENGTH = 8;
// Behind ICMPv6 a message has a header of 4 octets less.
const bit<16> FANTEL_WORD_OF_ICMPV6 = 4;
const bit<16> FANTEL_IPV4_TUPLE_LENGTH = 20;
const bit<16> FANTEL_IPV6_TUPLE_LENGTH = 44;
const bit<16> FANTEL_BUFFER_LENGTH = 12;
// RFC 5880 section 4.1, RFC 5881 sections 4 and 5
const bit<3> BFD_VERSION = 1;
const bit<8> BFD_LENGTH = 24;
const bit<16> BFD_UDP_LENGTH = UDP_LENGTH + (bit<16>)BFD_LENGTH;
const bit<16> BFD_SOURCE_PORT = 49152;
const bit<8> BFD_HOP_LIMIT = 255;
const bit<6> BFD_DSCP = 48;
// Authentication present, multipoint
const bit<6> BFD_REFUSED_FLAGS = 0x05;
// The highest utilization and load
const bit<16> PERMILLE = 1000;
const bit<8> HIGHEST_CONGESTION_LEVEL = 7;

const bit<16> CNP_UDP_LENGTH = UDP_LENGTH + BTH_LENGTH + CNP_RESERVED_LENGTH + ICRC_LENGTH;
const bit<16> CNP_IPV4_TOTAL_LENGTH = IPV4_LENGTH + CNP_UDP_LENGTH;

// What a P needs of a packet to write a CNP for its sender: up to the BTH, whatever the tunnel
const bit<16> END_CON_COPY_LENGTH = 256;

#endif
