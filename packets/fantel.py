"""Fast notifications (FANTEL) of failure, congestion and load (FAN-1 to FAN-3, FAN-8).

Draft-hzh-fantel-wan-tunnel-01, section 5, in both forms: behind UDP, or as ICMPv6 of an
experimental type. The TLVs are in `fantel_tlvs`.
"""

import struct
from enum import IntEnum
from functools import reduce
from operator import or_

from scapy.fields import (
    ByteEnumField,
    ByteField,
    PacketListField,
    ShortField,
    XByteField,
    XShortField,
)
from scapy.layers.inet import UDP
from scapy.layers.inet6 import _ICMPv6, icmp6typescls, icmp6typesminhdrlen
from scapy.packet import Packet, bind_layers
from scapy.utils import checksum

from fcn.packets.fantel_tlvs import (
    HIGHEST_LEVEL,
    PERMILLE,
    TLV_CLASSES,
    TLV_HEADER_LENGTH,
    TLV_VERSION,
    FiveTuple,
    Parameter,
    Tlv,
)
from fcn.packets.wire import FANTEL_ICMPV6_TYPE, FANTEL_PORT

__all__ = [
    "FANTEL_HOP_LIMIT",
    "FANTEL_ICMPV6_TYPE",
    "FANTEL_PORT",
    "Event",
    "Fantel",
    "FantelError",
    "FantelIcmpv6",
    "Parameter",
    "read_fantel",
]

FANTEL_HOP_LIMIT = 255
"""Hop limit messages start with: what is missing when they arrive is the hops they took."""
FANTEL_VERSION = 0
_HEADER = 4
"""Octets before the TLVs: the UDP form's header, in the other form what follows ICMPv6's."""
_IPV6, _UDP, _ICMPV6 = 40, 8, 4
_UDP_NUMBER, _ICMPV6_NUMBER = 17, 58


class FantelError(ValueError):
    """The octets are no sound notification; the message says why."""


class Event(IntEnum):
    """The draft's TYPE: what happened."""

    FAILURE = 1
    FAILURE_CLEARED = 2
    CONGESTION = 3
    CONGESTION_CLEARED = 4
    LOAD = 5


_EVENT_NAMES = {event.value: event.name.lower() for event in Event}
_CLASS_OF_TYPE = {parameter.tlv_type: tlv for parameter, tlv in TLV_CLASSES.items()}
_VALUE_LENGTH: dict[Parameter, int] = {
    parameter: len(tlv()) - TLV_HEADER_LENGTH for parameter, tlv in TLV_CLASSES.items()
}
_FIVE_TUPLE_LENGTH: dict[int, int] = {
    version: len(FiveTuple(ip_version=version)) - TLV_HEADER_LENGTH for version in (4, 6)
}


class _Code(XByteField):  # type: ignore[misc]  # scapy is untyped
    """The bits of the TLVs that follow, unless given."""

    def i2m(self, message: Packet, value: int | None) -> int:
        if value is not None:
            return value
        return reduce(or_, (1 << tlv.tlv_type - 1 for tlv in message.parameters), 0)


class _Parameters(PacketListField):  # type: ignore[misc]  # scapy is untyped
    def __init__(self) -> None:
        super().__init__("parameters", [], next_cls_cb=_class_of_next)


def _class_of_next(
    _message: Packet, _before: list[Packet], _last: Packet | None, rest: bytes
) -> type[Tlv] | None:
    return _CLASS_OF_TYPE.get(rest[0]) if rest else None


class Fantel(Packet):  # type: ignore[misc]  # scapy is untyped
    """The UDP form: Version(8) Type(8) Code(8) Rsvd(8), then the TLVs that Code names."""

    name = "FANTEL"
    fields_desc = (
        ByteField("version", FANTEL_VERSION),
        ByteEnumField("event", Event.FAILURE, _EVENT_NAMES),
        _Code("code", None),
        ByteField("reserved", 0),
        _Parameters(),
    )


class FantelIcmpv6(_ICMPv6):  # type: ignore[misc]  # scapy is untyped
    """The ICMPv6 form: its header with Code, then Type(8) Version(8) Rsvd(16) and the TLVs."""

    name = "FANTEL over ICMPv6"
    fields_desc = (
        ByteField("type", FANTEL_ICMPV6_TYPE),
        _Code("code", None),
        XShortField("cksum", None),
        ByteEnumField("event", Event.FAILURE, _EVENT_NAMES),
        ByteField("version", FANTEL_VERSION),
        ShortField("reserved", 0),
        _Parameters(),
    )


bind_layers(UDP, Fantel, dport=FANTEL_PORT)
icmp6typescls[FANTEL_ICMPV6_TYPE] = FantelIcmpv6
icmp6typesminhdrlen[FANTEL_ICMPV6_TYPE] = _ICMPV6 + _HEADER


