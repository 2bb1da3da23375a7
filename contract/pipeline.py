"""A compiled P4 program: its files, the schema built from its P4Info, and its target."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from finsy import P4Schema
from finsy.p4schema import P4SchemaCache, P4Table
from finsy.proto import p4i
from google.protobuf import text_format
from google.protobuf.text_format import ParseError

from fcn.contract.constants import PipelineError, compiled_file, compiled_programs, enum_members
from fcn.contract.names import NOT_ON_CHIPS
from fcn.contract.profiles import FULL, LEAST, PROFILES, Mode
from fcn.contract.targets import Target, target_of

SCHEMAS = P4SchemaCache()  # type: ignore[no-untyped-call]
"""What is made of a P4Info within it is made once, which takes a hundredth of a second."""


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
        return frozenset(counter.alias for counter in self.schema.counters)

    def has_value_set(self, name: str) -> bool:
        return self.schema.value_sets.get(name) is not None

    def table_size(self, table: str) -> int:
        return self.schema.tables[table].size

    @property
    def lacking(self) -> tuple[str, ...]:
        """Names of tables and counters that this program has not and every program of its role
        must have. Raises PipelineError."""
        least = _names_of(self.name, LEAST)
        return tuple(sorted(least - self._names - NOT_ON_CHIPS[self.name]))

    @property
    def differing(self) -> tuple[str, ...]:
        """Tables whose key or actions are not those of this version of fcn, which has no others.
        Raises PipelineError."""
        known = _shapes(self.name)
        own = {table.alias: _shape(table) for table in self.schema.tables}
        return tuple(
            name
            for name, (key, actions) in sorted(own.items())
            if name in known
            and (
                key != known[name][0]
                or actions - known[name][1]
                or {each for each, *_ in known[name][1] - actions} - NOT_ON_CHIPS[self.name]
            )
        )

    @property
    def modes(self) -> frozenset[Mode]:
        """The modes the program has all tables and counters of, but for what no chip has. Raises
        PipelineError."""
        names = self._names | NOT_ON_CHIPS[self.name]
        return frozenset(mode for mode, parts in mode_parts(self.name).items() if names >= parts)

    def has_tables(self, names: Collection[str]) -> bool:
        return self._names.issuperset(names)

    def has_action(self, name: str) -> bool:
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


_NAME = re.compile(
    r"^(?:tables|counters) \{\n  preamble \{\n(?:    .*\n)*?    alias: \"(\w+)\"", re.MULTILINE
)


def _names_of(role: str, profile: str) -> frozenset[str]:
    """The tables and counters of a program that is part of fcn. To make a schema of it would take
    a tenth of a second."""
    folder = compiled_programs() / profile
    return frozenset(
        _NAME.findall(compiled_file(f"{role}.p4info.txtpb", folder=folder).read_text())
    )


_Shape = tuple[frozenset[tuple[Any, ...]], frozenset[tuple[Any, ...]]]


def _shape(table: P4Table) -> _Shape:
    """A table's key, and its actions with their parameters."""
    key = frozenset((field.alias, field.bitwidth) for field in table.match_fields)
    return key, frozenset(
        (action.alias, *((each.name, each.bitwidth) for each in action.params))
        for action in table.actions
    )


@lru_cache
def _shapes(role: str) -> dict[str, _Shape]:
    """Of the program of a role that has all modes. Raises PipelineError."""
    tables = load_pipeline(role, binary=False).schema.tables
    return {table.alias: _shape(table) for table in tables}


@lru_cache
def mode_parts(role: str) -> dict[Mode, frozenset[str]]:
    """Names of the tables and counters of a role's program that each mode alone needs, so that a
    program without them serves the others (SRF-4 to SRF-9, PEC-1, FAN-4). Raises PipelineError."""
    least = _names_of(role, LEAST)
    return {
        mode: _names_of(role, profile) - least
        for profile, modes in PROFILES.items()
        if len(modes) == 1
        for mode in modes
    }


@lru_cache
def _parsed(p4info: Path) -> p4i.P4Info:
    """A P4Info, which takes long to parse; with its binary and without it is the same."""
    return text_format.Parse(p4info.read_text("utf-8"), p4i.P4Info())


@lru_cache
def load_pipeline(
    role: str, folder: Path | None = None, *, profile: str = FULL, binary: bool = True
) -> Pipeline:
    """The program of a node's role (`pe` or `p`) in `folder`, by default that of a profile included
    in fcn.

    binary: whether the binary is needed too, to load the program on a switch. Raises PipelineError.
    """
    if folder is None and profile != FULL:
        folder = compiled_programs() / profile
    p4info = compiled_file(f"{role}.p4info.txtpb", folder=folder)
    blob = compiled_file(f"{role}.json", f"{role}.bin", folder=folder) if binary else None
    try:
        with SCHEMAS:
            return Pipeline(role, p4info, blob, P4Schema(_parsed(p4info), blob))
    except (OSError, ParseError, ValueError) as error:
        raise PipelineError(f"{p4info} is not a P4Info: {error}") from None


def load_target(role: str, folder: Path | None = None) -> Target:
    """The target of the program of a node's role. Raises PipelineError."""
    return load_pipeline(role, folder, binary=False).target
