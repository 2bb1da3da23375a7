"""Builders for every packet the tests send or expect.

A *datagram* is a packet from its IP header on, as bytes; a *frame* has an Ethernet header in
front. Builders take and return bytes, so that an expected packet is a function of the input
packet and nothing is re-encoded implicitly.
"""

import struct
from collections.abc import Sequence
from ipaddress import IPv6Address
from typing import Any, TypedDict, Unpack

from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import GRE
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw
from scapy.utils import checksum

from fcn.contract.ecn import Ecn as Ecn
from fcn.packets.arn import ARN_HOP_LIMIT, ARN_PORT, Arn
from fcn.packets.fast_cnp import FAST_CNP_PORT, FastCnp
from fcn.packets.icrc import icrc
from fcn.packets.roce import BTH, CNP_RESERVED, DEFAULT_P_KEY, ROCEV2_PORT, Opcode

VXLAN_PORT = 4789
MPLS_UDP_PORT = 6635
BECN = 0x40
IPV4_HEADER = 20
IPV6_HEADER = 40
UDP_HEADER = 8
BTH_HEADER = 12
_PROTO_IPV4 = 4
_PROTO_IPV6 = 41


class IpFields(TypedDict, total=False):
    """Header fields `ip` takes besides the addresses; what is left out is scapy's default."""

    ttl: int
    """TTL or hop limit, 64 by default."""
    traffic_class: int
    """TOS or traffic class octet."""
    flow_label: int
    nh: int
    """IPv6 next header."""
    proto: int
    """IPv4 protocol."""
    id: int
    flags: str
    frag: int
    """IPv4 fragment offset in units of 8 octets."""
    options: list[Packet]
    """IPv4 options."""


def _ip_version(datagram: bytes) -> int:
    return datagram[0] >> 4


def ip(src: str, dst: str, payload: Packet | bytes, **fields: Unpack[IpFields]) -> bytes:
    """An IPv4 or IPv6 datagram, by the address family of `dst`.

    Lengths and the header checksum are computed.
    """
    names = (
        {"ttl": "hlim", "traffic_class": "tc", "flow_label": "fl"}
        if ":" in dst
        else {"traffic_class": "tos"}
    )
    header: dict[str, Any] = {names.get(name, name): value for name, value in fields.items()}
    layer = IPv6 if ":" in dst else IP
    body = Raw(payload) if isinstance(payload, bytes) else payload
    return bytes(layer(src=src, dst=dst, **({"hlim": 64} if layer is IPv6 else {}) | header) / body)


def udp(
    src: str,
    dst: str,
    sport: int,
    dport: int,
    payload: bytes = b"fcn test payload",
    **fields: Unpack[IpFields],
) -> bytes:
    """A UDP datagram with a valid checksum; fields as in `ip`."""
    return ip(src, dst, UDP(sport=sport, dport=dport) / Raw(payload), **fields)


def udp_flows(src: str, dst: str, first: int, count: int) -> list[bytes]:
    """As `udp`, to port 53, from source ports that follow one another: scapy takes a millisecond
    for each. The checksum changes by RFC 1624."""
    one = udp(src, dst, first, 53)
    at = IPV6_HEADER if ":" in dst else IPV4_HEADER
    before, between, after = one[:at], one[at + 2 : at + 6], one[at + 8 :]
    rest = (int.from_bytes(one[at + 6 : at + 8]) ^ 0xFFFF) + (first ^ 0xFFFF)
    found = []
    for port in range(first, first + count):
        total = (rest + port) % 0xFFFF
        check = (total ^ 0xFFFF).to_bytes(2)
        found.append(before + port.to_bytes(2) + between + check + after)
    return found


def roce(
    src: str,
    dst: str,
    dest_qp: int,
    *,
    opcode: int = Opcode.RC_RDMA_WRITE_ONLY,
    payload: bytes = b"rdma payload 16b",
    psn: int = 1,
    p_key: int = DEFAULT_P_KEY,
    ack_req: bool = False,
    fecn_becn: int = 0,
    sport: int = 0xC001,
    ecn: int = Ecn.ECT0,
    dscp: int = 26,
    udp_checksum: int = 0,
    **fields: Unpack[IpFields],
) -> bytes:
    """A RoCEv2 datagram with a valid ICRC.

    payload: what follows the BTH (extended headers included), a multiple of 4 octets.
    """
    bth = BTH(
        opcode=opcode,
        pkey=p_key,
        fecn=fecn_becn >> 7,
        becn=fecn_becn >> 6,
        resv6=fecn_becn,
        dqpn=dest_qp,
        ackreq=ack_req,
        psn=psn,
        icrc=0,
    )
    transport = UDP(sport=sport, dport=ROCEV2_PORT, chksum=udp_checksum)
    fields["traffic_class"] = dscp << 2 | ecn
    whole = ip(src, dst, transport / bth / Raw(payload), **fields)
    return whole[:-4] + icrc(whole[:-4])


