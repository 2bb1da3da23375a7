"""The compiled P4 programs the controller pushes, and the names their P4Info gives to numbers."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from finsy import P4Schema

from fcn.contract.constants import PipelineError, compiled_file, enum_members
from fcn.contract.targets import Target, target_of

FLOW_TABLES = {4: "flow_ipv4", 6: "flow_ipv6"}
LABEL_TABLES = {4: "flow_by_label_ipv4", 6: "flow_by_label_ipv6"}
ROUTE_TABLES = {4: "route_ipv4", 6: "route_ipv6"}
"""Tables by IP version."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One compiled program: files, and the schema made of its P4Info."""

    name: str
    p4info: Path
    blob: Path
    schema: P4Schema

    def enum(self, name: str) -> dict[str, int]:
        """Members of an enum the programs share. Raises PipelineError.

        p4c leaves enums a program counts with, but does not match on, out of its P4Info.
        """
        members = enum_members(name)
        if not members:
            raise PipelineError(f"constants.json has no enum {name}; run `make p4` to rebuild it")
        return members

    @property
    def target(self) -> Target:
        """What the program was compiled for. Raises PipelineError."""
        return target_of(self.schema.p4info)

    @property
    def counters(self) -> frozenset[str]:
        """Names of the program's indirect counters."""
        return frozenset(counter.alias for counter in self.schema.counters)

    def counter_parts(self, counter: str) -> tuple[str, ...]:
        """The program's counters that add up to a counter of the contract."""
        return tuple(part for part in self.target.counters(counter) if part in self.counters)

    def has_value_set(self, name: str) -> bool:
        """Whether the program's parser has a value set."""
        return self.schema.value_sets.get(name) is not None

    def table_size(self, table: str) -> int:
        """How many entries a table holds."""
        return self.schema.tables[table].size

    @property
    def settable_defaults(self) -> tuple[str, ...]:
        """Keyless tables: their default entry is the configuration."""
        return tuple(
            table.alias
            for table in self.schema.tables
            if not table.match_fields and table.const_default_action is None
        )


@lru_cache
def load_pipeline(role: str, folder: Path | None = None) -> Pipeline:
    """The program of a node's role (`pe` or `p`), that of `folder` or the one fcn comes with.

    Raises PipelineError.
    """
    p4info = compiled_file(f"{role}.p4info.txtpb", folder=folder)
    blob = compiled_file(f"{role}.json", f"{role}.bin", folder=folder)
    return Pipeline(role, p4info, blob, P4Schema(p4info, blob))
