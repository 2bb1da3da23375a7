// Sizes and fixed numbers of the data plane; sizes that differ between targets are in their
// externs.p4. The controller reads table sizes from P4Info.
#ifndef FCN_CONFIG_P4
#define FCN_CONFIG_P4

const int PORT_TABLE_SIZE = 512;
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
const int DIGEST_FILTER_SIZE = 65536;
const int PORT_COUNTER_SIZE = 512;
const int REASON_COUNTER_SIZE = 64;

const bit<8> TUNNEL_HOP_LIMIT = 64;

// A Fast CNP on the wire: Ethernet 14 + IPv6 40 + UDP 8 + word 4.
const bit<32> FAST_CNP_FRAME_LENGTH = 66;
const bit<16> FAST_CNP_UDP_LENGTH = 12;

// A CNP: BTH 12 + reserved 16 + ICRC 4 behind UDP 8, over IPv4 (20) or IPv6 (40), on Ethernet (14).
const bit<16> CNP_UDP_LENGTH = 40;
const bit<16> CNP_IPV4_TOTAL_LENGTH = 60;
const bit<32> CNP_IPV4_FRAME_LENGTH = 74;
const bit<32> CNP_IPV6_FRAME_LENGTH = 94;
const bit<32> VLAN_TAG_LENGTH = 4;

#endif
