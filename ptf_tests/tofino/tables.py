"""Match tables in the memories of the chip."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, product

from fcn.ptf_tests.tofino.context import ContextError, HashBit, MatchTable, Stage, Way
from fcn.ptf_tests.tofino.entries import (
    ActionMemory,
    Outcome,
    default_outcome,
    immediate,
    mask_of,
    overhead,
    stage_action,
)
from fcn.ptf_tests.tofino.memories import ROWS, TCAM_ROWS, Access, StageMemory, register
from fcn.ptf_tests.tofino.packing import Bits, Nibbles, Slice, pieces_of_range, tcam_row
from fcn.softswitch.api import EngineError, Exact, Lpm, MatchKey, Range, TableFullError, Ternary

_ACTION_DATA_ENABLED = 1 << 22

_COLOR_BUS = {"idle": 3, "stats": 4}
"""By which address the color of a meter is read, and how much shorter it is."""

DirectAddress = tuple[int, int]
"""Of what is kept per entry: the stage, and the number of the entry there."""


class TableMemory(ABC):
    """A table of the program; handles are the engine's."""

    def __init__(
        self, chip: Access, table: MatchTable, data: Callable[[StageMemory], ActionMemory | None]
    ) -> None:
        self.table = table
        self._chip = chip
        self._memories = [StageMemory(chip, stage.number) for stage in table.stages]
        self._data = [data(memory) for memory in self._memories]
        self._handles = count()

    @property
    def action_data(self) -> ActionMemory | None:
        """Of the last stage, where profiles are."""
        return self._data[-1]

    @abstractmethod
    def insert(self, match: Mapping[str, MatchKey], priority: int, what: Outcome) -> int:
        """Add an entry and return its handle."""

    @abstractmethod
    def modify(self, handle: int, what: Outcome) -> None:
        """Change what an entry does."""

    @abstractmethod
    def delete(self, handle: int) -> None:
        """Remove an entry."""

    def address(self, handle: int) -> DirectAddress:
        """Where what belongs to the entry is counted. Raises EngineError."""
        raise EngineError(f"table {self.table.name} keeps nothing per entry")

    def set_default(self, what: Outcome) -> None:
        """What happens on a miss: registers of the last stage."""
        stage, data = self.table.stages[-1], self._data[-1]
        if stage.kind == "match_with_no_key":
            raise EngineError(f"the default of table {self.table.name} cannot be changed")
        misses, does = self._chip.layout.misses, stage_action(stage, what)
        self._write_miss(stage, misses.instruction, does.full_instruction)
        self._write_miss(stage, misses.immediate, immediate(stage, what))
        address = self._miss(stage, misses.next)
        mask = (1 << misses.next_bits) - 1
        kept = self._chip.read(address) & ~mask
        self._chip.write(address, kept | does.full_next_table & mask)
        for source, offset in (("stats_ptr", misses.statistics), ("meter_ptr", misses.meter)):
            override = what.action.overrides.get(source)
            if override is not None and override.whole:
                self._write_miss(stage, offset, override.address)
        meter = what.action.overrides.get("meter_ptr")
        if meter is not None and meter.whole and self.table.color_bus is not None:
            color = misses.idle if self.table.color_bus == "idle" else misses.statistics
            shorter = _COLOR_BUS[self.table.color_bus]
            self._write_miss(stage, color, meter.address >> shorter)
        stateful = what.action.overrides.get("stful_ptr")
        if stateful is not None and stateful.whole:
            self._write_miss(stage, misses.meter, stateful.address)
        last = None if data is None else data.last(what.action)
        if data is not None and last is not None:
            data.write(last, what.action, what.parameters)
            pointer = data.address(last, what.action) | _ACTION_DATA_ENABLED
            self._write_miss(stage, misses.action_data, pointer)

    def _write_miss(self, stage: Stage, offset: int, value: int) -> None:
        self._chip.write(self._miss(stage, offset), value)

    def _miss(self, stage: Stage, offset: int) -> int:
        return register(self._chip.layout, stage.number, offset + 4 * stage.logical)


