"""The parameters of fast notifications (FANTEL) as TLVs (FAN-1, FAN-4 to FAN-7).

Draft-hzh-fantel-wan-tunnel-01, section 5, names the parameters and leaves their layout open;
docs/packets.md shows the one here and gives the reasons.
"""

import struct
from collections.abc import Callable
from enum import IntEnum, IntFlag
from typing import Any

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
from scapy.packet import Packet

TLV_VERSION = 0
TLV_HEADER_LENGTH = 4
HIGHEST_LEVEL = 7
"""Of a buffer, as in a Fast CNP."""
PERMILLE = 1000
"""Highest utilization and load."""


class Parameter(IntFlag):
    """Code: which TLVs follow, in this order; bit 0 is the least significant."""

    ORIGIN = 1
    PATH = 2
    FIVE_TUPLE = 4
    FAILURE_CAUSE = 8
    BUFFER_STATUS = 16
    LINK_UTILIZATION = 32
    DEVICE_LOAD = 64

    @property
    def tlv_type(self) -> int:
        """Type of the TLV: the number of the bit, counted from 1."""
        return self.value.bit_length()


class Cause(IntEnum):
    """Why a link counts as failed. For people: nothing is decided by it, so others are sound."""

    UNKNOWN = 0
    LINK_DOWN = 1
    NEIGHBOR_SILENT = 2
    ADMINISTRATIVE = 3
    NEIGHBOR_DOWN = 4


class Tlv(Packet):  # type: ignore[misc]  # scapy is untyped
    """Type(8) Version(8) Length(16), then the value, whose octets Length counts unless given."""

    def post_build(self, tlv: bytes, behind: bytes) -> bytes:
        """Fills in the length."""
        if self.tlv_length is None:
            tlv = tlv[:2] + struct.pack("!H", len(tlv) - TLV_HEADER_LENGTH) + tlv[4:]
        return tlv + behind

    def extract_padding(self, rest: bytes) -> tuple[bytes, bytes]:
        """What follows is not this TLV's."""
        return b"", rest


def _header(parameter: Parameter) -> tuple[Any, ...]:
    return (
        ByteField("tlv_type", parameter.tlv_type),
        ByteField("tlv_version", TLV_VERSION),
        ShortField("tlv_length", None),
    )


class Origin(Tlv):
    """Node(32) Link(32) Epoch(32) Sequence(32): who saw it, where, and in which order.

    Link 0 is the node itself. The epoch is higher after each start of the node (`later`).
    """

    name = "Origin"
    fields_desc = (
        *_header(Parameter.ORIGIN),
        IntField("node", 0),
        IntField("link", 0),
        IntField("epoch", 0),
        IntField("sequence", 0),
    )


class PathId(Tlv):
    """Path ID(32), unique in the domain."""

    name = "Path ID"
    fields_desc = (*_header(Parameter.PATH), IntField("path_id", 0))


def _of_version(number: int) -> Callable[[Packet], bool]:
    return lambda tlv: bool(tlv.ip_version == number)


class FiveTuple(Tlv):
    """IP version(4) label(20) protocol(8), addresses of 4 or 16 octets, ports: as in an ARN, but
    with the label of the packet."""

    name = "Five-tuple"
    fields_desc = (
        *_header(Parameter.FIVE_TUPLE),
        BitEnumField("ip_version", 6, 4, {4: "IPv4", 6: "IPv6"}),
        BitField("label", 0, 20),
        ByteField("protocol", 0),
        ConditionalField(IPField("src4", "0.0.0.0"), _of_version(4)),
        ConditionalField(IPField("dst4", "0.0.0.0"), _of_version(4)),
        ConditionalField(IP6Field("src6", "::"), _of_version(6)),
        ConditionalField(IP6Field("dst6", "::"), _of_version(6)),
        ShortField("sport", 0),
        ShortField("dport", 0),
    )


class FailureCause(Tlv):
    """Cause(8) Reserved(24)."""

    name = "Failure cause"
    fields_desc = (
        *_header(Parameter.FAILURE_CAUSE),
        ByteEnumField("cause", Cause.UNKNOWN, {c.value: c.name.lower() for c in Cause}),
        BitField("reserved", 0, 24),
    )


class BufferStatus(Tlv):
    """Queue(8) Level(8) Reserved(16) Depth(32), of the link's queue of that number.

    Depth: in the node's own unit, packets or buffer cells.
    """

    name = "Buffer status"
    fields_desc = (
        *_header(Parameter.BUFFER_STATUS),
        ByteField("queue", 0),
        ByteField("level", 0),
        ShortField("reserved", 0),
        IntField("depth", 0),
    )


class LinkUtilization(Tlv):
    """Utilization(16) of the link, in permille of its rate, Reserved(16)."""

    name = "Link utilization"
    fields_desc = (
        *_header(Parameter.LINK_UTILIZATION),
        ShortField("permille", 0),
        ShortField("reserved", 0),
    )


class DeviceLoad(Tlv):
    """Load(16) of the whole node, in permille of what it can forward, Reserved(16)."""

    name = "Device load"
    fields_desc = (
        *_header(Parameter.DEVICE_LOAD),
        ShortField("permille", 0),
        ShortField("reserved", 0),
    )


TLV_CLASSES: dict[Parameter, type[Tlv]] = {
    Parameter.ORIGIN: Origin,
    Parameter.PATH: PathId,
    Parameter.FIVE_TUPLE: FiveTuple,
    Parameter.FAILURE_CAUSE: FailureCause,
    Parameter.BUFFER_STATUS: BufferStatus,
    Parameter.LINK_UTILIZATION: LinkUtilization,
    Parameter.DEVICE_LOAD: DeviceLoad,
}


def later(new: Origin, last: Origin) -> bool:
    """Whether `new` was sent after `last`, by the same node about the same link.

    Epochs, and within one epoch sequence numbers, compare in the circle of RFC 1982; equal ones
    are copies.
    """
    if new.epoch != last.epoch:
        return _further(new.epoch, last.epoch)
    return _further(new.sequence, last.sequence)


def _further(new: int, last: int) -> bool:
    return 0 < (new - last) % (1 << 32) < 1 << 31
