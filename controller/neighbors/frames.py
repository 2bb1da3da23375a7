"""Frames the controller decodes and builds: ARP, neighbour discovery, ICMP echo.

Frames from the switch are untagged (the VLAN is packet-in metadata); frames to it are as on the
wire. MAC addresses are 48-bit numbers.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import (
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet
from scapy.utils import checksum

from fcn.controller.config.notation import Address, format_mac, parse_mac

_BROADCAST = "ff:ff:ff:ff:ff:ff"
_ALL_NODES = "ff02::1"
_SOLICITED_NODE = int(IPv6Address("ff02::1:ff00:0"))
"""RFC 4291 section 2.7.1; the last 24 bits are the target's."""
_ETHERNET = 14
_IPV4 = 0x0800
_IPV6 = 0x86DD
_ND_HOP_LIMIT = 255
"""A message with another value was forwarded by a router and is invalid (RFC 4861 section 7.1)."""


@dataclass(frozen=True, slots=True)
class Solicitation:
    """A request for the MAC address of `target`.

    `sender` is None in duplicate address detection (RFC 5227, RFC 4862).
    """

    target: Address
    sender: Address | None
    sender_mac: int


@dataclass(frozen=True, slots=True)
class Announcement:
    """`address` is at `mac`."""

    address: Address
    mac: int


@dataclass(frozen=True, slots=True)
class EchoRequest:
    """An ICMP echo request; `sender_mac` is the source of the frame."""

    sender: Address
    sender_mac: int


Message = Solicitation | Announcement | EchoRequest


def interpret(frame: bytes) -> Message | None:
    """Decode a punted frame; None when it is malformed or of another protocol.

    A message quoted by another, such as an ICMP error, or carried in a tunnel is not decoded.
    """
    if len(frame) < _ETHERNET:
        return None
    packet = Ether(frame)
    network = packet.payload
    try:
        if isinstance(network, ARP):
            return _arp(network)
        if isinstance(network, IPv6):
            return _ipv6(packet, network)
        message = network.payload
        if isinstance(network, IP) and isinstance(message, ICMP) and message.type == 8:
            return _echo(IPv4Address(network.src), packet)
    except ValueError:
        return None
    return None


def _echo(sender: Address, packet: Packet) -> EchoRequest | None:
    # Nothing else is sent back to (RFC 1122 section 3.2.2.6, RFC 4291 sections 2.5.2 and 2.7).
    if sender.is_multicast or sender.is_unspecified:
        return None
    return EchoRequest(sender, parse_mac(packet.src))


def _arp(arp: Packet) -> Message | None:
    if (arp.hwtype, arp.ptype, arp.hwlen, arp.plen) != (1, _IPV4, 6, 4):
        return None
    sender, target = IPv4Address(arp.psrc), IPv4Address(arp.pdst)
    mac = parse_mac(arp.hwsrc)
    if arp.op == 2 or (arp.op == 1 and sender == target):
        return Announcement(sender, mac)
    if arp.op == 1:
        return Solicitation(target, sender if int(sender) else None, mac)
    return None


def _ipv6(packet: Packet, header: Packet) -> Message | None:
    sender = IPv6Address(header.src)
    message = header.payload
    if isinstance(message, ICMPv6EchoRequest):
        return _echo(sender, packet)
    if header.hlim != _ND_HOP_LIMIT:
        return None
    if isinstance(message, ICMPv6ND_NS):
        option = packet.getlayer(ICMPv6NDOptSrcLLAddr)
        mac = parse_mac(option.lladdr if option else packet.src)
        return Solicitation(
            IPv6Address(message.tgt), None if sender.is_unspecified else sender, mac
        )
    if isinstance(message, ICMPv6ND_NA):
        option = packet.getlayer(ICMPv6NDOptDstLLAddr)
        mac = parse_mac(option.lladdr if option else packet.src)
        return Announcement(IPv6Address(message.tgt), mac)
    return None


def _ethernet(dst: str, src: int, vlan: int) -> Packet:
    header = Ether(dst=dst, src=format_mac(src))
    return header / Dot1Q(vlan=vlan) if vlan else header