def make_table(
    chip: Access, table: MatchTable, data: Callable[[StageMemory], ActionMemory | None]
) -> TableMemory | None:
    """The driver of a table; None of a table that only the compiler knows. Raises ContextError."""
    if not table.stages:
        return None
    kinds = {stage.kind for stage in table.stages}
    drivers: dict[str, type[TableMemory]] = {
        "hash_match": ExactTable,
        "ternary_match": TernaryTable,
        "hash_action": IndexedTable,
        "match_with_no_key": KeylessTable,
    }
    if len(kinds) > 1 or not kinds <= drivers.keys():
        raise ContextError(f"table {table.name}: {' and '.join(sorted(kinds))} is not supported")
    return drivers[kinds.pop()](chip, table, data)


class KeylessTable(TableMemory):
    """A table without a key, of which there is only the default."""

    def insert(self, match: Mapping[str, MatchKey], priority: int, what: Outcome) -> int:
        raise EngineError(f"table {self.table.name} has no key")

    def modify(self, handle: int, what: Outcome) -> None:
        raise EngineError(f"table {self.table.name} has no entries")

    def delete(self, handle: int) -> None:
        raise EngineError(f"table {self.table.name} has no entries")


def _exact_values(match: Mapping[str, MatchKey]) -> dict[str, int]:
    values = {}
    for name, key in match.items():
        if not isinstance(key, Exact):
            raise EngineError(f"{name} is an exact key")
        values[name] = key.value
    return values


def _parity(bit: HashBit, values: Mapping[str, int]) -> int:
    parity = bit.seed
    for name, at in bit.inputs:
        parity ^= values[name] >> at & 1
    return parity


def _hash(way: Way, stage: Stage, values: Mapping[str, int]) -> tuple[int, int]:
    """Row, and number of the memory, of a key in a way."""
    bits = {each.bit: _parity(each, values) for each in stage.hashes[way.function]}
    row = sum(bits.get(way.row_start + at, 0) << at for at in range(way.row_bits))
    select = sum(bits.get(way.select_start + at, 0) << at for at in range(way.select_bits))
    return row, select


@dataclass(frozen=True, slots=True)
class _Slot:
    """A place for an entry: in which stage, way and memory, which row, and which entry there."""

    stage: int
    way: int
    block: int
    row: int
    at: int


class ExactTable(TableMemory):
    """Entries at the place that a hash of their key says, in one of several ways.

    An entry that finds every place taken is refused: the driver moves none, as a real one would to
    fill a table to its size.
    """

    def __init__(
        self, chip: Access, table: MatchTable, data: Callable[[StageMemory], ActionMemory | None]
    ) -> None:
        super().__init__(chip, table, data)
        self._used: dict[_Slot, int] = {}
        self._entries: dict[int, tuple[_Slot, dict[str, int]]] = {}

    def insert(self, match: Mapping[str, MatchKey], priority: int, what: Outcome) -> int:
        values = _exact_values(match)
        for slot in self._slots(values):
            if slot not in self._used:
                handle = next(self._handles)
                self._used[slot] = handle
                self._entries[handle] = slot, values
                self._write(slot, values, what)
                return handle
        raise TableFullError(f"every place for this key in table {self.table.name} is taken")

    def modify(self, handle: int, what: Outcome) -> None:
        self._write(*self._entries[handle], what)

    def delete(self, handle: int) -> None:
        slot, _ = self._entries.pop(handle)
        del self._used[slot]
        block = self.table.stages[slot.stage].ways[slot.way].blocks[slot.block]
        self._memories[slot.stage].update(block, slot.row, mask_of(self._fields(slot)), 0)

    def address(self, handle: int) -> DirectAddress:
        slot, _ = self._entries[handle]
        return self.table.stages[slot.stage].number, self._number(slot)

    def _slots(self, values: Mapping[str, int]) -> Iterator[_Slot]:
        for number, stage in enumerate(self.table.stages):
            for way_number, way in enumerate(stage.ways):
                row, block = _hash(way, stage, values)
                for at in range(len(stage.format.fields) if stage.format else 0):
                    yield _Slot(number, way_number, block, row, at)

    def _fields(self, slot: _Slot) -> tuple[Slice, ...]:
        layout = self.table.stages[slot.stage].format
        if layout is None:
            raise ContextError(f"table {self.table.name} has no format")
        return layout.fields[slot.at]

    def _number(self, slot: _Slot) -> int:
        block = self.table.stages[slot.stage].ways[slot.way].blocks[slot.block]
        return block.pages[slot.at] * ROWS + slot.row

    def _write(self, slot: _Slot, values: Mapping[str, int], what: Outcome) -> None:
        stage, data = self.table.stages[slot.stage], self._data[slot.stage]
        fields = self._fields(slot)
        if data is not None and not data.indirect:
            data.write(self._number(slot), what.action, what.parameters)
        word = overhead(fields, stage, what)
        for part in fields:
            if part.source == "spec":
                word |= part.of(values[part.name])
        block = stage.ways[slot.way].blocks[slot.block]
        self._memories[slot.stage].update(block, slot.row, mask_of(fields), word)


