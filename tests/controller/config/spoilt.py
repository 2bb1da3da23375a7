"""Configurations that are wrong in one place each, as text. A case is a line for each change, and
one, indented, with words of the reason; before them `@PLACE` where that is not the place changed:

    nodes.pe1.ports[1].mac = 01:00:5e:00:00:01
      unicast

`=` sets a value (YAML), `+=` adds one to a list, `del PLACE` removes one.
"""

import re
from typing import Any

import pytest
import yaml
from _pytest.mark import ParameterSet

Data = dict[str, Any]
CHANGE = re.compile(r"(?:del )?(?P<path>\S+)(?: (?P<how>\+?=) (?P<value>.*))?")


def cases(table: str) -> list[ParameterSet]:
    """Changes, place and reason of each case, as parameters of a test."""
    found, changes = [], []
    for line in table.strip().splitlines():
        if not line.startswith("  "):
            changes.append(line)
            continue
        place, reason = _path(changes[-1]), line.strip()
        if reason.startswith("@"):
            place, _, reason = reason[1:].partition(" ")
        found.append(pytest.param(tuple(changes), place, reason, id="; ".join(changes)[:80]))
        changes = []
    assert not changes, f"no reason for {changes}"
    return found


def spoil(data: Data, changes: tuple[str, ...]) -> Data:
    """Make the changes."""
    for change in changes:
        match = CHANGE.fullmatch(change)
        assert match is not None, change
        *way, last = (
            int(part[1:]) if part.startswith("[") else part
            for part in re.findall(r"[^.\[\]]+|\[\d+", match["path"])
        )
        at: Any = data
        for key in way:
            at = at.setdefault(key, {}) if isinstance(at, dict) else at[key]
        match match["how"]:
            case None:
                del at[last]
            case "+=":
                at[last].append(yaml.safe_load(match["value"]))
            case _:
                at[last] = yaml.safe_load(match["value"])
    return data


def _path(change: str) -> str:
    match = CHANGE.fullmatch(change)
    assert match is not None, change
    return match["path"]
