// Types and enumerations of all programs. The controller reads the enumerations from what is compiled.
#ifndef FCN_TYPES_P4
#define FCN_TYPES_P4

typedef bit<9> port_t;
typedef bit<12> vlan_id_t;
typedef bit<16> vrf_t;
// The last bits of a VRF's number, which tell the VRFs of one configuration apart: the index of what is kept per
// VRF. 0 is the underlay.
typedef bit<12> vrf_cell_t;
#define VRF_CELL(vrf) (vrf)[11:0]
typedef bit<16> tunnel_t;
typedef bit<20> flow_label_t;
typedef bit<24> qpn_t;
typedef bit<24> psn_t;
typedef bit<3> congestion_level_t;
// What a random number of 16 bits may be at most for a packet to be marked: n is a probability of (n + 1) / 65536.
typedef bit<16> probability_t;
typedef bit<32> microseconds_t;
// Between two notifications or reports: microseconds on BMv2, ticks of 256 ns on a chip
typedef bit<32> interval_t;
typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<128> ipv6_addr_t;

// Labels given to RoCE flows have this bit set, entropy labels have it clear (FCN-2).
const flow_label_t FCN_LABEL_BIT = 0x80000;
const flow_label_t ENTROPY_LABEL_MASK = 0x7ffff;
// Source ports of tunnels over UDP that carry entropy: 49152 to 65535 (RFC 7348 section 5, RFC 7510 section 3)
const bit<16> ENTROPY_PORTS = 0xc000;

enum bit<16> EtherType {
    IPV4 = 0x0800,
    ARP = 0x0806,
    MAC_CONTROL = 0x8808,
    VLAN = 0x8100,
    IPV6 = 0x86dd
}

enum bit<8> IpProtocol {
    IPV4 = 4,
    UDP = 17,
    IPV6 = 41,
    ROUTING = 43,
    GRE = 47,
    ICMPV6 = 58
}

enum bit<16> UdpPort {
    BFD = 3784,
    VXLAN = 4789,
    ROCEV2 = 4791,
    MPLS = 6635
}

// RFC 3168 section 5
enum bit<2> Ecn {
    NOT_ECT = 0,
    ECT1 = 1,
    ECT0 = 2,
    CE = 3
}

// RFC 6040 section 4.1. TWO_THRESHOLD is the normal mode with ECT(1) sent as ECT(0), because ECT(1) means light
// congestion in that domain (PEC-5).
enum bit<2> EcnEncapMode {
    NORMAL = 0,
    COMPATIBILITY = 1,
    TWO_THRESHOLD = 2
}

// The level of a Fast CNP that says light congestion (PEC-2); every other level says heavy.
const congestion_level_t LIGHT_CONGESTION_LEVEL = 1;

// IBTA volume 1, chapter 9.2 and annex A17
enum bit<8> BthOpcode {
    UD_SEND_ONLY = 0x64,
    CNP = 0x81
}

// IBTA volume 1, chapter 12.6: attribute IDs of the connection manager class
enum bit<16> CmAttribute {
    REQ = 0x10,
    MRA = 0x11,
    REJ = 0x12,
    REP = 0x13,
    RTU = 0x14,
    DREQ = 0x15,
    DREP = 0x16
}
const bit<8> MAD_CLASS_CM = 0x07;
const qpn_t QP1 = 1;

// The first 16 bits of source addresses that no router forwards, as keys of a table: those of RFC 4291 sections
// 2.5.2, 2.5.3, 2.5.6 and 2.7, and of RFC 1812 section 5.3.7 and RFC 3927 section 2.7
#define IPV6_UNSPECIFIED_OR_LOOPBACK 0
#define IPV6_LINK_LOCAL 0xfe80 &&& 0xffc0
#define IPV6_MULTICAST 0xff00 &&& 0xff00
#define IPV4_THIS_NETWORK 0 &&& 0xff00
#define IPV4_LOOPBACK 0x7f00 &&& 0xff00
#define IPV4_LINK_LOCAL 0xa9fe
#define IPV4_MULTICAST 0xe000 &&& 0xf000
#define IPV4_BROADCAST 0xffff

// RFC 826, RFC 5227: operations of ARP
enum bit<16> ArpOperation {
    REQUEST = 1,
    REPLY = 2
}

// RFC 4861 section 4
enum bit<8> NdType {
    SOLICITATION = 135,
    ADVERTISEMENT = 136
}

// RFC 4861 section 4.6, RFC 3971 section 5.3.2
enum bit<8> NdOption {
    SOURCE_MAC = 1,
    TARGET_MAC = 2,
    NONCE = 14
}

// RFC 4861 section 4.4
const bit<32> ROUTER_SOLICITED_OVERRIDE = 0xe0000000;
const bit<32> ROUTER_OVERRIDE = 0xa0000000;
const ipv6_addr_t ALL_NODES = 0xff020000000000000000000000000001;
const mac_addr_t ALL_NODES_MAC = 0x333300000001; // RFC 2464 section 7

// Who is on the other side of a port.
enum bit<2> Role {
    NONE = 0,
    DC = 1,
    CORE = 2
}

