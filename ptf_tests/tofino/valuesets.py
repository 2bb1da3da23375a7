"""Parser value sets: rows of the TCAM of every parser of the ingress."""

from collections.abc import Sequence

from fcn.ptf_tests.tofino.context import ValueSet
from fcn.ptf_tests.tofino.memories import Access
from fcn.softswitch.api import EngineError

_PARSERS = 18
_PARSER_STEP = 0x2000
_FIRST = 0x200_0000_0000 | 0x1C_8000_0000
_SECOND = _FIRST + 0x100
_REGISTERS = (1 << 32) - 1
"""The bits of a row that are match registers; the others are the state, and stay."""


class ValueSetMemory:
    """One value set."""

    def __init__(self, chip: Access, layout: ValueSet) -> None:
        self._chip = chip
        self._layout = layout
        self._others = self._state_bits()

    def write(self, values: Sequence[int]) -> None:
        """Replace its values; a row that is not needed matches nothing."""
        rows = self._layout.rows
        if len(values) > len(rows):
            raise EngineError(f"value set {self._layout.name} has {len(rows)} rows")
        first, second = self._others
        for row, value in zip(rows, [*values, *[None] * (len(rows) - len(values))], strict=True):
            low, high = (0, 0) if value is None else self._encoded(value)
            for parser in range(_PARSERS):
                place = parser * _PARSER_STEP + row
                self._chip.write_memory(_FIRST + place, first | low)
                self._chip.write_memory(_SECOND + place, second | high)

    def _encoded(self, value: int) -> tuple[int, int]:
        """In the first word the bits that may be 0, in the second those that may be 1."""
        low = high = _REGISTERS
        for number, place in enumerate(self._layout.bits):
            if value >> number & 1:
                low &= ~(1 << place)
            else:
                high &= ~(1 << place)
        return low, high

    def _state_bits(self) -> tuple[int, int]:
        row = self._layout.rows[0]
        return (
            self._chip.read_memory(_FIRST + row) & ~_REGISTERS,
            self._chip.read_memory(_SECOND + row) & ~_REGISTERS,
        )
