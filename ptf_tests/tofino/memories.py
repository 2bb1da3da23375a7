"""The memories of the stages of pipe 0, through the model's indirect addresses."""

from collections.abc import Sequence
from typing import Protocol

from fcn.ptf_tests.tofino.context import Block, Memory, sram_place, tcam_place
from fcn.ptf_tests.tofino.layout import Bus, Layout
from fcn.ptf_tests.tofino.packing import UNIT_BITS, units

ROWS = 1024
"""Of an SRAM or a map RAM."""
TCAM_ROWS = 512
_MEMORY = 2 << 30
_SRAM, _MAP_RAM, _TCAM = 0, 1, 4
_FREE_PAGE = 0x3F


class Access(Bus, Protocol):
    """The part of Chip that is used here."""

    @property
    def layout(self) -> Layout:
        """Where things are."""

    def read_memory(self, address: int) -> int:
        """A word of a memory."""

    def write_memory(self, address: int, word: int) -> None:
        """Write a word of a memory."""

    def fill_memory(self, address: int, count: int, word: int) -> None:
        """Write the same word to so many addresses."""


def register(layout: Layout, stage: int, offset: int) -> int:
    """The address of a register of a stage."""
    first, step = layout.stage_registers
    return first + stage * step + offset


class StageMemory:
    """The memories of one stage."""

    def __init__(self, chip: Access, stage: int) -> None:
        self._chip = chip
        self.stage = stage
        first, step = chip.layout.stage_memories
        self._base = first + stage * step | _MEMORY

    def update(self, block: Block, row: int, mask: int, value: int) -> None:
        """Write the bits of `mask` of a word as wide as the block."""
        count = len(block.units)
        for unit, bits, new in zip(
            block.units, units(mask, count), units(value, count), strict=True
        ):
            if bits:
                address = self._sram(unit, row)
                old = self._chip.read_memory(address) if bits + 1 < 1 << UNIT_BITS else 0
                self._chip.write_memory(address, old & ~bits | new & bits)

    def write_tcam(self, block: Block, row: int, words: Sequence[tuple[int, int]]) -> None:
        """Write a row as wide as the block."""
        for unit, (low, high) in zip(block.units, words, strict=True):
            address = self._address(_TCAM, *tcam_place(unit), row)
            self._chip.write_memory(address, low | high << 64)

    def read_map(self, unit: int, row: int) -> int:
        """A word of a map RAM."""
        return self._chip.read_memory(self._address(_MAP_RAM, *sram_place(unit), row))

    def write_map(self, unit: int, row: int, value: int) -> None:
        """Write a word of a map RAM."""
        self._chip.write_memory(self._address(_MAP_RAM, *sram_place(unit), row), value)

    def read_sram(self, unit: int, row: int) -> int:
        """A word of an SRAM."""
        return self._chip.read_memory(self._sram(unit, row))

    def write_sram(self, unit: int, row: int, value: int) -> None:
        """Write a word of an SRAM."""
        self._chip.write_memory(self._sram(unit, row), value)

    def fill(self, unit: int, page: int, value: int) -> None:
        """Write all words of an SRAM, and of the map RAM beside it."""
        place = sram_place(unit)
        self._chip.fill_memory(self._address(_MAP_RAM, *place, 0), ROWS, page)
        self._chip.fill_memory(self._address(_SRAM, *place, 0), ROWS, value)

    def _address(self, kind: int, row: int, column: int, index: int) -> int:
        return self._base | kind << 18 | row << 14 | column << 10 | index

    def _sram(self, unit: int, row: int) -> int:
        return self._address(_SRAM, *sram_place(unit), row)


class TwoPort:
    """Words that a unit of the chip writes, too: counters, meters, registers and selectors.

    One SRAM more than there are pages takes part. The map RAM beside each says of which page a row
    is: its number with all bits turned, so that 0 is a row that is free.
    """

    def __init__(self, memory: StageMemory, array: Memory) -> None:
        self._memory = memory
        self._units = [unit for block in array.blocks for unit in block.units] + list(array.spare)
        self.words = len(array.blocks) * ROWS

    def read(self, word: int) -> int:
        """A word; 0 where nothing was written yet."""
        page, row = divmod(word, ROWS)
        for unit in self._units:
            if self._page(unit, row) == page:
                return self._memory.read_sram(unit, row)
        return 0

    def write(self, word: int, value: int) -> None:
        """Write a word, where it is or where there is room."""
        page, row = divmod(word, ROWS)
        pages = [self._page(unit, row) for unit in self._units]
        if page not in pages:
            free = self._units[pages.index(_FREE_PAGE)]
            self._memory.write_map(free, row, page ^ _FREE_PAGE)
            self._memory.write_sram(free, row, value)
        else:
            self._memory.write_sram(self._units[pages.index(page)], row, value)

    def fill(self, value: int) -> None:
        """Write all words, before a packet has passed."""
        for page, unit in enumerate(self._units[: self.words // ROWS]):
            self._memory.fill(unit, page ^ _FREE_PAGE, value)

    def _page(self, unit: int, row: int) -> int:
        return self._memory.read_map(unit, row) & _FREE_PAGE ^ _FREE_PAGE
