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
        self._columns = len(probes)
        self._values = np.zeros((rows + 1, len(probes)), np.uint64)
        self._values[0] = first
        self._at = native.ffi.from_buffer("uint64_t[]", self._values, require_writable=True)
        self._all = [
            (each.what, each.number, each.a, each.b, each.base, column)
            for column, each in enumerate(probes)
        ]
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

    def select(self, columns: range) -> tuple[int, CData]:
        """These columns, as look() takes them."""
        chosen = self._all[columns.start : columns.stop]
        return len(chosen), self._native.ffi.new("lab_probe[]", chosen)

    def look(self, selected: tuple[int, CData]) -> None:
        """Add a row in which the selected columns are as they are now."""
        self.rows += 1
        row = self._at + self.rows * self._columns
        self._native.lib.lab_look(self._native.handle, *selected, self._columns, row)

    def take(self) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """The rows since the last call, and which of their values differ from the row before."""
        values = self._values[1 : self.rows + 1].copy()
        changed = values != self._values[: self.rows]
        self._values[0] = self.now
        self.rows = 0
        return values, changed