def answer(question: Solicitation, mac: int, vlan: int) -> bytes:
    """The reply that `question.target` is at `mac`."""
    asker = format_mac(question.sender_mac)
    if isinstance(question.target, IPv4Address):
        sender = str(question.sender or IPv4Address(0))
        reply = ARP(
            op=2, hwsrc=format_mac(mac), psrc=str(question.target), hwdst=asker, pdst=sender
        )
        return bytes(_ethernet(asker, mac, vlan) / reply)
    # RFC 4861 7.2.4: router, solicited (unless to a probe), override.
    solicited = question.sender is not None
    return bytes(
        _ethernet(asker if solicited else "33:33:00:00:00:01", mac, vlan)
        / IPv6(src=str(question.target), dst=str(question.sender or _ALL_NODES), hlim=255)
        / ICMPv6ND_NA(tgt=str(question.target), R=1, S=int(solicited), O=1)
        / ICMPv6NDOptDstLLAddr(lladdr=format_mac(mac))
    )


def solicit(mac: int, source: Address, target: Address, vlan: int) -> bytes:
    """An ARP request or a neighbour solicitation for `target`."""
    if isinstance(target, IPv4Address):
        request = ARP(op=1, hwsrc=format_mac(mac), psrc=str(source), pdst=str(target))
        return bytes(_ethernet(_BROADCAST, mac, vlan) / request)
    low = int(target) & 0xFFFFFF
    group = IPv6Address(_SOLICITED_NODE | low)
    return bytes(
        _ethernet("33:33:ff:" + low.to_bytes(3, "big").hex(":"), mac, vlan)
        / IPv6(src=str(source), dst=str(group), hlim=255)
        / ICMPv6ND_NS(tgt=str(target))
        / ICMPv6NDOptSrcLLAddr(lladdr=format_mac(mac))
    )


def echo_reply(frame: bytes, src_mac: int, dst_mac: int, vlan: int) -> bytes:
    """The answer to an echo request that `interpret` recognised."""
    packet = Ether(frame)
    header = _ethernet(format_mac(dst_mac), src_mac, vlan)
    if IPv6 in packet:
        request = packet[ICMPv6EchoRequest]
        reply = ICMPv6EchoReply(id=request.id, seq=request.seq, data=request.data)
        return bytes(header / IPv6(src=packet[IPv6].dst, dst=packet[IPv6].src) / reply)
    icmp = packet[ICMP]
    length = packet[IP].len - 4 * packet[IP].ihl - 8
    data = bytes(icmp.payload)[:length]
    reply = ICMP(type=0, id=icmp.id, seq=icmp.seq) / data
    return bytes(header / IP(src=packet[IP].dst, dst=packet[IP].src) / reply)


def destination(frame: bytes) -> Address | None:
    """Destination of the outermost IP header."""
    ether_type = int.from_bytes(frame[12:14], "big")
    if ether_type == _IPV4 and len(frame) >= _ETHERNET + 20:
        return IPv4Address(frame[_ETHERNET + 16 : _ETHERNET + 20])
    if ether_type == _IPV6 and len(frame) >= _ETHERNET + 40:
        return IPv6Address(frame[_ETHERNET + 24 : _ETHERNET + 40])
    return None


def forwarded(
    frame: bytes, src_mac: int, dst_mac: int, vlan: int, *, as_router: bool
) -> bytes | None:
    """The frame addressed to a neighbour; `as_router`: with the TTL or hop limit one less.

    None when the TTL or hop limit expires.
    """
    packet = bytearray(frame[_ETHERNET:])
    ether_type = frame[12:14]
    if as_router:
        at = 8 if int.from_bytes(ether_type, "big") == _IPV4 else 7
        if packet[at] <= 1:
            return None
        packet[at] -= 1
        if at == 8:
            header = 4 * (packet[0] & 0xF)
            packet[10:12] = b"\0\0"
            packet[10:12] = checksum(bytes(packet[:header])).to_bytes(2, "big")
    tag = b"\x81\x00" + vlan.to_bytes(2, "big") if vlan else b""
    return (
        dst_mac.to_bytes(6, "big") + src_mac.to_bytes(6, "big") + tag + ether_type + bytes(packet)
    )
