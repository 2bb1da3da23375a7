"""What an entry says beside its match: instruction, next table, parameters, addresses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fcn.ptf_tests.tofino.context import (
    Action,
    ActionData,
    ContextError,
    MatchTable,
    Memory,
    Stage,
    StageAction,
)
from fcn.ptf_tests.tofino.memories import ROWS, StageMemory
from fcn.ptf_tests.tofino.packing import Slice
from fcn.softswitch.api import ActionCall

_WIDE = 0x1F
"""In an address: the entry has several words."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An action with its parameters, and addresses that the driver gives (`adt_ptr` and others)."""

    action: Action
    parameters: Mapping[str, int]
    pointers: Mapping[str, int] = field(default_factory=dict)


def outcome(table: MatchTable, call: ActionCall) -> Outcome:
    """Of a call by the full name of the action. Raises ContextError."""
    action = table.action(call.name)
    names = [parameter.name for parameter in action.parameters]
    return Outcome(action, dict(zip(names, call.args, strict=True)))


def default_outcome(table: MatchTable) -> Outcome | None:
    """What the program says happens on a miss; None where it says nothing."""
    if table.default is None:
        return None
    action = table.action_of(table.default)
    values = {parameter.name: parameter.default or 0 for parameter in action.parameters}
    return Outcome(action, values)


def stage_action(stage: Stage, what: Outcome) -> StageAction:
    """The action as this stage has it. Raises ContextError."""
    found = stage.actions.get(what.action.handle)
    if found is None:
        raise ContextError(f"action {what.action.name} is not in stage {stage.number}")
    return found


def immediate(stage: Stage, what: Outcome) -> int:
    """Parameters and constants that are kept with the match."""
    word = 0
    for part in stage_action(stage, what).immediate:
        value = what.parameters.get(part.name, 0) if part.constant is None else part.constant
        bits = value >> part.start if part.constant is None else value
        word |= (bits & (1 << part.width) - 1) << part.offset
    return word


def overhead(fields: Iterable[Slice], stage: Stage, what: Outcome) -> int:
    """The bits of an entry, in the format given, that are not its match."""
    does = stage_action(stage, what)
    values = {
        "instr": does.instruction,
        "next_table": does.next_table & 0xFF,
        "immediate": immediate(stage, what),
        "version": 0xF,
        "valid": 1,
        **what.pointers,
    }
    for source, override in what.action.overrides.items():
        if override.whole:
            values[source] = override.address
    word = 0
    for part in fields:
        if part.source == "constant":
            word |= part.constant << part.offset & part.mask
        elif part.source in values:
            word |= part.of(values[part.source])
    return word


def mask_of(fields: Iterable[Slice]) -> int:
    """The bits of a word that an entry has."""
    mask = 0
    for part in fields:
        mask |= part.mask
    return mask


class ActionMemory:
    """Parameters of actions in memories of their own, in one stage."""

    def __init__(self, memory: StageMemory, data: ActionData) -> None:
        self._memory = memory
        self._formats = data.stages.get(memory.stage, {})
        self.indirect = data.indirect

    def write(self, index: int, action: Action, parameters: Mapping[str, int]) -> None:
        """The parameters of an action as entry `index`; nothing where it has none here."""
        memory = self._formats.get(action.handle)
        if memory is None:
            return
        word, at = divmod(index, memory.format.entries)
        block, row = divmod(word, ROWS)
        if block >= len(memory.blocks):
            raise ContextError(f"action data of {action.name}: there is no entry {index}")
        fields = memory.format.fields[at]
        value = 0
        for part in fields:
            if part.source == "constant":
                value |= part.constant << part.offset & part.mask
            elif part.source == "spec":
                value |= part.of(parameters.get(part.name, 0))
        self._memory.update(memory.blocks[block], row, mask_of(fields), value)

    def address(self, index: int, action: Action) -> int:
        """The address of entry `index` as the chip counts, without the bit that enables it."""
        memory = self._formats.get(action.handle)
        return 0 if memory is None else _address(memory, index)

    def last(self, action: Action) -> int | None:
        """The entry that defaults take; None where the action has no parameters here."""
        memory = self._formats.get(action.handle)
        return None if memory is None else self._entries(memory) - 1

    @property
    def size(self) -> int:
        """Entries of the format that has the fewest."""
        return min((self._entries(memory) for memory in self._formats.values()), default=0)

    @staticmethod
    def _entries(memory: Memory) -> int:
        return len(memory.blocks) * ROWS * memory.format.entries


def _address(memory: Memory, index: int) -> int:
    """In four-bit units, with the size of an entry in the lowest bits, or above the row in wide
    words; the assembler has numbered the pages so."""
    entries = memory.format.entries
    word, at = divmod(index, entries)
    block, row = divmod(word, ROWS)
    (page, *_) = memory.blocks[block].pages
    octets = 16 // entries
    size = octets - 1 if memory.format.units == 1 else _WIDE
    return ((page * ROWS + row) * entries + at) * octets * 2 + size
