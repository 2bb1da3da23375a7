"""Decodes events of the native engine and calls the callbacks."""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, groupby, pairwise, starmap

from fcn.softswitch.api import EngineEvents
from fcn.softswitch.engine.codegen.layout import nbytes

_HEADER = struct.Struct("=IHHQ")
DIGEST, PACKET_IN, IDLE, PORT = 1, 2, 3, 4


@dataclass(frozen=True, slots=True)
class NativeEvent:
    """Kind, number of the digest list or table, an argument and the payload."""

    kind: int
    id: int
    arg: int
    payload: bytes


def parse(data: bytes) -> Iterator[NativeEvent]:
    """Decode the buffer of sw_ctl_events_take."""
    at = 0
    while at < len(data):
        size, kind, number, arg = _HEADER.unpack_from(data, at)
        at += _HEADER.size
        yield NativeEvent(kind, number, arg, data[at : at + size])
        at += (size + 7) & ~7


@cache
def _places(widths: tuple[int, ...]) -> tuple[slice, ...]:
    """Where the integers of these widths are in a digest message."""
    ends = list(accumulate(map(nbytes, widths), initial=0))
    return tuple(starmap(slice, pairwise(ends)))


def digest_values(payload: bytes, widths: tuple[int, ...]) -> tuple[int, ...]:
    """Integers of a digest message."""
    return tuple([int.from_bytes(payload[place], "big") for place in _places(widths)])


def dispatch(
    data: bytes,
    events: EngineEvents,
    digests: dict[int, tuple[str, tuple[int, ...]]],
    table_names: list[str],
    port_changed: Callable[[int, bool], None],
) -> None:
    """Call back for every event in order; consecutive messages of a digest are one call."""
    for (kind, number), group in groupby(parse(data), key=lambda e: (e.kind, e.id)):
        if kind == DIGEST:
            name, widths = digests[number]
            events.digest(name, [digest_values(e.payload, widths) for e in group])
            continue
        for e in group:
            if kind == PACKET_IN:
                events.packet_in(e.payload)
            elif kind == IDLE:
                events.idle(table_names[number], e.arg)
            elif kind == PORT:
                port_changed(number, bool(e.arg))
                events.port_status(number, bool(e.arg))
