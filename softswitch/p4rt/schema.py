"""The P4Info indexed by identifier, checked once when a pipeline is set."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Protocol, TypeVar

from finsy.proto import p4i, p4t

from fcn.contract.exact import WIDEST, Call, ExactTable
from fcn.softswitch.p4rt.errors import invalid_argument, unimplemented
from fcn.softswitch.p4rt.values import DataType, Scalar, data_type, is_translated

PACKET_IN = "packet_in"
PACKET_OUT = "packet_out"


class MatchKind(StrEnum):
    """Match kinds of v1model, named as in BMv2 JSON and in FieldMatch."""

    EXACT = "exact"
    LPM = "lpm"
    TERNARY = "ternary"
    RANGE = "range"
    OPTIONAL = "optional"


_MATCH_KINDS = {
    p4i.MatchField.EXACT: MatchKind.EXACT,
    p4i.MatchField.LPM: MatchKind.LPM,
    p4i.MatchField.TERNARY: MatchKind.TERNARY,
    p4i.MatchField.RANGE: MatchKind.RANGE,
    p4i.MatchField.OPTIONAL: MatchKind.OPTIONAL,
}
_ERROR_WIDTH = 32
"""Bits of a key of type error in BMv2; p4c gives such a key no width in the P4Info."""
_PRIORITY_KINDS = frozenset({MatchKind.TERNARY, MatchKind.RANGE, MatchKind.OPTIONAL})


@dataclass(frozen=True, slots=True)
class Field:
    """An action parameter or a packet metadata field; width in bits."""

    id: int
    name: str
    width: int


@dataclass(frozen=True, slots=True)
class MatchField:
    """A key of a table; width in bits."""

    id: int
    name: str
    width: int
    kind: MatchKind


@dataclass(frozen=True, slots=True)
class Action:
    id: int
    name: str
    params: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class ActionRef:
    """An action of a table and where it may be used."""

    action: Action
    in_entries: bool
    as_default: bool


@dataclass(frozen=True)
class Table:
    """A match-action table; profile_id 0 is a direct table, size in entries."""

    id: int
    name: str
    fields: tuple[MatchField, ...]
    actions: Mapping[int, ActionRef]
    const_default: bool
    profile_id: int
    direct_counter: bool
    direct_meter: "Meter | None"
    size: int
    idle_timeout: bool
    is_const: bool

    @cached_property
    def fields_by_id(self) -> Mapping[int, MatchField]:
        """The keys by identifier."""
        return {field.id: field for field in self.fields}

    @cached_property
    def exact(self) -> ExactTable | None:
        """How entries come by the hundred thousand: where all keys are exact, with actions."""
        calls = [ref.action for ref in self.actions.values() if ref.in_entries]
        others = self.profile_id or self.direct_meter or not self.fields
        if others or any(field.kind is not MatchKind.EXACT for field in self.fields):
            return None
        values = chain(_widths(self.fields), *(_widths(action.params) for action in calls))
        if max(width for _, width in values) > WIDEST:
            return None
        return ExactTable(
            self.id,
            _widths(self.fields),
            [Call(action.id, action.name, _widths(action.params)) for action in calls],
        )

    @cached_property
    def needs_priority(self) -> bool:
        """True when a key is ternary, range or optional."""
        return any(field.kind in _PRIORITY_KINDS for field in self.fields)


@dataclass(frozen=True, slots=True)
class Profile:
    """An action profile, with selector when groups are possible; 0 sizes are unlimited."""

    id: int
    name: str
    table_ids: tuple[int, ...]
    selector: bool
    size: int
    max_group_size: int
    sum_of_members: bool
    max_member_weight: int


@dataclass(frozen=True, slots=True)
class Array:
    id: int
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Meter:
    """A meter array or direct meter (size 0)."""

    id: int
    name: str
    size: int
    type: int


@dataclass(frozen=True, slots=True)
class Register:
    id: int
    name: str
    size: int
    type: Scalar


@dataclass(frozen=True, slots=True)
class Digest:
    id: int
    name: str
    type: DataType


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A parser value set; `size` is the most members it can have."""

    id: int
    name: str
    fields: tuple[MatchField, ...]
    size: int

    @property
    def width(self) -> int:
        """Bits of a member."""
        return sum(field.width for field in self.fields)


@dataclass(frozen=True, slots=True)
class Schema:
    """Everything the server looks up in a P4Info, by identifier."""

    tables: Mapping[int, Table]
    actions: Mapping[int, Action]
    action_names: Mapping[str, Action]
    profiles: Mapping[int, Profile]
    counters: Mapping[int, Array]
    meters: Mapping[int, Meter]
    registers: Mapping[int, Register]
    digests: Mapping[int, Digest]
    value_sets: Mapping[int, ValueSet]
    packet_in: tuple[Field, ...]
    packet_out: tuple[Field, ...]


class _Identified(Protocol):
    @property
    def id(self) -> int: ...


_T = TypeVar("_T", bound=_Identified)


def _widths(fields: Iterable[Field | MatchField]) -> list[tuple[int, int]]:
    return [(field.id, field.width) for field in fields]


