"""Conversion of FieldMatch from and to engine keys (P4Runtime 1.4, Match Format)."""

from collections.abc import Sequence

from finsy.proto import p4r

from fcn.softswitch.api import Exact, Lpm, MatchKey, Range, Ternary
from fcn.softswitch.p4rt.errors import P4RuntimeError, invalid_argument
from fcn.softswitch.p4rt.schema import MatchField, MatchKind, Table
from fcn.softswitch.p4rt.values import decode_uint, encode_uint

Key = tuple[MatchKey, ...]


def decode_match(table: Table, matches: Sequence[p4r.FieldMatch]) -> Key:
    """Engine keys in declaration order; omitted fields match anything.

    Raises INVALID_ARGUMENT for unknown, repeated, missing exact or non-canonical fields and
    OUT_OF_RANGE for values wider than the field.
    """
    given: dict[int, MatchKey] = {}
    for match in matches:
        field = table.fields_by_id.get(match.field_id)
        if field is None:
            raise invalid_argument(f"table {table.name} has no match field {match.field_id}")
        if field.id in given:
            raise invalid_argument(f"table {table.name}: match field {field.name} is given twice")
        given[field.id] = _decode_field(field, match)
    return tuple(given[f.id] if f.id in given else _dont_care(table, f) for f in table.fields)


def encode_match(table: Table, key: Key) -> list[p4r.FieldMatch]:
    """Canonical FieldMatch messages of a key, don't-care fields omitted."""
    return [
        _encode_field(field, value)
        for field, value in zip(table.fields, key, strict=True)
        if not _is_dont_care(field, value)
    ]


def check_priority(table: Table, priority: int) -> None:
    """Raise INVALID_ARGUMENT unless the priority is positive exactly where one is needed."""
    if table.needs_priority and priority <= 0:
        raise invalid_argument(
            f"table {table.name} has ternary, range or optional keys: give a priority above 0"
        )
    if not table.needs_priority and priority != 0:
        raise invalid_argument(
            f"table {table.name} has no ternary, range or optional key: leave priority 0"
        )


def _decode_field(field: MatchField, match: p4r.FieldMatch) -> MatchKey:
    given = match.WhichOneof("field_match_type")
    if given != field.kind:
        raise invalid_argument(f"{field.name} is a {field.kind} key, the match is {given}")
    match field.kind:
        case MatchKind.EXACT:
            return Exact(decode_uint(match.exact.value, field.width, field.name))
        case MatchKind.LPM:
            return _decode_lpm(field, match.lpm)
        case MatchKind.TERNARY:
            return _decode_ternary(field, match.ternary)
        case MatchKind.RANGE:
            return _decode_range(field, match.range)
        case MatchKind.OPTIONAL:
            value = decode_uint(match.optional.value, field.width, field.name)
            return Ternary(value, _all_ones(field))


def _decode_lpm(field: MatchField, lpm: p4r.FieldMatch.LPM) -> Lpm:
    value = decode_uint(lpm.value, field.width, field.name)
    length = lpm.prefix_len
    if length <= 0:
        raise _omit(field, "prefix length 0")
    if length > field.width:
        raise invalid_argument(f"{field.name}: prefix length {length} exceeds {field.width}")
    if value & ((1 << (field.width - length)) - 1):
        raise invalid_argument(f"{field.name}: bits behind the first {length} must be 0")
    return Lpm(value, length)


def _decode_ternary(field: MatchField, ternary: p4r.FieldMatch.Ternary) -> Ternary:
    value = decode_uint(ternary.value, field.width, field.name)
    mask = decode_uint(ternary.mask, field.width, f"{field.name} mask")
    if mask == 0:
        raise _omit(field, "mask 0")
    if value & ~mask:
        raise invalid_argument(f"{field.name}: bits outside the mask must be 0")
    return Ternary(value, mask)


def _decode_range(field: MatchField, bounds: p4r.FieldMatch.Range) -> Range:
    low = decode_uint(bounds.low, field.width, f"{field.name} low")
    high = decode_uint(bounds.high, field.width, f"{field.name} high")
    if low > high:
        raise invalid_argument(f"{field.name}: low {low} is above high {high}")
    if low == 0 and high == _all_ones(field):
        raise _omit(field, "the whole range")
    return Range(low, high)


def _omit(field: MatchField, what: str) -> P4RuntimeError:
    return invalid_argument(f"{field.name}: {what} matches anything; omit the field instead")


def _all_ones(field: MatchField) -> int:
    return (1 << field.width) - 1


def _dont_care(table: Table, field: MatchField) -> MatchKey:
    match field.kind:
        case MatchKind.EXACT:
            raise invalid_argument(f"table {table.name}: exact key {field.name} is missing")
        case MatchKind.LPM:
            return Lpm(0, 0)
        case MatchKind.RANGE:
            return Range(0, _all_ones(field))
        case MatchKind.TERNARY | MatchKind.OPTIONAL:
            return Ternary(0, 0)


def _is_dont_care(field: MatchField, key: MatchKey) -> bool:
    match key:
        case Exact():
            return False
        case Lpm(_, length):
            return length == 0
        case Ternary(_, mask):
            return mask == 0
        case Range(low, high):
            return low == 0 and high == _all_ones(field)


def _encode_field(field: MatchField, key: MatchKey) -> p4r.FieldMatch:
    match = p4r.FieldMatch(field_id=field.id)
    match key:
        case Exact(value):
            match.exact.value = encode_uint(value)
        case Lpm(value, length):
            match.lpm.value = encode_uint(value)
            match.lpm.prefix_len = length
        case Ternary(value, _) if field.kind is MatchKind.OPTIONAL:
            match.optional.value = encode_uint(value)
        case Ternary(value, mask):
            match.ternary.value = encode_uint(value)
            match.ternary.mask = encode_uint(mask)
        case Range(low, high):
            match.range.low = encode_uint(low)
            match.range.high = encode_uint(high)
    return match
