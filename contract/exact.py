"""Entries of exact-match tables, encoded and decoded as octets: there are hundreds of thousands.

The encoding is that of protobuf for values in the shortest form (P4Runtime 1.4, Bytestrings), at a
fraction of the time (tests/contract/test_exact.py).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from finsy import P4Schema
from finsy.proto import p4r

_ENTITY, _ACTION, _CALL, _METADATA = b"\x12", b"\x1a", b"\x0a", b"\x5a"
"""Tags of Entity.table_entry, TableEntry.action, TableAction.action and TableEntry.metadata."""

_SIZE = rb"([\x00-\x7f])"
"""The length of what is shorter than 128 octets."""

_VARINT = rb"[\x80-\xff]*[\x00-\x7f]"

_REST = rb"(\x48%b)?(?:\x5a%b(.*))?" % (_VARINT, _SIZE)
"""What follows the action: TableEntry.idle_timeout_ns and metadata."""

_OCTETS = [bytes((value,)) for value in range(256)]

WIDEST = 512
"""Bits of a value, at most: so that what is before it is as long whatever its size."""

Field = tuple[int, int]
"""The identifier of a match field or parameter, and its bits."""


class Call(NamedTuple):
    """An action of a table."""

    number: int
    name: str
    params: Sequence[Field]


class Encoded(NamedTuple):
    """An entry, which is both together: what names it, and what it says."""

    key: bytes
    value: bytes


Parsed = tuple[tuple[bytes, ...], str, tuple[bytes, ...], bytes | None, bytes, int]
"""Match, action, arguments, idle timeout and metadata of an entry as they stand there; what they
are `Values` and `timeout_of` say. The number is where what names it ends."""


class Read(NamedTuple):
    """An entry as the arguments of `ExactTable.entry`."""

    match: list[int]
    action: str
    arguments: list[int]
    idle_timeout_ns: int
    metadata: bytes


class Values:
    """Values that follow one another, each in a message of its own, of which it is the end;
    `before`: such a message with so many octets of value."""

    def __init__(self, fields: Sequence[Field], before: Callable[[int, bytes], bytes]) -> None:
        self._heads = [
            [before(number, bytes(size))[: -size or None] for size in range(_octets(bits) + 1)]
            for number, bits in fields
        ]
        self.count = len(fields)
        self._begin = [len(heads[-1]) for heads in self._heads]
        """Of each where it begins in its group of `pattern`."""
        self.pattern = b"".join(
            _alternatives(heads, bits) for heads, (_, bits) in zip(self._heads, fields, strict=True)
        )

    def encode(self, values: Iterable[int]) -> bytes:
        return b"".join(
            [
                heads[size := (value.bit_length() + 7) // 8 or 1] + value.to_bytes(size, "big")
                for heads, value in zip(self._heads, values, strict=True)
            ]
        )

    def decode(self, parts: Iterable[bytes]) -> list[int]:
        """Values of the groups of `pattern`."""
        read = int.from_bytes
        return [read(part[at:]) for part, at in zip(parts, self._begin, strict=True)]

    def one(self, place: int, part: bytes) -> int:
        """The value of one of them."""
        return int.from_bytes(part[self._begin[place] :])


def _alternatives(heads: Sequence[bytes], bits: int) -> bytes:
    """A group that matches a value of any size in its shortest form, the longest first."""
    most = len(heads) - 1
    first = rb"[\x01-%b]" % re.escape(bytes(((1 << (bits % 8 or 8)) - 1,)))
    each = [
        re.escape(heads[size]) + (first if size == most else rb"[^\x00]") + rb".{%d}" % (size - 1)
        for size in range(most, 0, -1)
    ]
    return b"(" + b"|".join([*each, re.escape(heads[1]) + rb"\x00"]) + b")"


def sized(tag: bytes, message: bytes) -> bytes:
    """A message as a field with this tag, of an octet."""
    size = len(message)
    while size > 0x7F:
        tag += _OCTETS[size & 0x7F | 0x80]
        size >>= 7
    return tag + _OCTETS[size] + message


@lru_cache(1024)
def _timed(idle_timeout_ns: int) -> bytes:
    return p4r.TableEntry(idle_timeout_ns=idle_timeout_ns).SerializeToString()


@lru_cache(1024)
def timeout_of(field: bytes) -> int:
    """Nanoseconds in TableEntry.idle_timeout_ns."""
    found: int = p4r.TableEntry.FromString(field).idle_timeout_ns
    return found


def kept_timeout(idle_timeout_ns: int) -> int:
    """The idle timeout that is read back: BMv2 counts them in milliseconds."""
    return idle_timeout_ns // 1_000_000 * 1_000_000


class ExactTable:
    """Entries of one table. Values are given in the order of the match fields, those of an action
    in the order of its parameters, and fit them: OverflowError for negative ones."""

    def __init__(self, number: int, fields: Sequence[Field], calls: Iterable[Call]) -> None:
        self._table = p4r.TableEntry(table_id=number).SerializeToString()

        def match(identifier: int, value: bytes) -> bytes:
            exact = p4r.FieldMatch.Exact(value=value)
            part = p4r.FieldMatch(field_id=identifier, exact=exact)
            return p4r.TableEntry(match=[part]).SerializeToString()

        def param(identifier: int, value: bytes) -> bytes:
            part = p4r.Action.Param(param_id=identifier, value=value)
            return p4r.Action(params=[part]).SerializeToString()

        self.match = Values(fields, match)
        self.arguments: dict[str, Values] = {}
        self._actions: dict[str, bytes] = {}
        self._names: dict[int, str] = {}
        for call in calls:
            action = p4r.Action(action_id=call.number).SerializeToString()
            self.arguments[call.name] = Values(call.params, param)
            self._actions[call.name], self._names[call.number] = action, call.name

    @cached_property
    def _head(self) -> re.Pattern[bytes]:
        """An entry up to its action. Made when one is parsed, as of most tables none ever is."""
        head = re.escape(self._table) + self.match.pattern
        head += rb"\x1a%b\x0a%b(\x08%b)" % (_SIZE, _SIZE, _VARINT)
        return re.compile(head, re.DOTALL)

    @cached_property
    def _calls(self) -> dict[bytes, tuple[str, int, re.Pattern[bytes]]]:
        """By the encoding of an action its name, its number of arguments, and what follows it."""
        return {
            action: (
                name,
                self.arguments[name].count,
                re.compile(self.arguments[name].pattern + b"()" + _REST, re.DOTALL),
            )
            for name, action in self._actions.items()
        }

    @classmethod
    def of(cls, schema: P4Schema, table: str) -> "ExactTable":
        """A table of a P4Info."""
        described = schema.tables[table]
        return cls(
            described.id,
            [(field.id, field.bitwidth) for field in described.match_fields],
            [
                Call(action.id, action.alias, [(each.id, each.bitwidth) for each in action.params])
                for action in described.actions
            ],
        )

    def key(self, match: Iterable[int]) -> bytes:
        """What names an entry."""
        return sized(_ENTITY, self._table + self.match.encode(match))

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
        call = self._actions[action] + self.arguments[action].encode(arguments)
        value = sized(_ACTION, sized(_CALL, call))
        # In whole milliseconds, as BMv2 keeps it; no shorter, because 0 is never.
        value += _timed(kept_timeout(idle_timeout_ns + 999_999))
        if metadata:
            value += sized(_METADATA, metadata)
        return Encoded(self.key(match), sized(_ENTITY, value))

    def parse(self, octets: bytes | bytearray, start: int, end: int) -> Parsed | None:
        """An entry of this table that stands between these places, as the content of a TableEntry;
        None where `entry` would give it another form, or it is longer than entries are."""
        if (head := self._head.match(octets, start, end)) is None:
            return None
        found, fields = head.groups(), self.match.count
        outer, inner, number = found[fields:]
        if (action := self._calls.get(number)) is None:
            return None
        name, params, pattern = action
        if (call := pattern.fullmatch(octets, head.end(), end)) is None:
            return None
        said = call.groups()
        _, timeout, size, metadata = said[params:]
        # Lengths are those of what was found: otherwise something else is in there.
        long = len(number) + call.end(params + 1) - head.end()
        if inner[0] != long or outer[0] != long + 2 or (size and size[0] != len(metadata)):
            return None
        key = head.start(fields + 1) - 1
        return found[:fields], name, said[:params], timeout, metadata or b"", key

    def first(self, octets: bytes | bytearray, start: int, end: int) -> int | None:
        """The first of what names an entry that `parse` may take."""
        head = self._head.match(octets, start, end)
        return self.match.one(0, head[1]) if head is not None else None

    def decode(self, octets: bytes | bytearray, start: int, end: int) -> Read | None:
        """What such an entry says."""
        if (found := self.parse(octets, start, end)) is None:
            return None
        match, action, arguments, timeout, metadata, _ = found
        values = self.match.decode(match), action, self.arguments[action].decode(arguments)
        return Read(*values, timeout_of(timeout) if timeout else 0, metadata)

    def read(self, entry: p4r.TableEntry) -> Read | None:
        """What an entry of this table says, in whatever form; None for one of the program."""
        if entry.is_default_action or entry.is_const:
            return None
        call = entry.action.action
        match = sorted(entry.match, key=lambda each: each.field_id)
        params = sorted(call.params, key=lambda each: each.param_id)
        return Read(
            [int.from_bytes(each.exact.value) for each in match],
            self._names[call.action_id],
            [int.from_bytes(each.value) for each in params],
            entry.idle_timeout_ns,
            entry.metadata,
        )


def _octets(bits: int) -> int:
    return (bits + 7) // 8
