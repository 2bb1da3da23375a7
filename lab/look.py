"""Values of a simulation that are looked at again and again, many at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from fcn.lab.native_handle import NativeLab
from fcn.softswitch.engine.build import CData


class Look(IntEnum):
    """What is looked at; the values are those of lab_api.h.

    Of a switch: packets of cell `b` of counter `a`; packets or octets in the queues of port `a`;
    place `a` of the engine's balance; frames that came while it was off. Of a direction of a link:
    frames, octets, frames cut. Of connection `a` of a host: its rate (a double), packets
    acknowledged, octets sent.
    """

    COUNTER = 0
    QUEUED = 1
    QUEUED_OCTETS = 2
    BALANCE = 3
    OFF_DROPS = 4
    PUT = 5
    PUT_OCTETS = 6
    CUT = 7
    RATE = 8
    ACKNOWLEDGED = 9
    OCTETS = 10


@dataclass(frozen=True, slots=True)
class Probe:
    """A value: number is that of the node or direction; base is added to what a switch counts."""

    what: Look
    number: int
    a: int = 0
    b: int = 0
    base: int = 0


class Block:
    """Rows of values, of which each has a column, and all begin as those of the row before."""

    def __init__(
        self, native: NativeLab, probes: Sequence[Probe], first: NDArray[np.uint64], rows: int
    ) -> None:
        """first: the row before the first one. rows: that there is room for."""
        self._native = native
        self._values = np.zeros((rows + 1, len(probes)), np.uint64)
        self._values[0] = first
        self._at = native.ffi.from_buffer("uint64_t[]", self._values, require_writable=True)
        self._probes = _native(native, probes)
        self.rows = 0

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another row."""
        return self.rows + 1 == len(self._values)

    @property
    def now(self) -> NDArray[np.uint64]:
        """The last row."""
        row: NDArray[np.uint64] = self._values[self.rows]
        return row

    def look(self) -> None:
        """Add a row of what is now."""
        self.rows += 1
        columns = len(self._probes)
        row = self._at + self.rows * columns
        self._native.call("look", columns, self._probes, row)

    def take(self) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """The rows since the last call, and which of their values differ from the row before."""
        values = self._values[1 : self.rows + 1].copy()
        changed = values != self._values[: self.rows]
        self._values[0] = self.now
        self.rows = 0
        return values, changed


class Watch:
    """Values that the core itself looks at while it runs, noting only what changed."""

    def __init__(
        self, native: NativeLab, probes: Sequence[Probe], last: NDArray[np.uint64], changes: int
    ) -> None:
        """last: values before. changes: that there is room for, beyond those of one look."""
        self._native = native
        self.now = last.copy()
        self._changes = np.zeros((changes + len(probes), 3), np.uint64)
        buffer = native.ffi.from_buffer
        self._kept = (
            _native(native, probes),
            buffer("uint64_t[]", self.now, require_writable=True),
            buffer("lab_change[]", self._changes, require_writable=True),
        )
        self._watch = native.ffi.new("lab_watch *")
        self._watch.probes, self._watch.last, self._watch.changes = self._kept
        self._watch.n, self._watch.room = len(probes), len(self._changes)

    @property
    def is_full(self) -> bool:
        """Whether the next look might find no room."""
        return bool(self._watch.room - self._watch.noted < self._watch.n)

    @property
    def times(self) -> range:
        """When looks are still due."""
        watch = self._watch
        return range(watch.due, watch.end, watch.every or 1)

    @times.setter
    def times(self, times: range) -> None:
        watch = self._watch
        watch.due, watch.end, watch.every = times.start, times.stop, times.step

    def look(self) -> None:
        """Look now; there is room."""
        self._native.call("note", self._watch)

    def run(self, until: int, before: int) -> int:
        """Run until then, with the looks that are due before `before`; the time reached. It ends
        earlier for an event, when this is full, and after the last look."""
        self._watch.before = before
        return self._native.call("run_noting", until, self._watch)

    def take(self) -> NDArray[np.int64]:
        """Time, place of the probe and value of each change since the last call."""
        noted: NDArray[np.int64] = self._changes[: self._watch.noted].astype(np.int64)
        self._watch.noted = 0
        return noted


def _native(native: NativeLab, probes: Sequence[Probe]) -> CData:
    values = [(each.what, each.number, each.a, each.b, each.base) for each in probes]
    return native.ffi.new("lab_probe[]", values)