def cnp(
    src: str,
    dst: str,
    dest_qp: int,
    *,
    p_key: int = DEFAULT_P_KEY,
    traffic_class: int = 0xC0,
    ttl: int = 64,
    sport: int = 0xC000,
    ipv4_id: int = 0,
) -> bytes:
    """A standard RoCEv2 CNP (FCN-13): BECN set, 16 zero octets, valid ICRC.

    Over IPv4 DF is set and the UDP checksum is zero; over IPv6 the UDP checksum is computed.
    """
    fields = IpFields(ttl=ttl) if ":" in dst else IpFields(ttl=ttl, id=ipv4_id, flags="DF")
    datagram = roce(
        src,
        dst,
        dest_qp,
        opcode=Opcode.CNP,
        payload=CNP_RESERVED,
        psn=0,
        p_key=p_key,
        fecn_becn=BECN,
        sport=sport,
        dscp=traffic_class >> 2,
        ecn=traffic_class & 3,
        **fields,
    )
    return with_udp_checksum(datagram) if ":" in dst else datagram


def fast_cnp(
    src: str,
    dst: str,
    label: int,
    level: int = 0,
    *,
    reserved: int = 0,
    sport: int = 0xC0DE,
    dport: int = FAST_CNP_PORT,
    **fields: Unpack[IpFields],
) -> bytes:
    """A Fast CNP (FCN-9) with a valid UDP checksum; fields as in `ip`."""
    word = FastCnp(label=label, level=level, reserved=reserved)
    return ip(src, dst, UDP(sport=sport, dport=dport) / word, **fields)


def arn(
    src: str,
    dst: str,
    message: Arn | bytes,
    *,
    sport: int = 0xC0DE,
    dport: int = ARN_PORT,
    **fields: Unpack[IpFields],
) -> bytes:
    """An ARN between neighbours (SRF-5) with a valid UDP checksum; hop limit 255 unless given."""
    fields = {"ttl": ARN_HOP_LIMIT, **fields}
    return ip(src, dst, UDP(sport=sport, dport=dport) / Raw(bytes(message)), **fields)


# -- tunnels (FCN-5) ---------------------------------------------------------------------------


def srv6(
    inner: bytes,
    src: str,
    dst: str,
    segments: Sequence[str] = (),
    segments_left: int = 0,
    tag: int = 0,
    **fields: Unpack[IpFields],
) -> bytes:
    """SRv6 (RFC 8986): `inner` behind an outer IPv6 header and, with segments, an SRH.

    segments: in wire order, the last SID first. Red encapsulation lists one SID fewer than the
    path has, so segments_left may be last entry + 1.
    """
    protocol = _PROTO_IPV4 if _ip_version(inner) == 4 else _PROTO_IPV6
    fields["nh"] = 43 if segments else protocol
    if not segments:
        return ip(src, dst, inner, **fields)
    header = IPv6ExtHdrSegmentRouting(
        nh=protocol,
        addresses=list(segments),
        segleft=segments_left,
        lastentry=len(segments) - 1,
        tag=tag,
        len=2 * len(segments),
    )
    return ip(src, dst, header / Raw(inner), **fields)


def srv6_red_path(sids: Sequence[str]) -> tuple[str, list[str], int]:
    """H.Encaps.Red of SIDs in travel order: (destination, segment list as on the wire, SL)."""
    return sids[0], list(reversed(sids[1:])), len(sids) - 1


def srv6_full_path(sids: Sequence[str]) -> tuple[str, list[str], int]:
    """H.Encaps of SIDs in travel order: (destination, segment list as on the wire, SL)."""
    return sids[0], list(reversed(sids)), len(sids) - 1


def vxlan(
    inner: bytes,
    src: str,
    dst: str,
    vni: int,
    *,
    inner_src_mac: str = "02:aa:00:00:00:01",
    inner_dst_mac: str = "02:aa:00:00:00:02",
    sport: int = 0xC123,
    checksum_zero: bool = False,
    **fields: Unpack[IpFields],
) -> bytes:
    """VXLAN over IPv6 (RFC 7348) carrying one Ethernet frame around `inner`."""
    transport = UDP(sport=sport, dport=VXLAN_PORT, **({"chksum": 0} if checksum_zero else {}))
    frame = ethernet(inner, src=inner_src_mac, dst=inner_dst_mac)
    return ip(src, dst, transport / VXLAN(flags=0x08, vni=vni) / Raw(frame), **fields)


def gre(inner: bytes, src: str, dst: str, key: int | None, **fields: Unpack[IpFields]) -> bytes:
    """GRE over IPv6 (RFC 7676), with a key (RFC 2890) or without one."""
    proto = 0x0800 if _ip_version(inner) == 4 else 0x86DD
    fields["nh"] = 47
    header = GRE(proto=proto) if key is None else GRE(key_present=1, key=key, proto=proto)
    return ip(src, dst, header / Raw(inner), **fields)


