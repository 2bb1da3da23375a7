"""Entries that the program itself has."""

from collections.abc import Iterator

from fcn.ptf_tests.tofino.context import MatchTable, StaticEntry
from fcn.ptf_tests.tofino.entries import Outcome
from fcn.softswitch.api import Exact, MatchKey, Range, Ternary


def static_entries(table: MatchTable) -> Iterator[tuple[dict[str, MatchKey], int, Outcome]]:
    """Match, priority (the highest wins) and action of each."""
    is_exact = all(stage.kind in ("hash_match", "hash_action") for stage in table.stages)
    for entry in table.entries:
        what = Outcome(table.action_of(entry.action), entry.parameters)
        yield _match(entry, is_exact=is_exact), -entry.priority, what


def _match(entry: StaticEntry, *, is_exact: bool) -> dict[str, MatchKey]:
    match: dict[str, MatchKey] = {}
    for name, (value, mask) in entry.match.items():
        match[name] = Exact(value) if is_exact else Ternary(value, mask)
    for name, (low, high) in entry.ranges.items():
        match[name] = Range(low, high)
    return match