def parse_p4info(info: p4i.P4Info, architectures: Collection[str] = ("", "v1model")) -> Schema:
    """Index a P4Info; INVALID_ARGUMENT or UNIMPLEMENTED names the object that cannot be served.

    architectures: those whose programs the engine runs.
    """
    _refuse_unsupported(info, architectures)
    actions = _index(
        Action(
            a.preamble.id,
            a.preamble.name,
            tuple(
                Field(p.id, p.name, _width(p.bitwidth, p.type_name, info, p.name)) for p in a.params
            ),
        )
        for a in info.actions
    )
    direct_meters = {
        m.preamble.id: Meter(m.preamble.id, m.preamble.name, 0, m.spec.type)
        for m in info.direct_meters
    }
    direct_counters = {c.preamble.id for c in info.direct_counters}
    return Schema(
        tables=_index(
            _table(t, info, actions, direct_counters, direct_meters) for t in info.tables
        ),
        actions=actions,
        action_names={action.name: action for action in actions.values()},
        profiles=_index(_profile(p) for p in info.action_profiles),
        counters=_index(Array(c.preamble.id, c.preamble.name, c.size) for c in info.counters),
        meters=_index(
            Meter(m.preamble.id, m.preamble.name, m.size, m.spec.type) for m in info.meters
        ),
        registers=_index(_register(r, info) for r in info.registers),
        digests=_index(
            Digest(
                d.preamble.id,
                d.preamble.name,
                data_type(d.type_spec, info.type_info, f"digest {d.preamble.name}"),
            )
            for d in info.digests
        ),
        value_sets=_index(_value_set(s, info) for s in info.value_sets),
        packet_in=_controller_header(info, PACKET_IN),
        packet_out=_controller_header(info, PACKET_OUT),
    )


def _refuse_unsupported(info: p4i.P4Info, architectures: Collection[str]) -> None:
    if info.externs:
        raise unimplemented(f"extern type {info.externs[0].extern_type_name} is not supported")
    if info.pkg_info.arch not in architectures:
        wanted = " or ".join(filter(None, architectures))
        raise invalid_argument(f"architecture {info.pkg_info.arch} is not {wanted}")


def _index(items: Iterable[_T]) -> dict[int, _T]:
    found: dict[int, _T] = {}
    for item in items:
        if item.id == 0 or item.id in found:
            raise invalid_argument(f"P4Info identifier {item.id:#x} is zero or used twice")
        found[item.id] = item
    return found


def _width(bitwidth: int, name: p4t.P4NamedType, info: p4i.P4Info, what: str) -> int:
    if is_translated(name, info):
        raise unimplemented(f"{what}: @p4runtime_translation of {name.name} is not supported")
    if bitwidth <= 0:
        raise invalid_argument(f"{what}: P4Info gives no bit width")
    return bitwidth


def _match_fields(
    owner: str, fields: Iterable[p4i.MatchField], info: p4i.P4Info
) -> tuple[MatchField, ...]:
    found = []
    for field in fields:
        kind = _MATCH_KINDS.get(field.match_type)
        if kind is None:
            raise unimplemented(f"{owner}: match kind of {field.name} is not supported")
        bits = field.bitwidth or (_ERROR_WIDTH if info.type_info.HasField("error") else 0)
        width = _width(bits, field.type_name, info, f"{owner} {field.name}")
        found.append(MatchField(field.id, field.name, width, kind))
    return tuple(found)


def _value_set(value_set: p4i.ValueSet, info: p4i.P4Info) -> ValueSet:
    name = value_set.preamble.name
    fields = _match_fields(f"value set {name}", value_set.match, info)
    return ValueSet(value_set.preamble.id, name, fields, value_set.size)


def _table(
    table: p4i.Table,
    info: p4i.P4Info,
    actions: Mapping[int, Action],
    direct_counters: set[int],
    direct_meters: Mapping[int, Meter],
) -> Table:
    name = table.preamble.name
    fields = _match_fields(f"table {name}", table.match_fields, info)
    refs: dict[int, ActionRef] = {}
    for ref in table.action_refs:
        if ref.id not in actions:
            raise invalid_argument(f"table {name} refers to unknown action {ref.id:#x}")
        refs[ref.id] = ActionRef(
            actions[ref.id],
            in_entries=ref.scope != p4i.ActionRef.DEFAULT_ONLY,
            as_default=ref.scope != p4i.ActionRef.TABLE_ONLY,
        )
    meters = [direct_meters[i] for i in table.direct_resource_ids if i in direct_meters]
    return Table(
        id=table.preamble.id,
        name=name,
        fields=fields,
        actions=refs,
        const_default=table.const_default_action_id != 0,
        profile_id=table.implementation_id,
        direct_counter=any(i in direct_counters for i in table.direct_resource_ids),
        direct_meter=meters[0] if meters else None,
        size=table.size,
        idle_timeout=table.idle_timeout_behavior == p4i.Table.NOTIFY_CONTROL,
        is_const=table.is_const_table,
    )


def _profile(profile: p4i.ActionProfile) -> Profile:
    by_members = profile.WhichOneof("selector_size_semantics") == "sum_of_members"
    return Profile(
        id=profile.preamble.id,
        name=profile.preamble.name,
        table_ids=tuple(profile.table_ids),
        selector=profile.with_selector,
        size=profile.size,
        max_group_size=profile.max_group_size,
        sum_of_members=by_members,
        max_member_weight=profile.sum_of_members.max_member_weight if by_members else 0,
    )


def _register(register: p4i.Register, info: p4i.P4Info) -> Register:
    name = register.preamble.name
    resolved = data_type(register.type_spec, info.type_info, f"register {name}")
    if not isinstance(resolved, Scalar):
        raise unimplemented(f"register {name}: only scalar cells are supported")
    return Register(register.preamble.id, name, register.size, resolved)


def _controller_header(info: p4i.P4Info, name: str) -> tuple[Field, ...]:
    for header in info.controller_packet_metadata:
        if header.preamble.name == name:
            return tuple(
                Field(m.id, m.name, _width(m.bitwidth, m.type_name, info, f"{name} {m.name}"))
                for m in header.metadata
            )
    return ()
