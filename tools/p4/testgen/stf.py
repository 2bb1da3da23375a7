"""Tests in p4c's simple test format (STF), as p4testgen writes them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import finsy as fy
from finsy.p4schema import P4MatchType, P4Table
from finsy.proto import p4r

_QUOTED = re.compile(r'"([^"]*)"')
_CALL = re.compile(r"^(\S+?)\((.*)\)$")
_WILD = "*"
_UNKNOWN = re.compile(
    r"^# \[(Tainted If|.*Table Branch.*Tainted|MethodCall\]: recirculate)", re.MULTILINE
)
"""In what p4testgen says of a path: a condition or a key whose value it does not know; and a packet
that comes again, which it says comes by the same port."""
_COPY = "mirroring_add"
"""Of a packet that is copied p4testgen leaves out what becomes of the copy."""


class StfError(Exception):
    """A line that is not understood; the message has it."""


Frames = Sequence[tuple[int, bytes]]
"""Port and octets of each frame that left a switch."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A frame that leaves a port. frame: hexadecimal digits, `*` for one that may be any."""

    port: int
    frame: str

    def fits(self, port: int, frame: bytes) -> bool:
        """Whether this frame out of this port is what is expected."""
        text = frame.hex()
        return (port, len(text)) == (self.port, len(self.frame)) and all(
            wanted in (_WILD, found) for wanted, found in zip(self.frame, text, strict=True)
        )


@dataclass(slots=True)
class Test:
    """Entries of a fresh switch, a packet into a port, and all that leaves.

    certain: whether that depends on nothing p4testgen does not know: what its documentation calls
    taint, such as a field of a header that is not there.
    """

    name: str
    certain: bool
    updates: list[p4r.Update] = field(default_factory=list)
    packets: list[tuple[int, bytes]] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)

    def passed(self, left: Frames) -> bool:
        """Whether these frames are what should have left."""
        return len(left) == len(self.expected) and all(
            any(each.fits(*frame) for frame in left) for each in self.expected
        )


def read(file: Path, schema: fy.P4Schema) -> Test:
    """The test of a file, for a program with this P4Info. Raises StfError."""
    text = file.read_text()
    test = Test(file.stem, not _UNKNOWN.search(text) and _COPY not in text)
    for line in _lines(text):
        kind, _, rest = line.partition(" ")
        try:
            if kind == "add":
                test.updates.append(_insert(rest, schema))
            elif kind == "setdefault":
                test.updates.append(_default(rest, schema))
            elif kind == "packet":
                port, frame = rest.split()
                test.packets.append((int(port), bytes.fromhex(frame)))
            elif kind == "expect":
                port, _, frame = rest.partition(" ")
                test.expected.append(Expected(int(port), frame.strip().rstrip("$").lower()))
            elif kind != _COPY:
                raise StfError(f"{file}: a {kind} is not read")
        except (ValueError, KeyError) as error:
            raise StfError(f"{file}: {line}: {error}") from error
    return test


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        kept = _QUOTED.sub(r"\1", line.partition("#")[0]).strip()
        if kept:
            yield kept


def _insert(text: str, schema: fy.P4Schema) -> p4r.Update:
    """`TABLE [PRIORITY] KEY:VALUE … ACTION(PARAMETER:VALUE,…)`"""
    name, *words = text.split()
    table = schema.tables[_simple(name)]
    # P4Runtime wants a priority with ternary, range and optional keys, and only there.
    priority = int(words.pop(0)) if words[0].isdecimal() else 1
    if not _has_priority(table):
        priority = 0
    match = {}
    for word in words[:-1]:
        key, _, value = word.rpartition(":")
        found = _key(value, table, _simple(key))
        if found is not None:
            match[_simple(key)] = found
    entry = fy.P4TableEntry(
        table.alias,
        match=fy.P4TableMatch(match),
        action=_action(words[-1], table, schema),
        priority=priority,
    )
    return (+entry).encode_update(schema)


def _default(text: str, schema: fy.P4Schema) -> p4r.Update:
    name, call = text.split(maxsplit=1)
    table = schema.tables[_simple(name)]
    action = _action(call, table, schema)
    return (~fy.P4TableEntry(table.alias, action=action, is_default_action=True)).encode_update(
        schema
    )


def _action(
    text: str, table: P4Table, schema: fy.P4Schema
) -> fy.P4TableAction | fy.P4IndirectAction:
    found = _CALL.match(text)
    if found is None:
        raise StfError(f"{text} is no action")
    name, arguments = found.groups()
    values = (each.rpartition(":") for each in arguments.split(",") if each)
    # The control it is in has different names in the programs of different targets.
    (alias,) = (
        each.alias
        for each in table.actions
        if each.alias.rpartition(".")[2] == name.rpartition(".")[2]
    )
    call = fy.P4TableAction(alias, **{key: int(value, 0) for key, _, value in values})
    return fy.P4IndirectAction([(1, call)]) if table.action_profile else call


def _has_priority(table: P4Table) -> bool:
    return any(
        key.match_type in (P4MatchType.TERNARY, P4MatchType.RANGE, P4MatchType.OPTIONAL)
        for key in table.match_fields
    )


def _key(text: str, table: P4Table, name: str) -> object:
    """The value of a key, with its mask or length where the kind of match has one; None where it
    matches everything."""
    kind = table.match_fields[name].match_type
    if kind == P4MatchType.RANGE:
        return int(text, 0), int(text, 0)
    if kind in (P4MatchType.EXACT, P4MatchType.OPTIONAL):
        return int(text, 0)
    digits = text.removeprefix("0b")
    value = int(digits.replace(_WILD, "0"), 2)
    mask = int("".join("0" if each == _WILD else "1" for each in digits), 2)
    if not mask:
        return None
    return (value, mask) if kind == P4MatchType.TERNARY else (value, len(digits.rstrip(_WILD)))


def _simple(name: str) -> str:
    return name.removeprefix(".")