// Whose address the underlay destination of a packet is.
enum bit<3> Destination {
    OTHER = 0,
    NODE = 1,
    END_SID = 2,
    SERVICE_SID = 3,
    END_CON = 4
}

enum bit<4> TunnelType {
    NONE = 0,
    VXLAN = 1,
    GRE = 2,
    MPLS_UDP = 3
}

// Which lookup forwards the packet next.
enum bit<2> Forward {
    NONE = 0,
    VRF = 1,
    TUNNEL = 2,
    UNDERLAY = 3
}

// What tells a node or a sender about congestion or a failure; the index of the counters `notifications_*`.
enum bit<8> NotificationKind {
    NONE = 0,
    FAST_CNP = 1,
    CNP = 2,
    // A CNP for the sender without its queue pair, in a packet to the ingress PE's END.CON SID (SRF-4)
    END_CON_CNP = 3,
    // For the upstream neighbour (SRF-5)
    ARN = 4,
    // A PAUSE frame for the data centre (SRF-8)
    PAUSE = 5,
    // For the ingress PE: failure, congestion, load (FAN-1)
    FANTEL = 6,
    // For the far end of a link (FAN-4)
    HELLO = 7
}

enum bit<7> PuntReason {
    NONE = 0,
    ARP = 1,
    ND = 2,
    NEIGHBOR_MISS = 3,
    LOCAL = 4,
    UNDERLAY_LOCAL = 5,
    UNDERLAY_GLEAN = 6
}

// What a later pass parses that the first did not
enum bit<3> ParseMore {
    NONE = 0,
    // The parameters of an ARN for this node
    ARN = 1,
    // What the tunnel carries, at a node that forwards it by the underlay alone
    INNER = 2,
    // Nothing: it is cut off
    NOTHING = 3,
    // The parameters of a FANTEL message for this node
    FANTEL = 4,
    // A BFD control packet for this node
    BFD = 5
}
// A packet that waits, or waited, for a data centre that paused: it stays as it came, in its tunnel, so that its names are
// those of the wire, and goes through ingress again when it may leave.
#define WAITED_FOR_DC ParseMore.NOTHING

// Why a packet was dropped; the index of counter `drops`.
enum bit<8> DropReason {
    NONE = 0,
    UNKNOWN_PORT = 1,
    MALFORMED = 2,
    BAD_CHECKSUM = 3,
    BAD_LENGTH = 4,
    UNSUPPORTED = 5,
    TTL_EXPIRED = 6,
    NO_ROUTE = 7,
    BLACKHOLE = 8,
    UNKNOWN_TUNNEL = 9,
    SRH_INVALID = 10,
    ECN_NOT_ECT_CE = 11,
    NOTIFICATION_ON_DC_PORT = 12,
    NOTIFICATION_UNTRUSTED = 13,
    NOTIFICATION_MALFORMED = 14,
    TRANSLATION_DISABLED = 15,
    LABEL_UNKNOWN = 16,
    SOURCE_QP_UNKNOWN = 17,
    FLOW_INTERVAL = 18,
    NODE_RATE_LIMIT = 19,
    PUNT_RATE_LIMIT = 20,
    OTHER_STATION = 21,
    BAD_SOURCE = 22,
    LIGHT_CONGESTION_RATE = 30,
    // An ARN names something else than this domain holds.
    ARN_UNSUPPORTED = 32,
    HOLD_LIMIT = 33,
    HOLD_NO_CELL = 34,
    HOLD_NO_ROOM = 35,
    // A message about a path says nothing this PE acts on; its node is not on that path, or nobody knows the path; it
    // is older than what its node reported last, or the same.
    FANTEL_UNSUPPORTED = 36,
    PATH_REPORTER_UNKNOWN = 37,
    NOTIFICATION_STALE = 38,
    // The next hop is dead, and no other leads there without a loop.
    LINK_DOWN = 39,
    // A message about a path came by a port by which none of its node comes; its numbers are farther ahead of the last
    // ones than its node can be.
    NOTIFICATION_WRONG_PORT = 44,
    NOTIFICATION_JUMP = 45
}

// What a packet turned out to be; the index of counter `events`.
enum bit<8> Event {
    NONE = 0,
    OWN_CONGESTION = 1,
    ECN_UNUSED_COMBINATION = 2,
    ECN_DANGEROUS_COMBINATION = 3,
    ARP_ANSWERED = 4,
    ND_ANSWERED = 5,
    // The tunnel does not show a P the RoCEv2 packet whose sender it would tell (SRF-4); the packet itself went on.
    INNER_OPAQUE = 6,
    // Decapsulated: ECT(1) outside, which a node set at light congestion (PEC-5)
    LIGHT_CE = 10,
    // This PE was told of light congestion of a flow (PEC-3)
    LIGHT_CONGESTION = 11,
    SLOWED = 12,
    REROUTED = 13,
    // A report on a path that no policy of this PE has, and a bad one on the last that was of use.
    PATH_UNKNOWN = 14,
    PATH_NONE_LEFT = 15,
    // Its next hop is dead, another one took it.
    REPAIRED = 16
}

// What is reported to the controller; the index of counter `reports`.
enum bit<8> ReportKind {
    NONE = 0,
    NEW_FLOW = 1,
    CM_MESSAGE = 2
}

#endif
