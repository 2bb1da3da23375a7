"""Frames the controller decodes and builds: ARP, neighbour discovery, ICMP echo.

Frames from the switch are untagged (the VLAN is packet-in metadata); frames to it are as on the
wire. MAC addresses are 48-bit numbers.
"""

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from fcn.controller.config.notation import Address

_BROADCAST = (1 << 48) - 1
_ALL_NODES = IPv6Address("ff02::1")
_SOLICITED_NODE = int(IPv6Address("ff02::1:ff00:0"))
"""RFC 4291 section 2.7.1; the last 24 bits are the target's."""
_MULTICAST_MAC = 0x3333_0000_0000
"""RFC 2464 section 7; the last 32 bits are the address's."""
_ETHERNET = 14
_IPV4, _ARP, _VLAN, _IPV6 = 0x0800, 0x0806, 0x8100, 0x86DD
_ARP_FORM = struct.pack("!HHBB", 1, _IPV4, 6, 4)
"""Ethernet and IPv4."""

_REQUEST, _REPLY = 1, 2
_ICMP, _ICMPV6 = 1, 58
_ECHO_REPLY, _ECHO = 0, 8
_ECHO6, _ECHO_REPLY6, _SOLICIT, _ADVERTISE = 128, 129, 135, 136
_ECHO_HOPS = 64
_SOURCE_MAC, _TARGET_MAC = 1, 2
"""Options of neighbour discovery."""
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
    try:
        ether_type, packet = _type_of(frame), frame[_ETHERNET:]
        if ether_type == _ARP:
            return _arp(packet)
        if ether_type == _IPV6 and packet[0] >> 4 == 6:
            return _ipv6(frame, packet)
        if ether_type == _IPV4 and packet[0] >> 4 == 4 and packet[9] == _ICMP:
            offset = int.from_bytes(packet[6:8]) & 0x1FFF
            if not offset and packet[4 * (packet[0] & 0xF)] == _ECHO:
                return _echo(IPv4Address(packet[12:16]), frame)
    except (IndexError, ValueError):
        return None
    return None


def _type_of(frame: bytes) -> int:
    return int.from_bytes(frame[12:_ETHERNET])


def _station(octets: bytes) -> int:
    """A MAC address. Raises ValueError for one of no station."""
    mac = int.from_bytes(octets)
    if len(octets) != 6 or mac == 0 or mac >> 40 & 1:
        raise ValueError(f"{octets.hex(':')} is not of a station")
    return mac


def _echo(sender: Address, frame: bytes) -> EchoRequest | None:
    # Nothing else is sent back to (RFC 1122 section 3.2.2.6, RFC 4291 sections 2.5.2 and 2.7).
    if sender.is_multicast or sender.is_unspecified:
        return None
    return EchoRequest(sender, _station(frame[6:12]))


def _arp(packet: bytes) -> Message | None:
    if packet[:6] != _ARP_FORM:
        return None
    operation, mac = int.from_bytes(packet[6:8]), _station(packet[8:14])
    sender, target = IPv4Address(packet[14:18]), IPv4Address(packet[24:28])
    if operation == _REPLY or (operation == _REQUEST and sender == target):
        return Announcement(sender, mac)
    if operation == _REQUEST:
        return Solicitation(target, sender if int(sender) else None, mac)
    return None


def _ipv6(frame: bytes, packet: bytes) -> Message | None:
    sender, message = IPv6Address(packet[8:24]), packet[40:]
    if packet[6] != _ICMPV6:
        return None
    if message[0] == _ECHO6:
        return _echo(sender, frame)
    if packet[7] != _ND_HOP_LIMIT or message[0] not in (_SOLICIT, _ADVERTISE):
        return None
    target = IPv6Address(message[8:24])
    if message[0] == _ADVERTISE:
        return Announcement(target, _told_mac(message, _TARGET_MAC, frame))
    mac = _told_mac(message, _SOURCE_MAC, frame)
    return Solicitation(target, None if sender.is_unspecified else sender, mac)


def _told_mac(message: bytes, kind: int, frame: bytes) -> int:
    """The MAC address in an option of neighbour discovery; without it that of the frame."""
    at = 24
    while at < len(message):
        if message[at] == kind:
            return _station(message[at + 2 : at + 8])
        # Options of length 0 are invalid (RFC 4861 section 4.6).
        at += 8 * message[at + 1] or len(message)
    return _station(frame[6:12])