def mpls_udp(
    inner: bytes,
    src: str,
    dst: str,
    labels: Sequence[int],
    *,
    sport: int = 0xC124,
    tc: int = 0,
    mpls_ttl: int = 64,
    checksum_zero: bool = False,
    **fields: Unpack[IpFields],
) -> bytes:
    """An MPLS label stack over UDP over IPv6 (RFC 7510), top label first."""
    stack = b"".join(
        bytes(MPLS(label=label, cos=tc, s=int(i == len(labels) - 1), ttl=mpls_ttl))
        for i, label in enumerate(labels)
    )
    transport = UDP(sport=sport, dport=MPLS_UDP_PORT, **({"chksum": 0} if checksum_zero else {}))
    return ip(src, dst, transport / Raw(stack + inner), **fields)


# -- Ethernet ----------------------------------------------------------------------------------


def ethernet(
    datagram: bytes, *, src: str, dst: str, vlan: int = 0, ether_type: int | None = None
) -> bytes:
    """A frame around `datagram`; vlan 0 is untagged; the EtherType follows the IP version."""
    if ether_type is None:
        ether_type = 0x0800 if _ip_version(datagram) == 4 else 0x86DD
    macs = bytes.fromhex((dst + src).replace(":", ""))
    tag = b"\x81\x00" + vlan.to_bytes(2) if vlan else b""
    return macs + tag + ether_type.to_bytes(2) + datagram


def datagram_of(frame: bytes) -> bytes:
    """What follows the Ethernet header and its 802.1Q tag, if any."""
    return frame[18:] if frame[12:14] == b"\x81\x00" else frame[14:]


# -- what a node does to a datagram ------------------------------------------------------------


def with_traffic_class(datagram: bytes, traffic_class: int) -> bytes:
    """The datagram with this TOS or traffic class octet and a valid IPv4 checksum."""
    out = bytearray(datagram)
    if _ip_version(datagram) == 4:
        out[1] = traffic_class
        return _with_ipv4_checksum(out)
    out[0:2] = struct.pack("!H", 6 << 12 | traffic_class << 4 | out[1] & 0x0F)
    return bytes(out)


def traffic_class_of(datagram: bytes) -> int:
    if _ip_version(datagram) == 4:
        return datagram[1]
    return int.from_bytes(datagram[0:2], "big") >> 4 & 0xFF


def with_ecn(datagram: bytes, ecn: int) -> bytes:
    """The datagram with this ECN field and a valid IPv4 checksum."""
    return with_traffic_class(datagram, traffic_class_of(datagram) & 0xFC | ecn)


def ecn_of(datagram: bytes) -> Ecn:
    return Ecn(traffic_class_of(datagram) & 3)


def with_ttl(datagram: bytes, ttl: int) -> bytes:
    """The datagram with this TTL or hop limit and a valid IPv4 checksum."""
    out = bytearray(datagram)
    if _ip_version(datagram) == 4:
        out[8] = ttl
        return _with_ipv4_checksum(out)
    out[7] = ttl
    return bytes(out)


def with_destination(datagram: bytes, dst: str) -> bytes:
    """The IPv6 datagram to another address, its checksums as they were."""
    return datagram[:24] + IPv6Address(dst).packed + datagram[40:]


def with_total_length(datagram: bytes, total_length: int) -> bytes:
    """The IPv4 datagram with this total length, correct or not, and a valid header checksum."""
    out = bytearray(datagram)
    out[2:4] = total_length.to_bytes(2, "big")
    return _with_ipv4_checksum(out)


def ttl_of(datagram: bytes) -> int:
    """TTL or hop limit."""
    return datagram[8] if _ip_version(datagram) == 4 else datagram[7]


def routed(datagram: bytes) -> bytes:
    """The datagram after one routing hop: TTL or hop limit one less."""
    return with_ttl(datagram, ttl_of(datagram) - 1)


def flow_label_of(datagram: bytes) -> int:
    """The IPv6 flow label."""
    return int.from_bytes(datagram[0:4], "big") & 0xFFFFF


def udp_source_port_of(datagram: bytes) -> int:
    """Source port of a UDP datagram whose IPv6 header has no extension."""
    return int.from_bytes(datagram[IPV6_HEADER : IPV6_HEADER + 2], "big")


def with_udp_checksum(datagram: bytes, value: int | None = None) -> bytes:
    """The UDP datagram with the right checksum, or with `value` in its place."""
    packet = IP(datagram) if _ip_version(datagram) == 4 else IPv6(datagram)
    if value is None:
        del packet[UDP].chksum
    else:
        packet[UDP].chksum = value
    return bytes(packet)


def udp_checksum_valid(datagram: bytes) -> bool:
    """Whether a UDP datagram carries the right, non-zero checksum."""
    packet = IP(datagram) if _ip_version(datagram) == 4 else IPv6(datagram)
    return bool(packet[UDP].chksum) and with_udp_checksum(datagram) == datagram


def _with_ipv4_checksum(header_and_payload: bytearray) -> bytes:
    length = (header_and_payload[0] & 0x0F) * 4
    header_and_payload[10:12] = b"\0\0"
    value: int = checksum(bytes(header_and_payload[:length]))
    header_and_payload[10:12] = value.to_bytes(2, "big")
    return bytes(header_and_payload)
