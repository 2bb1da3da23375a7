"""Entries of exact-match tables, encoded and decoded as octets: there are hundreds of
thousands.

The encoding is that of finsy.P4TableEntry (tests/controller/owners/test_exact.py), at a fraction
of the time. Values are in the shortest form (P4Runtime 1.4, Bytestrings).
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from finsy import P4Schema
from finsy.proto import p4r

from fcn.controller.owners.intent import Encoded, Key, kept_timeout

_ENTITY, _ACTION, _CALL, _METADATA = b"\x12", b"\x1a", b"\x0a", b"\x5a"
"""Tags of Entity.table_entry, TableEntry.action, TableAction.action and TableEntry.metadata."""

_LENGTH = rb"[\x80-\xff]*[\x00-\x7f]"

_REST = rb"(?P<timeout>\x48%b)?(?:\x5a%b(?P<metadata>.*))?" % (_LENGTH, _LENGTH)
"""What follows the action: TableEntry.idle_timeout_ns and metadata."""


class _Values:
    """Values that follow one another, each in a message of its own, of which it is the end;
    `before`: such a message with so many octets of value; `widths`: of each at most, in octets."""

    def __init__(self, widths: Iterable[int], before: Callable[[int, bytes], bytes]) -> None:
        self._heads = [
            [before(index, bytes(size))[: -size or None] for size in range(width + 1)]
            for index, width in enumerate(widths)
        ]
        self._skipped = [len(heads[-1]) for heads in self._heads]
        self.pattern = b"".join(map(_alternatives, self._heads))

    def encode(self, values: Iterable[int]) -> bytes:
        found = bytearray()
        for heads, value in zip(self._heads, values, strict=True):
            size = (value.bit_length() + 7) // 8 or 1
            found += heads[size] + value.to_bytes(size, "big")
        return bytes(found)

    def decode(self, parts: Iterable[bytes]) -> list[int]:
        """Values of the groups of `pattern`."""
        read = int.from_bytes
        return [read(part[skipped:]) for part, skipped in zip(parts, self._skipped, strict=True)]


def _alternatives(heads: list[bytes]) -> bytes:
    """A group that matches a value of any size in its shortest form, the longest first."""
    sizes = range(len(heads) - 1, 0, -1)
    each = (
        re.escape(heads[size]) + (rb"[^\x00].{%d}" % (size - 1) if size > 1 else b".")
        for size in sizes
    )
    return b"(" + b"|".join(each) + b")"


def _sized(tag: bytes, message: bytes) -> bytes:
    size = len(message)
    head = bytes((size,)) if size < 0x80 else bytes((size & 0x7F | 0x80, size >> 7))
    return tag + head + message


@lru_cache(1024)
def _timed(idle_timeout_ns: int) -> bytes:
    return p4r.TableEntry(idle_timeout_ns=idle_timeout_ns).SerializeToString()


class Read(NamedTuple):
    """An entry as the arguments of `ExactTable.entry`."""

    match: list[int]
    action: str
    arguments: list[int]
    idle_timeout_ns: int
    metadata: bytes


class ExactTable:
    """Encodes entries of one table. Values are given in the order of the match fields, those of an
    action in the order of its parameters, and fit them: OverflowError for negative ones."""

    def __init__(self, schema: P4Schema, table: str) -> None:
        described = schema.tables[table]
        fields = list(described.match_fields)
        self._table = p4r.TableEntry(table_id=described.id).SerializeToString()

        def match(index: int, value: bytes) -> bytes:
            exact = p4r.FieldMatch.Exact(value=value)
            part = p4r.FieldMatch(field_id=fields[index].id, exact=exact)
            return p4r.TableEntry(match=[part]).SerializeToString()

        self._match = _Values([_octets(each.bitwidth) for each in fields], match)
        self._key_of = re.compile(re.escape(self._table) + self._match.pattern, re.DOTALL)
        self._values: dict[str, tuple[bytes, _Values]] = {}
        self._calls: dict[str, re.Pattern[bytes]] = {}
        self._actions = {action.id: action.alias for action in described.actions}
        for action in described.actions:
            numbers = [param.id for param in action.params]

            def param(index: int, value: bytes, numbers: list[int] = numbers) -> bytes:
                part = p4r.Action.Param(param_id=numbers[index], value=value)
                return p4r.Action(params=[part]).SerializeToString()

            name = p4r.Action(action_id=action.id).SerializeToString()
            values = _Values([_octets(each.bitwidth) for each in action.params], param)
            self._values[action.alias] = name, values
            call = rb"\x1a%b\x0a%b" % (_LENGTH, _LENGTH) + re.escape(name) + values.pattern
            self._calls[action.alias] = re.compile(call + _REST, re.DOTALL)

    def key(self, match: Iterable[int]) -> Key:
        """The key of an entry, as `entity_key` gives it."""
        return _sized(_ENTITY, self._table + self._match.encode(match))

    def pattern(self, match: Iterable[int]) -> p4r.Entity:
        """What reads an entry."""
        return p4r.Entity.FromString(self.key(match))

    def entry(
        self,
        match: Iterable[int],
        action: str,
        arguments: Iterable[int] = (),
        idle_timeout_ns: int = 0,
        metadata: bytes = b"",
    ) -> Encoded:
        """An entry with its key and value."""
        name, values = self._values[action]
        value = _sized(_ACTION, _sized(_CALL, name + values.encode(arguments)))
        # In whole milliseconds, as BMv2 keeps it; no shorter, because 0 is never.
        value += _timed(kept_timeout(idle_timeout_ns + 999_999))
        if metadata:
            value += _sized(_METADATA, metadata)
        return Encoded(self.key(match), _sized(_ENTITY, value))

    def decode(self, octets: bytearray, start: int, end: int) -> Read | None:
        """What an entry of this table between these places says; None where `entry` would give it
        another form."""
        if (key := self._key_of.match(octets, start, end)) is None:
            return None
        for action, pattern in self._calls.items():
            if (call := pattern.fullmatch(octets, key.end(), end)) is not None:
                *arguments, timeout, metadata = call.groups()
                return Read(
                    self._match.decode(key.groups()),
                    action,
                    self._values[action][1].decode(arguments),
                    _timeout(bytes(timeout)) if timeout else 0,
                    bytes(metadata or b""),
                )
        return None

    def first(self, octets: bytearray, start: int, end: int) -> int | None:
        """The value of the first match field of what `decode` takes."""
        key = self._key_of.match(octets, start, end)
        return self._match.decode(key.groups())[0] if key is not None else None

    def read(self, entry: p4r.TableEntry) -> Read | None:
        """What an entry of this table says, in whatever form; None for one of the program."""
        if entry.is_default_action or entry.is_const:
            return None
        call = entry.action.action
        match = sorted(entry.match, key=lambda each: each.field_id)
        params = sorted(call.params, key=lambda each: each.param_id)
        return Read(
            [int.from_bytes(each.exact.value) for each in match],
            self._actions[call.action_id],
            [int.from_bytes(each.value) for each in params],
            entry.idle_timeout_ns,
            entry.metadata,
        )


def _octets(bits: int) -> int:
    return (bits + 7) // 8


@lru_cache(1024)
def _timeout(field: bytes) -> int:
    found: int = p4r.TableEntry.FromString(field).idle_timeout_ns
    return found
