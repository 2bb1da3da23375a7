"""Parser value sets (P4Runtime 1.4, ValueSetEntry)."""

from collections.abc import Iterator

from finsy.proto import p4r

from fcn.softswitch.api import Engine
from fcn.softswitch.p4rt.errors import (
    invalid_argument,
    not_found,
    resource_exhausted,
    unimplemented,
)
from fcn.softswitch.p4rt.schema import MatchKind, Schema, ValueSet
from fcn.softswitch.p4rt.values import decode_uint, encode_uint

Member = tuple[int, ...]
"""A value of each field."""


class ValueSetStore:
    """The members of every value set; sets are empty at first."""

    def __init__(self, schema: Schema, engine: Engine) -> None:
        self._sets = schema.value_sets
        self._engine = engine
        self._members: dict[int, tuple[Member, ...]] = {}

    def write(self, kind: int, message: p4r.ValueSetEntry) -> None:
        """MODIFY replaces all members. Raises P4RuntimeError."""
        if kind != p4r.Update.MODIFY:
            raise invalid_argument("a value set can only be modified")
        found = self._set(message.value_set_id)
        for field in found.fields:
            if field.kind is not MatchKind.EXACT:
                raise unimplemented(f"value set {found.name}: {field.name} is no exact match")
        members = tuple(_decode(found, member) for member in message.members)
        if len(set(members)) < len(members):
            raise invalid_argument(f"value set {found.name}: a member is given twice")
        if len(members) > found.size:
            raise resource_exhausted(
                f"value set {found.name} has room for {found.size} members, not {len(members)}"
            )
        self._engine.value_set_write(found.name, [_joined(found, member) for member in members])
        self._members[found.id] = members

    def read(self, query: p4r.ValueSetEntry) -> Iterator[p4r.ValueSetEntry]:
        """One set, or all for the identifier 0."""
        chosen = [self._set(query.value_set_id)] if query.value_set_id else self._sets.values()
        for found in chosen:
            entry = p4r.ValueSetEntry(value_set_id=found.id)
            for member in self._members.get(found.id, ()):
                match = entry.members.add().match
                for field, value in zip(found.fields, member, strict=True):
                    match.add(field_id=field.id).exact.value = encode_uint(value)
            yield entry

    def _set(self, number: int) -> ValueSet:
        if number not in self._sets:
            raise not_found(f"there is no value set {number:#x}")
        return self._sets[number]


def _decode(found: ValueSet, member: p4r.ValueSetMember) -> Member:
    fields = {field.id: field for field in found.fields}
    given: dict[int, int] = {}
    for match in member.match:
        field = fields.get(match.field_id)
        if field is None or field.id in given:
            raise invalid_argument(
                f"value set {found.name}: field {match.field_id} is unknown or given twice"
            )
        if match.WhichOneof("field_match_type") != "exact":
            raise invalid_argument(f"value set {found.name}: {field.name} is an exact match")
        given[field.id] = decode_uint(match.exact.value, field.width, field.name)
    missing = fields.keys() - given.keys()
    if missing:
        raise invalid_argument(f"value set {found.name}: field {min(missing)} is missing")
    return tuple(given[number] for number in fields)


def _joined(found: ValueSet, member: Member) -> int:
    value = 0
    for field, part in zip(found.fields, member, strict=True):
        value = value << field.width | part
    return value