class IndexedTable(TableMemory):
    """A table whose key is the number of its action data; its one action always runs."""

    def __init__(
        self, chip: Access, table: MatchTable, data: Callable[[StageMemory], ActionMemory | None]
    ) -> None:
        super().__init__(chip, table, data)
        self._default = default_outcome(table)
        self._entries: dict[int, int] = {}

    def insert(self, match: Mapping[str, MatchKey], priority: int, what: Outcome) -> int:
        handle = next(self._handles)
        self._entries[handle] = self._index(_exact_values(match))
        self.modify(handle, what)
        return handle

    def modify(self, handle: int, what: Outcome) -> None:
        self._write(self._entries[handle], what)

    def delete(self, handle: int) -> None:
        index = self._entries.pop(handle)
        if self._default is not None:
            self._write(index, self._default)

    def set_default(self, what: Outcome) -> None:
        self._default = what
        taken = set(self._entries.values())
        for index in range(self.table.size):
            if index not in taken:
                self._write(index, what)

    def _index(self, values: Mapping[str, int]) -> int:
        (stage,) = self.table.stages
        return sum(_parity(each, values) << each.bit for each in stage.hashes[0])

    def _write(self, index: int, what: Outcome) -> None:
        data = self._data[0]
        if data is not None:
            data.write(index, what.action, what.parameters)


@dataclass(frozen=True, slots=True)
class _Rows:
    """An entry of a TCAM: its rows, and what it does. rank: the highest wins."""

    rank: tuple[int, int]
    rows: tuple["_Words", ...]
    what: Outcome


_Words = tuple[list[tuple[int, int]], ...]
"""A row as every stage has it, because a stage has a format of its own."""
_Row = tuple[_Words, Outcome]


