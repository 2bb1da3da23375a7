"""Frames copied from links."""

import struct
from dataclasses import dataclass

_RECORD = struct.Struct("=QII")


@dataclass(frozen=True, slots=True)
class TappedFrame:
    """A frame a link delivered: link, direction (0 or 1), when its last bit arrived, and octets."""

    link: int
    direction: int
    time_ns: int
    data: bytes


def parse_tapped(data: bytes) -> list[TappedFrame]:
    """The records of lab_tapped_take."""
    frames = []
    at = 0
    while at < len(data):
        time_ns, direction, length = _RECORD.unpack_from(data, at)
        at += _RECORD.size
        frames.append(TappedFrame(direction // 2, direction % 2, time_ns, data[at : at + length]))
        at += (length + 7) & ~7
    return frames
