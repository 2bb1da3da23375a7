"""Entries of exact-match tables, encoded without looking up names: flows come by the thousand.

The encoding is that of finsy.P4TableEntry (tests/controller/owners/test_exact.py), at a tenth of
the time. Values are in the shortest form (P4Runtime 1.4, Bytestrings).
"""

from collections.abc import Iterable

from finsy import P4Schema
from finsy.proto import p4r

from fcn.controller.owners.intent import Encoded, Key, kept_timeout


def _shortest(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8 or 1, "big")


class ExactTable:
    """Encodes entries of one table. Values are given in the order of the match fields, those of an
    action in the order of its parameters, and fit them: OverflowError for negative ones."""

    def __init__(self, schema: P4Schema, table: str) -> None:
        described = schema.tables[table]
        self._table_id = described.id
        self._fields = [field.id for field in described.match_fields]
        self._actions = {
            action.alias: (action.id, [param.id for param in action.params])
            for action in described.actions
        }

    def key(self, match: Iterable[int]) -> Key:
        """The key of an entry, as `entity_key` gives it."""
        return self.pattern(match).SerializeToString(deterministic=True)

    def pattern(self, match: Iterable[int]) -> p4r.Entity:
        """What reads an entry."""
        entity = p4r.Entity()
        entry = entity.table_entry
        entry.table_id = self._table_id
        for number, part in zip(self._fields, match, strict=True):
            entry.match.add(field_id=number).exact.value = _shortest(part)
        return entity

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
        entity = self.pattern(match)
        key = entity.SerializeToString(deterministic=True)
        value = p4r.TableEntry(metadata=metadata)
        call = value.action.action
        call.action_id, params = self._actions[action]
        for number, argument in zip(params, arguments, strict=True):
            call.params.add(param_id=number, value=_shortest(argument))
        entity.table_entry.MergeFrom(value)
        entity.table_entry.idle_timeout_ns = idle_timeout_ns
        value.idle_timeout_ns = kept_timeout(idle_timeout_ns)
        return Encoded(key, value.SerializeToString(deterministic=True), entity)