def _checksum(octets: bytes) -> bytes:
    """RFC 1071."""
    total = sum(struct.unpack(f"!{(len(octets) + 1) // 2}H", octets + b"\0" * (len(octets) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return int(~total & 0xFFFF).to_bytes(2)


def _ethernet(dst: int, src: int, vlan: int, ether_type: int, packet: bytes) -> bytes:
    tag = struct.pack("!HH", _VLAN, vlan) if vlan else b""
    return b"".join((dst.to_bytes(6), src.to_bytes(6), tag, ether_type.to_bytes(2), packet))


def _arp_packet(operation: int, mac: int, source: Address, asker: int, target: Address) -> bytes:
    ends = mac.to_bytes(6) + source.packed + asker.to_bytes(6) + target.packed
    return _ARP_FORM + operation.to_bytes(2) + ends


def _icmpv6(source: Address, target: Address, hops: int, kind: int, body: bytes) -> bytes:
    """A packet with a message of this type, the code 0."""
    ends, size = source.packed + target.packed, len(body) + 4
    pseudo = ends + struct.pack("!II", size, _ICMPV6)
    total = _checksum(pseudo + bytes((kind, 0, 0, 0)) + body)
    header = struct.pack("!IHBB", 6 << 28, size, _ICMPV6, hops)
    return header + ends + bytes((kind, 0)) + total + body


def _option(kind: int, mac: int) -> bytes:
    return bytes((kind, 1)) + mac.to_bytes(6)


def answer(question: Solicitation, mac: int, vlan: int) -> bytes:
    """The reply that `question.target` is at `mac`."""
    asker, target = question.sender_mac, question.target
    if isinstance(target, IPv4Address):
        sender = question.sender or IPv4Address(0)
        reply = _arp_packet(_REPLY, mac, target, asker, sender)
        return _ethernet(asker, mac, vlan, _ARP, reply)
    # RFC 4861 7.2.4: router, solicited (unless to a probe), override.
    flags = 0xA0 if question.sender is None else 0xE0
    to_mac = _MULTICAST_MAC | 1 if question.sender is None else asker
    body = bytes((flags, 0, 0, 0)) + target.packed + _option(_TARGET_MAC, mac)
    reply = _icmpv6(target, question.sender or _ALL_NODES, _ND_HOP_LIMIT, _ADVERTISE, body)
    return _ethernet(to_mac, mac, vlan, _IPV6, reply)


def solicit(mac: int, source: Address, target: Address, vlan: int) -> bytes:
    """An ARP request or a neighbour solicitation for `target`."""
    if isinstance(target, IPv4Address):
        request = _arp_packet(_REQUEST, mac, source, 0, target)
        return _ethernet(_BROADCAST, mac, vlan, _ARP, request)
    group = IPv6Address(_SOLICITED_NODE | int(target) & 0xFFFFFF)
    body = bytes(4) + target.packed + _option(_SOURCE_MAC, mac)
    request = _icmpv6(source, group, _ND_HOP_LIMIT, _SOLICIT, body)
    return _ethernet(_MULTICAST_MAC | int(group) & 0xFFFFFFFF, mac, vlan, _IPV6, request)


def echo_reply(frame: bytes, src_mac: int, dst_mac: int, vlan: int) -> bytes:
    """The answer to an echo request that `interpret` recognised."""
    packet = frame[_ETHERNET:]
    if _type_of(frame) == _IPV6:
        source, target = IPv6Address(packet[24:40]), IPv6Address(packet[8:24])
        body = packet[44 : 40 + int.from_bytes(packet[4:6])]
        reply = _icmpv6(source, target, _ECHO_HOPS, _ECHO_REPLY6, body)
        return _ethernet(dst_mac, src_mac, vlan, _IPV6, reply)
    body = packet[4 * (packet[0] & 0xF) + 4 : int.from_bytes(packet[2:4])]
    message = bytes((_ECHO_REPLY, 0)) + _checksum(bytes((_ECHO_REPLY, 0, 0, 0)) + body) + body
    head = struct.pack("!BBHHHBB", 0x45, 0, 20 + len(message), 1, 0, _ECHO_HOPS, _ICMP)
    ends = packet[16:20] + packet[12:16]
    header = head + _checksum(head + bytes(2) + ends) + ends
    return _ethernet(dst_mac, src_mac, vlan, _IPV4, header + message)


def destination(frame: bytes) -> Address | None:
    """Destination of the outermost IP header."""
    ether_type = _type_of(frame)
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
    if as_router:
        at = 8 if _type_of(frame) == _IPV4 else 7
        if packet[at] <= 1:
            return None
        packet[at] -= 1
        if at == 8:
            header = 4 * (packet[0] & 0xF)
            packet[10:12] = b"\0\0"
            packet[10:12] = _checksum(bytes(packet[:header]))
    return _ethernet(dst_mac, src_mac, vlan, _type_of(frame), bytes(packet))
