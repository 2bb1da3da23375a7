"""What context.json of the assembler says of a program, as far as the driver needs it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fcn.ptf_tests.tofino.packing import Slice
from fcn.softswitch.api import EngineError

_SRAM_COLUMNS = 12


class ContextError(EngineError):
    """context.json lacks something, or has what the driver does not know; the message says what."""


@dataclass(frozen=True, slots=True)
class Format:
    """How entries are in the words of a memory: `units` memories side by side are one word, which
    has so many entries; `fields` are those of each, by its number."""

    units: int
    fields: tuple[tuple[Slice, ...], ...]

    @property
    def entries(self) -> int:
        """In a word."""
        return len(self.fields)


@dataclass(frozen=True, slots=True)
class Block:
    """Memories side by side, that of the lowest bits first, and the pages they are of a table."""

    units: tuple[int, ...]
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Immediate:
    """Bits of a parameter, or of a constant, that are kept with the match."""

    name: str
    start: int
    offset: int
    width: int
    constant: int | None


@dataclass(frozen=True, slots=True)
class StageAction:
    """An action as one stage has it: what an entry says to run it, and what a default does."""

    instruction: int
    full_instruction: int
    next_table: int
    full_next_table: int
    immediate: tuple[Immediate, ...]


@dataclass(frozen=True, slots=True)
class Override:
    """What an action says to a counter, a meter or a register that it uses by itself: the whole
    address, or only that it does."""

    address: int
    whole: bool
    enabled: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an action, and its value where the program says one for the default."""

    name: str
    default: int | None


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a table. overrides: by `stats_ptr`, `meter_ptr` and `stful_ptr`."""

    name: str
    handle: int
    parameters: tuple[Parameter, ...]
    overrides: Mapping[str, Override]


@dataclass(frozen=True, slots=True)
class HashBit:
    """One bit of a hash: the bits of the key whose parity it is."""

    bit: int
    seed: int
    inputs: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A way of an exact match: which bits of the hash are the row, and which choose a memory."""

    function: int
    row_start: int
    row_bits: int
    select_start: int
    select_bits: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """A match table in one stage."""

    kind: str
    number: int
    logical: int
    format: Format | None
    blocks: tuple[Block, ...]
    ways: tuple[Way, ...]
    hashes: tuple[tuple[HashBit, ...], ...]
    actions: Mapping[int, StageAction]
    indirect: "Memory | None"
    idle: "Idle | None"


@dataclass(frozen=True, slots=True)
class Memory:
    """Blocks in the order of their addresses, and the format of their words. spare: memories that
    take part in turn where a unit of the chip writes, too."""

    format: Format
    blocks: tuple[Block, ...]
    spare: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Idle:
    """The map RAMs that keep how long entries have not been hit."""

    bits: int
    two_way: bool
    per_flow: bool
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """A field of a key. position: in the key as the program declares it; start: of a slice."""

    name: str
    position: int
    start: int
    width: int


@dataclass(frozen=True, slots=True)
class StaticEntry:
    """An entry of the program; match by name of the key: (value, mask), or bounds of a range."""

    action: int
    priority: int
    match: Mapping[str, tuple[int, int]]
    ranges: Mapping[str, tuple[int, int]]
    parameters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class MatchTable:
    """A table of the program. Names of what is attached are by kind: `action`, `selection`,
    `statistics`, `meter`. color_bus: what brings the address of a meter's color, `idle` or
    `stats`."""

    name: str
    size: int
    keys: tuple[Key, ...]
    actions: tuple[Action, ...]
    default: int | None
    entries: tuple[StaticEntry, ...]
    stages: tuple[Stage, ...]
    attached: Mapping[str, tuple[str, bool]]
    color_bus: str | None = None

    def action(self, name: str) -> Action:
        """By its full name. Raises ContextError."""
        for action in self.actions:
            if action.name == name:
                return action
        raise ContextError(f"table {self.name} has no action {name}")

    def action_of(self, handle: int) -> Action:
        """By its handle. Raises ContextError."""
        for action in self.actions:
            if action.handle == handle:
                return action
        raise ContextError(f"table {self.name} has no action with handle {handle}")


@dataclass(frozen=True, slots=True)
class ActionData:
    """Parameters of actions that do not fit beside the match: by stage, and by action's handle."""

    name: str
    indirect: bool
    stages: Mapping[int, Mapping[int, Memory]]
    actions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Array:
    """A counter, meter, register or selector: its memory in one stage.

    values: of a register, what each half of a cell is at first.
    """

    name: str
    kind: str
    size: int
    direct: bool
    stage: int
    logical: int
    per_word: int
    memory: Memory
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A parser value set: rows of the parser's TCAM, and where in a row each bit of a value is:
    which match register, and which bit of it."""

    name: str
    rows: tuple[int, ...]
    bits: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Quantum:
    """A digest as it comes: (field, octet, highest bit there, width, offset in the field) of each
    part."""

    name: str
    type: int
    parts: tuple[tuple[str, int, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Context:
    """A program."""

    tables: Mapping[str, MatchTable]
    action_data: Mapping[str, ActionData]
    arrays: Mapping[tuple[str, str], tuple[Array, ...]]
    value_sets: Mapping[str, ValueSet]
    quanta: Mapping[int, Quantum]
    target: str


def sram_place(unit: int) -> tuple[int, int]:
    """Row and column of an SRAM, or of the map RAM beside it."""
    return divmod(unit, _SRAM_COLUMNS)


def tcam_place(unit: int) -> tuple[int, int]:
    """Row and column of a TCAM."""
    column, row = divmod(unit, _SRAM_COLUMNS)
    return row, column
