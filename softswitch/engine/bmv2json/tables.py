"""Actions, tables and the control flow between them."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainValidator, Strict, TypeAdapter, ValidationInfo

from fcn.softswitch.api import Exact, Lpm, MatchKey, Range, Ternary
from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.bmv2json.arrays import Selector
from fcn.softswitch.engine.bmv2json.expressions import (
    Expr,
    Expression,
    FieldPath,
    Op,
    Primitive,
    StackRef,
)
from fcn.softswitch.engine.bmv2json.headers import FieldRef, Headers, headers_of
from fcn.softswitch.engine.bmv2json.values import (
    Bool,
    Entries,
    Hex,
    Id,
    Label,
    Many,
    Name,
    Object,
    Some,
    Width,
    check_fits,
    only,
    unsupported,
    wrong,
)

_MATCHES: dict[str, tuple[type[MatchKey], tuple[str, ...]]] = {
    "exact": (Exact, ("key",)),
    "lpm": (Lpm, ("key", "prefix_length")),
    "ternary": (Ternary, ("key", "mask")),
    "optional": (Ternary, ("key", "mask")),
    "range": (Range, ("start", "end")),
}
"""What a const entry has for a key of a kind, and its members in the JSON."""
_FINER = {
    "exact": ("lpm", "ternary", "optional", "range"),
    "lpm": ("ternary", "optional", "range"),
    "ternary": ("range",),
    "range": (),
}
"""Kinds of key a table of a kind cannot have."""


@dataclass(frozen=True, slots=True)
class ActionParam:
    """A runtime argument."""

    name: Name
    width: Annotated[Width, Field(alias="bitwidth")]


@dataclass(frozen=True, slots=True)
class Action:
    """An action; ids are unique, names are not (NoAction)."""

    id: Id
    name: Name
    params: Annotated[Some[ActionParam], Field(alias="runtime_data")]
    primitives: Many[Primitive]


@dataclass(frozen=True, slots=True)
class Key:
    """A field of a table's key, of `width` bits: match kind exact, lpm, ternary, range or optional.

    It takes `size` octets of the key, after those of the fields before."""

    name: str
    kind: str
    width: int
    size: int
    target: Expr
    field: FieldRef
    """The target, or the field of a stack's first element where its index is known at run time."""
    mask: int | None


class _Key(Object):
    """Without @name its name is the source text of an expression.

    The target is an expression where the field is that of a stack's element at a run-time index.
    """

    name: Label | None = None
    match_type: Annotated[Name, only("match kind", *_MATCHES)]
    target: Any
    mask: Hex | None


_PATH: TypeAdapter[FieldRef] = TypeAdapter(FieldPath)
_EXPRESSION: TypeAdapter[Expr] = TypeAdapter(Expression)


