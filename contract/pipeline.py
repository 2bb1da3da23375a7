"""A compiled P4 program: its files, the schema built from its P4Info, and its target."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from finsy import P4Schema
from google.protobuf.text_format import ParseError

from fcn.contract.constants import PipelineError, compiled_file, enum_members
from fcn.contract.names import MODE_PARTS
from fcn.contract.targets import Target, target_of


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One compiled program: its files, and the schema built from its P4Info.

    blob: None when the program was loaded without its binary.
    """

    name: str
    p4info: Path
    blob: Path | None
    schema: P4Schema

    def enum(self, name: str) -> dict[str, int]:
        """Members of an enum of the programs. Raises PipelineError."""
        return enum_members(name)

    @property
    def target(self) -> Target:
        """The target the program was compiled for. Raises PipelineError."""
        return target_of(self.schema.p4info)

    @property
    def counters(self) -> frozenset[str]:
        """Names of the program's indirect counters."""
        return frozenset(counter.alias for counter in self.schema.counters)

    def has_value_set(self, name: str) -> bool:
        """Whether the program's parser has a value set."""
        return self.schema.value_sets.get(name) is not None

    def table_size(self, table: str) -> int:
        """The size of a table, in entries."""
        return self.schema.tables[table].size

    def lacks(self, other: "Pipeline") -> tuple[str, ...]:
        """Names of the other's tables and counters that this one has not, without those of modes
        that a program need not have."""
        return tuple(sorted(other._names - self._names - MODE_PARTS[self.name]))

    def has_tables(self, names: Collection[str]) -> bool:
        """Whether the program has all these tables."""
        return self._names.issuperset(names)

    def has_action(self, name: str) -> bool:
        """Whether a table of the program has this action."""
        return any(action.alias == name for action in self.schema.actions)

    @property
    def _names(self) -> frozenset[str]:
        return frozenset(table.alias for table in self.schema.tables) | self.counters

    @property
    def settable_defaults(self) -> tuple[str, ...]:
        """Tables without a key, whose default action the controller sets."""
        return tuple(
            table.alias
            for table in self.schema.tables
            if not table.match_fields and table.const_default_action is None
        )


@lru_cache
def load_pipeline(role: str, folder: Path | None = None, *, binary: bool = True) -> Pipeline:
    """The program of a node's role (`pe` or `p`) in `folder`, by default that included in fcn.

    binary: whether the binary is needed too, to load the program on a switch. Raises PipelineError.
    """
    p4info = compiled_file(f"{role}.p4info.txtpb", folder=folder)
    blob = compiled_file(f"{role}.json", f"{role}.bin", folder=folder) if binary else None
    try:
        return Pipeline(role, p4info, blob, P4Schema(p4info, blob))
    except (OSError, ParseError, ValueError) as error:
        raise PipelineError(f"{p4info} is not a P4Info: {error}") from None


def load_target(role: str, folder: Path | None = None) -> Target:
    """The target of the program of a node's role. Raises PipelineError."""
    return load_pipeline(role, folder, binary=False).target
