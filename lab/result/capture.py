"""Frames as a pcap file with nanoseconds, for tshark (draft-ietf-opsawg-pcap, section 4)."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass

_NANOSECONDS_MAGIC = 0xA1B23C4D
_VERSION = 2, 4
_ETHERNET = 1
_MOST_OCTETS = 65_535
_HEADER = struct.Struct("<IHHiIII")
_RECORD = struct.Struct("<IIII")
_NS_PER_S = 10**9


@dataclass(frozen=True, slots=True)
class Captured:
    """A frame of a link: when it left, since the traffic began, its length without the frame check
    sequence, and all of its octets or the first."""

    time_ns: int
    node: str
    towards: str
    length: int
    data: bytes


def pcap(frames: Iterable[Captured]) -> bytes:
    """A pcap file of these frames, which are in the order of their times."""
    out = bytearray(_HEADER.pack(_NANOSECONDS_MAGIC, *_VERSION, 0, 0, _MOST_OCTETS, _ETHERNET))
    for frame in frames:
        seconds, nanoseconds = divmod(frame.time_ns, _NS_PER_S)
        out += _RECORD.pack(seconds, nanoseconds, len(frame.data), frame.length)
        out += frame.data
    return bytes(out)