class TernaryTable(TableMemory):
    """Entries in a TCAM, in the order of their priorities; the row with the highest number wins.

    The rows from the entry on are written again with each change. Tables of several stages are
    filled from the last stage on, which the chip asks after the others.
    """

    def __init__(
        self, chip: Access, table: MatchTable, data: Callable[[StageMemory], ActionMemory | None]
    ) -> None:
        super().__init__(chip, table, data)
        self._entries: dict[int, _Rows] = {}
        self._written: dict[int, _Row] = {}
        self._words = table.stages[0].format.units if table.stages[0].format else 0
        self._places = [
            (number, block, row)
            for number, stage in reversed(list(enumerate(table.stages)))
            for block in range(len(stage.blocks))
            for row in range(TCAM_ROWS)
        ]
        self._prefix_keys = False

    def insert(self, match: Mapping[str, MatchKey], priority: int, what: Outcome) -> int:
        handle = next(self._handles)
        length = sum(key.prefix_len for key in match.values() if isinstance(key, Lpm))
        rows = self._rows(match)
        self._entries[handle] = _Rows((priority, length), rows, what)
        try:
            self._flush()
        except TableFullError:
            del self._entries[handle]
            raise
        return handle

    def insert_all(self, entries: Sequence[tuple[Mapping[str, MatchKey], int, Outcome]]) -> None:
        """Add entries at once."""
        for match, priority, what in entries:
            rows = self._rows(match)
            self._entries[next(self._handles)] = _Rows((priority, 0), rows, what)
        self._flush()

    def modify(self, handle: int, what: Outcome) -> None:
        old = self._entries[handle]
        self._entries[handle] = _Rows(old.rank, old.rows, what)
        self._flush()

    def delete(self, handle: int) -> None:
        del self._entries[handle]
        self._flush()

    def _rows(self, match: Mapping[str, MatchKey]) -> tuple[_Words, ...]:
        by_stage = [self._rows_in(stage, match) for stage in self.table.stages]
        return tuple(zip(*by_stage, strict=True))

    def _rows_in(self, stage: Stage, match: Mapping[str, MatchKey]) -> list[list[tuple[int, int]]]:
        layout = stage.format
        fields = layout.fields[0] if layout else ()
        widths = {key.name: key.start + key.width for key in self.table.keys}
        fixed: list[tuple[Slice, Bits]] = []
        for part in fields:
            if part.source == "spec" and part.name in match:
                fixed.append((part, _bits(match[part.name], widths[part.name])))
        choices: list[list[list[tuple[Slice, Bits | Nibbles]]]] = []
        for name, key in match.items():
            parts = [part for part in fields if part.source == "range" and part.name == name]
            if parts and isinstance(key, Range):
                choices.append(_range_choices(parts, key))
        return [
            tcam_row([*fixed, *(each for choice in chosen for each in choice)], self._words)
            for chosen in product(*choices)
        ]

    def _flush(self) -> None:
        """Write the rows that are not what they should be."""
        wanted: list[_Row] = [
            (row, entry.what)
            for entry in sorted(self._entries.values(), key=lambda each: each.rank)
            for row in entry.rows
        ]
        if len(wanted) > len(self._places):
            raise TableFullError(f"table {self.table.name} has no room for {len(wanted)} rows")
        for index, row in enumerate(wanted):
            if self._written.get(index) != row:
                self._write(index, row)
                self._written[index] = row
        for index in [index for index in self._written if index >= len(wanted)]:
            number, block, at = self._places[index]
            nothing = [(1, 0)] * self._words
            self._memories[number].write_tcam(self.table.stages[number].blocks[block], at, nothing)
            del self._written[index]

    def _write(self, index: int, row: _Row) -> None:
        by_stage, what = row
        number, block_number, at = self._places[index]
        words = by_stage[number]
        stage, memory, data = self.table.stages[number], self._memories[number], self._data[number]
        block = stage.blocks[block_number]
        address = block.pages[0] * TCAM_ROWS + at
        if data is not None and not data.indirect:
            data.write(address, what.action, what.parameters)
        if stage.indirect is not None:
            layout = stage.indirect.format
            word, entry = divmod(address, layout.entries)
            page, line = divmod(word, ROWS)
            fields = layout.fields[entry]
            memory.update(
                stage.indirect.blocks[page], line, mask_of(fields), overhead(fields, stage, what)
            )
        memory.write_tcam(block, at, words)


def _bits(key: MatchKey, width: int) -> Bits:
    match key:
        case Exact(value):
            return Bits(value, -1)
        case Ternary(value, mask):
            return Bits(value, mask)
        case Lpm(value, length):
            return Bits(value, ((1 << length) - 1) << width - length)
        case Range():
            raise EngineError("a range where the chip matches bits")


def _range_choices(parts: Sequence[Slice], key: Range) -> list[list[tuple[Slice, Bits | Nibbles]]]:
    """The rows a range takes, each as what its parts may be."""
    own = sorted((part for part in parts if not part.duplicate), key=lambda part: -part.start)
    places = [(part.start, part.width) for part in own]
    return [list(zip(own, row, strict=True)) for row in pieces_of_range(key.low, key.high, places)]