def read_fantel(octets: bytes, port: int = FANTEL_PORT) -> Fantel | FantelIcmpv6:
    """The notification that is exactly these octets of an IPv6 packet. Raises FantelError.

    octets: from the IPv6 header to the end, no padding behind it. port: UDP destination port of
    the UDP form.
    """
    if len(octets) < _IPV6 or octets[0] >> 4 != 6:
        raise FantelError("the octets do not start with an IPv6 header")
    length, next_header = struct.unpack_from("!HB", octets, 4)
    payload = octets[_IPV6:]
    if length != len(payload):
        raise FantelError(f"a payload of {length} octets has {len(payload)}")
    if next_header not in (_UDP_NUMBER, _ICMPV6_NUMBER):
        raise FantelError(f"next header {next_header} is neither UDP nor ICMPv6")
    message = payload[_UDP:] if next_header == _UDP_NUMBER else payload
    before = _HEADER if next_header == _UDP_NUMBER else _ICMPV6 + _HEADER
    if len(message) < before:
        raise FantelError(f"{len(payload)} octets are shorter than the headers")
    if next_header == _UDP_NUMBER:
        _check_udp(payload, port)
        version, event, code = message[:3]
    else:
        if payload[0] != FANTEL_ICMPV6_TYPE:
            raise FantelError(f"ICMPv6 type {payload[0]} is another message")
        code, event, version = payload[1], *payload[_ICMPV6 : _ICMPV6 + 2]
    if checksum(octets[8:_IPV6] + struct.pack("!II", length, next_header) + payload):
        raise FantelError("the checksum is wrong")
    if version != FANTEL_VERSION:
        raise FantelError(f"version {version} is unknown")
    if event not in _EVENT_NAMES:
        raise FantelError(f"there is no type {event}")
    _check_tlvs(code, message[before:])
    return Fantel(message) if next_header == _UDP_NUMBER else FantelIcmpv6(message)


def _check_udp(payload: bytes, port: int) -> None:
    _, destination, length, sent_checksum = struct.unpack_from("!HHHH", payload)
    if destination != port:
        raise FantelError(f"UDP port {destination} is not {port}")
    if length != len(payload):
        raise FantelError(f"UDP length {length} is not that of the packet, {len(payload)}")
    if not sent_checksum:
        raise FantelError("there is no checksum")


def _check_tlvs(code: int, octets: bytes) -> None:
    if code & ~sum(Parameter):
        raise FantelError(f"Code {code:#04x} has unknown bits")
    if not code & Parameter.ORIGIN:
        raise FantelError("it does not say where it is from")
    for parameter in Parameter:
        if code & parameter:
            octets = octets[_tlv_length(parameter, octets) :]
    if octets:
        raise FantelError(f"{len(octets)} octets follow the parameters")


def _tlv_length(parameter: Parameter, octets: bytes) -> int:
    """Octets of the TLV at the start, which is to be that of the parameter."""
    if len(octets) < TLV_HEADER_LENGTH:
        raise FantelError(f"it ends before {parameter.name}")
    kind, version, length = octets[0], octets[1], int.from_bytes(octets[2:4], "big")
    if kind != parameter.tlv_type:
        raise FantelError(f"a TLV of type {kind} stands where Code says {parameter.name}")
    if version != TLV_VERSION:
        raise FantelError(f"version {version} of {parameter.name} is unknown")
    value = octets[TLV_HEADER_LENGTH : TLV_HEADER_LENGTH + length]
    if len(value) < length:
        raise FantelError(f"{parameter.name} of {length} octets has {len(value)}")
    if not value or length != _value_length(parameter, value):
        raise FantelError(f"{length} octets are no {parameter.name}")
    _check_value(parameter, value)
    return TLV_HEADER_LENGTH + length


def _value_length(parameter: Parameter, value: bytes) -> int:
    if parameter != Parameter.FIVE_TUPLE:
        return _VALUE_LENGTH[parameter]
    version = value[0] >> 4
    if version not in _FIVE_TUPLE_LENGTH:
        raise FantelError(f"a five-tuple of IP version {version}")
    return _FIVE_TUPLE_LENGTH[version]


def _check_value(parameter: Parameter, value: bytes) -> None:
    if parameter == Parameter.BUFFER_STATUS and value[1] > HIGHEST_LEVEL:
        raise FantelError(f"there is no congestion level {value[1]}")
    if parameter in (Parameter.LINK_UTILIZATION, Parameter.DEVICE_LOAD):
        permille = int.from_bytes(value[:2], "big")
        if permille > PERMILLE:
            raise FantelError(f"{parameter.name} of {permille} permille")
