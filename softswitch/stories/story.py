"""A story: a packet, what it passed step by step, and the copies that were made of it."""

from dataclasses import dataclass, field
from functools import cache

from pydantic import TypeAdapter


@dataclass(slots=True)
class Change:
    """A field before and after; of a header that became valid or invalid, one of both is empty."""

    field: str
    before: str
    after: str


@dataclass(slots=True)
class Cell:
    """A cell of an array that an action used: kind is counter, meter, register read or write."""

    kind: str
    array: str
    index: int
    name: str = ""
    value: str = ""


@dataclass(slots=True)
class Key:
    """A key field that was looked up, and what the entry has for it."""

    name: str
    value: str
    entry: str = ""


@dataclass(slots=True)
class Lookup:
    """A table and what it found. chosen: the member or group of its action profile."""

    hit: bool
    keys: list[Key]
    action: str
    arguments: dict[str, str]
    priority: int | None = None
    chosen: str = ""


@dataclass(slots=True)
class Step:
    """What a packet passed. kind: parser, condition, statement, table, deparser, copy, note, queue,
    sent or end; what: in the program's own names; source: file and line."""

    kind: str
    part: str
    what: str
    result: str = ""
    source: str = ""
    time_ns: int | None = None
    lookup: Lookup | None = None
    changes: list[Change] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    copy: "Packet | None" = None
    frame: str = ""


@dataclass(slots=True)
class Packet:
    """A packet or a copy of one. how: where it is from; frame: its octets, of a copy empty."""

    number: int
    how: str
    port: int | None = None
    time_ns: int | None = None
    frame: str = ""
    steps: list[Step] = field(default_factory=list)
    ended: bool = False


@dataclass(slots=True)
class Story:
    """A packet with all its copies. complete: whether every one of them has left or was dropped;
    otherwise `missing` says why not. node: the switch."""

    packet: Packet
    complete: bool = True
    missing: str = ""
    node: str = ""


@cache
def _json() -> TypeAdapter[Story]:
    return TypeAdapter(Story)


def to_json(story: Story) -> str:
    return _json().dump_json(story).decode()


def from_json(text: str) -> Story:
    """The reverse. Raises ValueError for what is no story."""
    return _json().validate_json(text)
