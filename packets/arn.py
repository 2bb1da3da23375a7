"""The ARN a congested node sends to its upstream neighbour (SRF-5).

Draft-hu-rtgwg-rocev2-fcn-00, section 4.1.1. UDP between neighbours, hop limit 255.
"""

from collections.abc import Callable
from enum import IntEnum, IntFlag

from scapy.fields import (
    BitEnumField,
    BitField,
    ByteEnumField,
    ByteField,
    ConditionalField,
    IntField,
    IP6Field,
    IPField,
    ShortField,
)
from scapy.layers.inet import UDP
from scapy.packet import Packet, bind_layers

from fcn.packets.wire import ARN_PORT

__all__ = ["ARN_HOP_LIMIT", "ARN_PORT", "Arn", "ArnError", "ArnType", "Parameter", "read_arn"]

ARN_HOP_LIMIT = 255
"""Hop limit of every ARN: another one has crossed a router, so it is no neighbour's (RFC 5082)."""
ARN_VERSION = 0
ARN_HEADER_LENGTH = 4
_WORD = 4
_ADDRESS_LENGTH = {4: 4, 6: 16}


class ArnError(ValueError):
    """The octets are no ARN; the message says why."""


class ArnType(IntEnum):
    """What happened at the congested node."""

    DETECTED = 1
    ELIMINATED = 2


class Parameter(IntFlag):
    """Para-Type: which parameters follow, in this order; bit 0 is the least significant."""

    FIVE_TUPLE = 1
    PATH_ID = 2
    PRIORITY = 4
    TIME = 8


def _present(parameter: Parameter, ip_version: int | None = None) -> Callable[[Packet], bool]:
    def present(arn: Packet) -> bool:
        return bool(arn.para_type & parameter) and ip_version in (
            None,
            arn.getfieldval("ip_version"),
        )

    return present


_TUPLE = _present(Parameter.FIVE_TUPLE)
_IPV4 = _present(Parameter.FIVE_TUPLE, 4)
_IPV6 = _present(Parameter.FIVE_TUPLE, 6)


class Arn(Packet):  # type: ignore[misc]  # scapy is untyped
    """Type(8) Version(4) Rsvd(4) Metric(8) Para-Type(8), then the parameters.

    Five-tuple: IP version(4) flow label(20) protocol(8), source and destination address (4 or 16
    octets each, by the IP version), source port(16) destination port(16). An outer five-tuple has a
    label of 0, and ports of 0 where there are none; the label of an inner one is that of the
    customer. Path ID(32); priority(32); time(32) in microseconds.
    """

    name = "ARN"
    fields_desc = (
        ByteEnumField("type", ArnType.DETECTED, {t.value: t.name.lower() for t in ArnType}),
        BitField("version", ARN_VERSION, 4),
        BitField("reserved", 0, 4),
        ByteField("metric", 0),
        ByteField("para_type", 0),
        ConditionalField(BitEnumField("ip_version", 6, 4, {4: "IPv4", 6: "IPv6"}), _TUPLE),
        ConditionalField(BitField("label", 0, 20), _TUPLE),
        ConditionalField(ByteField("protocol", 0), _TUPLE),
        ConditionalField(IPField("src4", "0.0.0.0"), _IPV4),
        ConditionalField(IPField("dst4", "0.0.0.0"), _IPV4),
        ConditionalField(IP6Field("src6", "::"), _IPV6),
        ConditionalField(IP6Field("dst6", "::"), _IPV6),
        ConditionalField(ShortField("sport", 0), _TUPLE),
        ConditionalField(ShortField("dport", 0), _TUPLE),
        ConditionalField(IntField("path_id", 0), _present(Parameter.PATH_ID)),
        ConditionalField(IntField("priority", 0), _present(Parameter.PRIORITY)),
        ConditionalField(IntField("time", 0), _present(Parameter.TIME)),
    )


def arn_length(para_type: int, ip_version: int = 6) -> int:
    """Octets behind the UDP header. Raises ArnError for unknown bits and IP versions."""
    if para_type & ~int(Parameter(0b1111)):
        raise ArnError(f"Para-Type {para_type:#04x} has unknown bits")
    length = ARN_HEADER_LENGTH
    if para_type & Parameter.FIVE_TUPLE:
        if ip_version not in _ADDRESS_LENGTH:
            raise ArnError(f"a five-tuple of IP version {ip_version}")
        length += 2 * _WORD + 2 * _ADDRESS_LENGTH[ip_version]
    others = (Parameter.PATH_ID, Parameter.PRIORITY, Parameter.TIME)
    return length + _WORD * sum(bool(para_type & other) for other in others)


def read_arn(octets: bytes) -> Arn:
    """The ARN that is exactly these octets, which follow the UDP header. Raises ArnError."""
    if len(octets) < ARN_HEADER_LENGTH:
        raise ArnError(f"{len(octets)} octets are shorter than the header of an ARN")
    kind, version, para_type = octets[0], octets[1] >> 4, octets[3]
    if kind not in list(ArnType):
        raise ArnError(f"there is no type {kind}")
    if version != ARN_VERSION:
        raise ArnError(f"version {version} is unknown")
    first = octets[ARN_HEADER_LENGTH] if len(octets) > ARN_HEADER_LENGTH else 0
    length = arn_length(para_type, first >> 4)
    if len(octets) != length:
        raise ArnError(f"Para-Type {para_type:#04x} takes {length} octets, not {len(octets)}")
    return Arn(octets)


bind_layers(UDP, Arn, dport=ARN_PORT)
