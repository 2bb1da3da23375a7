"""Frames copied from links."""

import struct
from dataclasses import dataclass
from enum import IntFlag

import numpy as np

_RECORD = struct.Struct("=QIIIIQ")

HEADER = np.dtype(
    [
        ("time", "u8"), ("direction", "u4"), ("length", "u4"), ("kinds", "u4"), ("kept", "u4"),
        ("number", "u8"),
    ]
)  # fmt: skip
"""What is before the octets of a frame."""

assert HEADER.itemsize == _RECORD.size


class FrameKind(IntFlag):
    """What a frame is by all its headers, those inside a tunnel included.

    MARKED: one of its IP headers has CE. END_CON_CNP: a CNP in a tunnel with the label of a flow,
    which those of hosts do not have (SRF-4). The values are those of lab_api.h.
    """

    MARKED = 1
    FAST_CNP = 2
    CNP = 4
    END_CON_CNP = 8
    NOTIFICATION = 14


@dataclass(frozen=True, slots=True)
class TappedFrame:
    """A frame a link delivered: link, direction (0 or 1), when its last bit arrived, and octets.

    length: octets it had, of which `data` has the first. number: its place among all frames that
    links delivered, from 1.
    """

    link: int
    direction: int
    time_ns: int
    length: int
    kinds: FrameKind
    data: bytes
    number: int

    @property
    def header(self) -> bytes:
        """What lab_tapped_take has of it before its octets."""
        direction = 2 * self.link + self.direction
        return _RECORD.pack(self.time_ns, direction, self.length, self.kinds, 0, self.number)


def parse_tapped(data: bytes | memoryview) -> list[TappedFrame]:
    """The records of lab_tapped_take."""
    frames = []
    at = 0
    while at < len(data):
        time_ns, direction, length, kinds, kept, number = _RECORD.unpack_from(data, at)
        at += _RECORD.size
        octets = bytes(data[at : at + kept])
        frame = TappedFrame(
            direction // 2, direction % 2, time_ns, length, FrameKind(kinds), octets, number
        )
        frames.append(frame)
        at += (kept + 7) & ~7
    return frames
