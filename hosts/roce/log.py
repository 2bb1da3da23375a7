"""Parser of the JSON lines that `fcn-roce` writes."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class LogError(ValueError):
    """A log is incomplete or no log of fcn-roce; the message names file and line."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line: CLOCK_MONOTONIC nanoseconds, the event's name and its members."""

    time_ns: int
    name: str
    members: dict[str, Any]

    def __getitem__(self, member: str) -> Any:  # noqa: ANN401 (JSON value)
        return self.members[member]


@dataclass(frozen=True, slots=True)
class RoceLog:
    """All events of one process in the order they happened."""

    path: Path
    events: tuple[Event, ...]

    def named(self, name: str) -> Iterator[Event]:
        return (event for event in self.events if event.name == name)

    def one(self, name: str) -> Event:
        """The only event of that name; raises LogError when there is none or several."""
        found = list(self.named(name))
        if len(found) != 1:
            raise LogError(f"{self.path}: {len(found)} '{name}' events, expected one")
        return found[0]

    def total(self, name: str, member: str) -> int:
        """Sum of a member over all events of one name."""
        return sum(int(event[member]) for event in self.named(name))


def parse_line(line: str, origin: str) -> Event:
    """Parse one line; `origin` names it in LogError."""
    try:
        members = json.loads(line)
        return Event(members.pop("time_ns"), members.pop("event"), members)
    except (json.JSONDecodeError, KeyError, AttributeError) as error:
        raise LogError(f"{origin}: not a line of fcn-roce: {line.strip()!r}") from error


def read_log(path: Path) -> RoceLog:
    """Read a finished log; raises LogError when its last line is not the summary."""
    events = tuple(
        parse_line(line, f"{path}:{number}")
        for number, line in enumerate(path.read_text().splitlines(), 1)
    )
    if not events or events[-1].name != "summary":
        raise LogError(f"{path}: incomplete, fcn-roce did not get to write its summary")
    return RoceLog(path, events)
