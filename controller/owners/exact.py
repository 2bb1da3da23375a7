"""Entries of exact-match tables, encoded without looking up names: flows come by the thousand.

The encoding is that of finsy.P4TableEntry (tests/controller/owners/test_exact.py), at a tenth of
the time. Values are in the shortest form (P4Runtime 1.4, Bytestrings).
"""

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from finsy import P4Schema
from finsy.proto import p4r
from google.protobuf.message import Message

from fcn.controller.owners.intent import Encoded, Key, kept_timeout

_Part = p4r.FieldMatch.Exact | p4r.Action.Param

MessageT = TypeVar("MessageT", bound=Message)


class _Form(Generic[MessageT]):
    """A message that is filled in again and again: to make one takes ten times as long. `parts`
    have its values."""

    def __init__(self, message: MessageT, parts: Sequence[_Part]) -> None:
        self.message = message
        self._parts = parts

    def fill(self, values: Iterable[int]) -> None:
        """Set the values, in the order of the parts."""
        for part, value in zip(self._parts, values, strict=True):
            part.value = value.to_bytes((value.bit_length() + 7) // 8 or 1, "big")

    def encode(self) -> bytes:
        """The message with the values set last."""
        return self.message.SerializeToString(deterministic=True)


class Read(NamedTuple):
    """An entry as the arguments of `ExactTable.entry`."""

    match: list[int]
    action: str
    arguments: list[int]


class ExactTable:
    """Encodes entries of one table. Values are given in the order of the match fields, those of an
    action in the order of its parameters, and fit them: OverflowError for negative ones."""

    def __init__(self, schema: P4Schema, table: str) -> None:
        described = schema.tables[table]
        key = p4r.Entity()
        key.table_entry.table_id = described.id
        matches = [key.table_entry.match.add(field_id=each.id) for each in described.match_fields]
        self._key = _Form(key, [match.exact for match in matches])
        self._fields = [each.id for each in described.match_fields]
        self._values: dict[str, _Form[p4r.Entity]] = {}
        self._actions: dict[int, tuple[str, list[int]]] = {}
        for action in described.actions:
            value = p4r.Entity()
            call = value.table_entry.action.action
            call.action_id = action.id
            params = [call.params.add(param_id=param.id) for param in action.params]
            self._values[action.alias] = _Form(value, params)
            self._actions[action.id] = action.alias, [param.id for param in action.params]

    def key(self, match: Iterable[int]) -> Key:
        """The key of an entry, as `entity_key` gives it."""
        self._key.fill(match)
        return self._key.encode()

    def pattern(self, match: Iterable[int]) -> p4r.Entity:
        """What reads an entry."""
        return p4r.Entity.FromString(self.key(match))

    def entry(
        self,
        match: Iterable[int],
        action: str,
        arguments: Iterable[int] = (),
        *,
        idle_timeout_ns: int = 0,
        metadata: bytes = b"",
    ) -> Encoded:
        """An entry with its key and value."""
        key, form = self.key(match), self._values[action]
        form.fill(arguments)
        entry = form.message.table_entry
        entry.metadata = metadata
        # In whole milliseconds, as BMv2 keeps it; no shorter, because 0 is never.
        entry.idle_timeout_ns = kept_timeout(idle_timeout_ns + 999_999)
        return Encoded(key, form.encode())

    def read(self, entry: p4r.TableEntry) -> Read | None:
        """What an entry of this table says; None where `entry` would give it another form."""
        form = self._actions.get(entry.action.action.action_id)
        match, params = entry.match, entry.action.action.params
        if form is None or [each.field_id for each in match] != self._fields:
            return None
        action, numbers = form
        if [each.param_id for each in params] != numbers:
            return None
        return Read(
            [int.from_bytes(each.exact.value) for each in match],
            action,
            [int.from_bytes(each.value) for each in params],
        )