def _key(node: object, info: ValidationInfo) -> Key:
    found = _Key.model_validate(node)
    headers = headers_of(info)
    target: Expr
    if isinstance(found.target, list):
        target = field = _PATH.validate_python(found.target, context=headers)
    else:
        target = _EXPRESSION.validate_python(found.target, context=headers)
        field = _first(headers, target)
    width = headers.width(field)
    if width is None:
        raise wrong("a varbit as a key")
    if found.mask is not None:
        check_fits("mask", found.mask, width)
    name = f"{field.header}.{field.field}" if found.name is None else found.name
    return Key(name, found.match_type, width, (width + 7) // 8, target, field, found.mask)


def _first(headers: Headers, target: Expr) -> FieldRef:
    """The field of a stack's first element, where the target is that of one at a run-time index."""
    match target:
        case Op("access_field", Op("dereference_header_stack", StackRef(name)), index=index):
            stack = headers.stacks[name]
            if not stack.headers or index >= len(stack.type.fields):
                raise wrong("there is no such stack, or no such field of its headers")
            return FieldRef(stack.headers[0], stack.type.fields[index].name)
    raise unsupported("a key that is an expression other than stack[index].field")


class _ConstKey(Object):
    """One field of a const entry; which members it has depends on its kind."""

    match_type: Annotated[Name, only("match kind in a const entry:", *_MATCHES)]
    key: Hex | None = None
    mask: Hex | None = None
    start: Hex | None = None
    end: Hex | None = None
    prefix_length: Annotated[int, Strict(), Field(ge=0, le=limits.WIDTH)] | None = None


def _match(node: object) -> MatchKey:
    found = _ConstKey.model_validate(node)
    kind, members = _MATCHES[found.match_type]
    values = [getattr(found, name) for name in members]
    if None in values:
        raise wrong(f"{members[values.index(None)]}: Field required")
    return kind(*values)


def _fitting(where: str, match: MatchKey, key: Key) -> MatchKey:
    """The match of a const entry, without bits that a mask leaves out."""
    if not isinstance(match, _MATCHES[key.kind][0]):
        raise wrong(f"{where}: {type(match).__name__}, the key is {key.kind!r}")
    for value in (match.value,) if isinstance(match, Lpm) else match:
        check_fits(where, value, key.width)
    if isinstance(match, Range) and match.low > match.high:
        raise wrong(f"{where}: an empty range")
    if isinstance(match, Lpm) and match.prefix_len > key.width:
        raise wrong(f"{where}.prefix_length: 0 to {key.width} are possible")
    return Ternary(match.value & match.mask, match.mask) if isinstance(match, Ternary) else match


@dataclass(frozen=True, slots=True)
class Call:
    """An action with its arguments."""

    action_id: Id
    args: Annotated[Some[Hex], Field(alias="action_data")] = ()


@dataclass(frozen=True, slots=True)
class ConstEntry:
    """An entry of the program text; as in BMv2, the lowest priority wins."""

    match: Annotated[Some[Annotated[MatchKey, PlainValidator(_match)]], Field(alias="match_key")]
    action: Annotated[Call, Field(alias="action_entry")]
    priority: Annotated[int, Strict(), Field(ge=0, le=limits.PRIORITY)] = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A match-action table."""

    name: Name
    kind: Annotated[Literal["exact", "lpm", "ternary", "range"], Field(alias="match_type")]
    keys: Annotated[Some[Annotated[Key, PlainValidator(_key)]], Field(alias="key")]
    max_size: Entries
    counters: Annotated[Bool, Field(alias="with_counters")]
    timeout: Annotated[Bool, Field(alias="support_timeout")]
    action_ids: Many[Id]
    action_names: Annotated[Many[Name], Field(alias="actions")]
    next_tables: Annotated[dict[Name, Name | None], Field(max_length=limits.OBJECTS)]
    meter: Annotated[Name | None, Field(alias="direct_meters")] = None
    default_next: Annotated[Name | None, Field(alias="base_default_next")] = None
    default: Annotated[Call | None, Field(alias="default_entry")] = None
    profile: Annotated[Name | None, Field(alias="action_profile")] = None
    entries: Many[ConstEntry] = ()

    def following(self, action: str | None, *, hit: bool) -> str | None:
        """The node after an action, or after a miss without one."""
        if not self.next_tables.keys().isdisjoint(("__HIT__", "__MISS__")):
            return self.next_tables.get("__HIT__" if hit else "__MISS__", self.default_next)
        return (
            self.default_next if action is None else self.next_tables.get(action, self.default_next)
        )

    @property
    def successors(self) -> set[str | None]:
        """Nodes that may come next."""
        return {self.default_next, *self.next_tables.values()}


def _consistent(table: Table) -> Table:
    """The table, whose const entries fit its keys."""
    kinds = [k.kind for k in table.keys]
    if set(kinds) & set(_FINER[table.kind]) or (table.kind == "lpm" and kinds.count("lpm") != 1):
        raise wrong(f"match_type: {table.kind!r} with keys {kinds}")
    if len(table.entries) > table.max_size or (table.entries and table.profile):
        raise wrong("entries: more than max_size, or in a table with a profile")
    if table.default is not None and table.profile is not None:
        raise wrong("default_entry: the table has an action profile")
    entries = []
    for i, entry in enumerate(table.entries):
        where = f"entries[{i}].match_key"
        if len(entry.match) != len(kinds):
            raise wrong(f"{where}: {len(entry.match)} fields, the table has {len(kinds)}")
        fields = enumerate(zip(entry.match, table.keys, strict=True))
        match = tuple(_fitting(f"{where}[{k}]", each, key) for k, (each, key) in fields)
        entries.append(replace(entry, match=match))
    return replace(table, entries=tuple(entries))


@dataclass(frozen=True, slots=True)
class Conditional:
    """A branch of the control flow."""

    name: Name
    expression: Expression
    true_next: Name | None
    false_next: Name | None

    @property
    def successors(self) -> set[str | None]:
        return {self.true_next, self.false_next}


@dataclass(frozen=True, slots=True)
class ActionCallNode:
    """A direct action call of the control flow."""

    name: Name
    action_id: Id
    next_node: Name | None

    @property
    def successors(self) -> set[str | None]:
        return {self.next_node}


@dataclass(frozen=True, slots=True)
class Profile:
    """An action profile."""

    name: Name
    max_size: Entries
    selector: Selector | None = None


@dataclass(frozen=True, slots=True)
class ControlBlock:
    """ingress or egress."""

    name: Name
    init: Annotated[Name | None, Field(alias="init_table")]
    tables: Many[Annotated[Table, AfterValidator(_consistent)]]
    conditionals: Many[Conditional]
    calls: Annotated[Many[ActionCallNode], Field(alias="action_calls")] = ()
    profiles: Annotated[Many[Profile], Field(alias="action_profiles")] = ()

    @property
    def nodes(self) -> tuple[Table | Conditional | ActionCallNode, ...]:
        return (*self.tables, *self.conditionals, *self.calls)
