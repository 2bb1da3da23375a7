"""Frames as a pcap file with nanoseconds, for tshark (draft-ietf-opsawg-pcap, section 4)."""

import struct
from collections.abc import Iterable
from typing import Protocol

_NANOSECONDS_MAGIC = 0xA1B23C4D
_VERSION = 2, 4
_ETHERNET = 1
_MOST_OCTETS = 65_535
_HEADER = struct.Struct("<IHHiIII")
_RECORD = struct.Struct("<IIII")
_NS_PER_S = 10**9


class CapturedFrame(Protocol):
    """A frame of a link: when it left, how long it was, and its first octets."""

    @property
    def time_ns(self) -> int:
        """Nanoseconds since the start of the run."""

    @property
    def length(self) -> int:
        """Octets without the frame check sequence."""

    @property
    def data(self) -> bytes:
        """All of them, or the first."""


def pcap(frames: Iterable[CapturedFrame]) -> bytes:
    """A pcap file of these frames, which are in the order of their times."""
    out = bytearray(_HEADER.pack(_NANOSECONDS_MAGIC, *_VERSION, 0, 0, _MOST_OCTETS, _ETHERNET))
    for frame in frames:
        seconds, nanoseconds = divmod(frame.time_ns, _NS_PER_S)
        out += _RECORD.pack(seconds, nanoseconds, len(frame.data), frame.length)
        out += frame.data
    return bytes(out)
