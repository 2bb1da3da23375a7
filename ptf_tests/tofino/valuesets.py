"""Parser value sets: rows of the TCAM of every parser of the ingress."""

from collections.abc import Sequence

from fcn.ptf_tests.tofino.context import ValueSet
from fcn.ptf_tests.tofino.memories import Access
from fcn.softswitch.api import EngineError

_REGISTERS = (1 << 32) - 1
"""The bits of a row that are match registers; the others are the state, and stay."""


class ValueSetMemory:
    """One value set."""

    def __init__(self, chip: Access, layout: ValueSet) -> None:
        self._chip = chip
        self._name, self._rows = layout.name, layout.rows
        bases = chip.layout.parsers.registers
        self._bits = [bases[register] + bit for register, bit in layout.bits]

    def write(self, values: Sequence[int]) -> None:
        """Replace its values; a row that is not needed matches nothing."""
        rows = self._rows
        if len(values) > len(rows):
            raise EngineError(f"value set {self._name} has {len(rows)} rows")
        for row, value in zip(rows, [*values, *[None] * (len(rows) - len(values))], strict=True):
            words = (0, 0) if value is None else self._encoded(value)
            for parser in self._chip.layout.parsers.parsers:
                for (first, shift), word in zip(parser, words, strict=True):
                    kept = self._chip.read_memory(first + row) & ~(_REGISTERS << shift)
                    self._chip.write_memory(first + row, kept | word << shift)

    def _encoded(self, value: int) -> tuple[int, int]:
        """In the first word the bits that may be 0, in the second those that may be 1."""
        low = high = _REGISTERS
        for number, place in enumerate(self._bits):
            if value >> number & 1:
                low &= ~(1 << place)
            else:
                high &= ~(1 << place)
        return low, high
