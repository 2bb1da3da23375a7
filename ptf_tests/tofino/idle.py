"""Idle timeouts of entries, by looking at what the chip keeps of each.

A packet that hits an entry sets its cell of the map RAM back. The driver writes the highest value,
and looks from time to time whether it still is there; the chip's own sweep stays off.
"""

from dataclasses import dataclass

from fcn.ptf_tests.tofino.context import Idle
from fcn.ptf_tests.tofino.memories import ROWS, StageMemory

_MAP_BITS = 8
"""Of a map RAM's word, that are entries."""


class IdleCells:
    """Those of a table in one stage."""

    def __init__(self, memory: StageMemory, idle: Idle) -> None:
        self._memory = memory
        self._idle = idle
        self._per_word = _MAP_BITS // idle.bits
        self._highest = (1 << idle.bits) - (2 if idle.per_flow else 1)

    def arm(self, number: int) -> None:
        """Write what the next hit changes."""
        unit, row, at = self._place(number)
        mask = ((1 << self._idle.bits) - 1) << at
        word = self._memory.read_map(unit, row) & ~mask & (1 << _MAP_BITS) - 1
        self._memory.write_map(unit, row, word | self._highest << at)

    def was_hit(self, number: int) -> bool:
        """Whether a packet hit the entry since it was armed."""
        unit, row, at = self._place(number)
        value = self._memory.read_map(unit, row) >> at & (1 << self._idle.bits) - 1
        return value != self._highest

    def _place(self, number: int) -> tuple[int, int, int]:
        word, at = divmod(number, self._per_word)
        page, row = divmod(word, ROWS)
        return self._idle.blocks[page].units[0], row, at * self._idle.bits


@dataclass(slots=True)
class Watched:
    """An entry with a timeout; last: when it was hit, or told idle, in ns."""

    cells: IdleCells
    number: int
    timeout_ns: int
    last_hit: int
    told: int

    def look(self, now: int) -> bool:
        """Whether to tell that the entry has been idle for its timeout, now in ns."""
        if self.cells.was_hit(self.number):
            self.cells.arm(self.number)
            self.last_hit = self.told = now
        if self.timeout_ns and now - self.told >= self.timeout_ns:
            self.told = now
            return True
        return False
