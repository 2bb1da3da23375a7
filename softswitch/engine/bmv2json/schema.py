"""The schema of BMv2 JSON as far as the softswitch reads it, with a range for every value.

Format: behavioral-model docs/JSON_format.md. Members not listed are never read. Words that select
a construct (an operation, a kind) are names here and refused by name where they are translated.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Strict, Tag

from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.bmv2json.expressions import Expression, Primitive
from fcn.softswitch.engine.bmv2json.values import (
    Bool,
    Cells,
    Entries,
    FieldPath,
    FieldWidth,
    Flag,
    Hex,
    Id,
    Label,
    Many,
    Name,
    Object,
    Some,
    Width,
)

# Headers


def _field(value: object) -> str:
    size = len(value) if isinstance(value, (list, tuple)) else 0
    return {3: "<signed", 4: "<saturating"}.get(size, "<field")


class HeaderType(Object):
    """Fields: [name, width or "*" (varbit), signed, saturating]."""

    name: Name
    fields: Many[
        Annotated[
            Annotated[tuple[Name, FieldWidth], Tag("<field")]
            | Annotated[tuple[Name, FieldWidth, Flag], Tag("<signed")]
            | Annotated[tuple[Name, FieldWidth, Flag, Flag], Tag("<saturating")],
            Discriminator(_field),
        ]
    ]
    max_length: Annotated[int, Strict(), Field(ge=0, le=limits.HEADER_OCTETS)] | None = None


class Header(Object):
    """A header or metadata instance."""

    name: Name
    id: Id
    header_type: Name
    metadata: Bool


class HeaderStack(Object):
    """A stack and its headers by identifier."""

    name: Name
    header_type: Name
    header_ids: Annotated[list[Id], Field(max_length=limits.STACK)]


class UnionType(Object):
    """Names and types of the headers of a union."""

    name: Name
    headers: Annotated[list[tuple[Name, Name]], Field(min_length=1, max_length=limits.UNION)]


class Union(Object):
    """A union and its headers by identifier, in the order of its type."""

    name: Name
    id: Id
    union_type: Name
    header_ids: Annotated[list[Id], Field(max_length=limits.UNION)]


class UnionStack(Object):
    """A stack of unions by identifier."""

    name: Name
    union_type: Name
    header_union_ids: Annotated[list[Id], Field(min_length=1, max_length=limits.STACK)]


class Refused(Object):
    """An object of a construct that is refused by name."""

    name: Name


# Parser and deparser


class ValueSet(Object):
    """Values the control plane sets; as wide as the fields of its keys together."""

    name: Name
    compressed_bitwidth: Width
    max_size: Entries


class Transition(Object):
    """type: hexstr, default or parse_vset; absent in old versions of the format.

    A value that is no number is "default" or the name of a value set.
    """

    type: Name | None = None
    value: (
        Annotated[
            Annotated[Hex, Tag("<hexstr")] | Annotated[Name, Tag("<name")],
            Discriminator(lambda value: "<hexstr" if str(value)[:1] in "-0" else "<name"),
        ]
        | None
    )
    mask: Hex | None
    next_state: Name | None


class ParserPrimitive(Object):
    op: Literal["primitive"]
    parameters: Annotated[list[Primitive], Field(min_length=1, max_length=1)]


class ParserShift(Object):
    """An advance by whole octets."""

    op: Literal["shift"]
    parameters: Annotated[list[Id], Field(min_length=1, max_length=1)]


class ParserOp(Object):
    """Another step of a parser state."""

    op: Name
    parameters: Annotated[list[Expression], Field(min_length=1, max_length=2)]


def _step(value: object) -> str:
    op = value.get("op") if isinstance(value, Mapping) else None
    return f"<{op}" if op in ("primitive", "shift") else "<step"


class ParseState(Object):
    """Steps, then a transition."""

    name: Name
    parser_ops: Many[
        Annotated[
            Annotated[ParserPrimitive, Tag("<primitive")]
            | Annotated[ParserShift, Tag("<shift")]
            | Annotated[ParserOp, Tag("<step")],
            Discriminator(_step),
        ]
    ]
    transition_key: Some[Expression]
    transitions: Many[Transition]


class Parser(Object):
    """init_state None accepts every packet unparsed."""

    init_state: Name | None
    parse_states: Many[ParseState]


class DeparserPrimitive(Object):
    """A primitive in the deparser, which is refused by name."""

    op: Name


class Deparser(Object):
    """Headers in order."""

    order: Many[Name]
    primitives: Many[DeparserPrimitive] = ()


# Actions and tables


class Argued(Object):
    """A parameter of an action."""

    name: Name
    bitwidth: Width


class Action(Object):
    """Identifiers are unique, names are not."""

    id: Id
    name: Name
    runtime_data: Some[Argued]
    primitives: Many[Primitive]


class Key(Object):
    """One field of a table's key; without @name its name is the source text of an expression.

    The target is an expression where the field is that of a stack's element at a run-time index.
    """

    name: Label | None = None
    match_type: Name
    target: Annotated[
        Annotated[FieldPath, Tag("<field")] | Annotated[Expression, Tag("<expression")],
        Discriminator(lambda value: "<field" if isinstance(value, list) else "<expression"),
    ]
    mask: Hex | None


class ConstKey(Object):
    """One field of a const entry; which members it has depends on its kind."""

    match_type: Name
    key: Hex | None = None
    mask: Hex | None = None
    start: Hex | None = None
    end: Hex | None = None
    prefix_length: Annotated[int, Strict(), Field(ge=0, le=limits.WIDTH)] | None = None


class Call(Object):
    """An action with its arguments."""

    action_id: Id
    action_data: Some[Hex] = ()


class ConstEntry(Object):
    """An entry of the program text."""

    match_key: Some[ConstKey]
    action_entry: Call
    priority: Annotated[int, Strict(), Field(ge=0, le=limits.PRIORITY)] = 0


class Table(Object):
    """A match-action table."""

    name: Name
    key: Some[Key]
    match_type: Literal["exact", "lpm", "ternary", "range"]
    max_size: Entries
    with_counters: Bool
    support_timeout: Bool
    direct_meters: Name | None = None
    action_ids: Many[Id]
    actions: Many[Name]
    base_default_next: Name | None = None
    next_tables: Annotated[dict[Name, Name | None], Field(max_length=limits.OBJECTS)]
    default_entry: Call | None = None
    entries: Many[ConstEntry] = ()
    action_profile: Name | None = None


class Conditional(Object):
    name: Name
    expression: Expression
    true_next: Name | None
    false_next: Name | None


class ActionCall(Object):
    """An action called without a table."""

    name: Name
    action_id: Id
    next_node: Name | None


class CalculationInput(Object):
    """An input of a hash: a field, header, payload or literal of `bitwidth` bits."""

    type: Name
    value: FieldPath | Name | Hex | None = None
    bitwidth: Width | None = None


class Selector(Object):
    """What chooses a member of a group."""

    algo: Name
    input: Many[CalculationInput]


class Profile(Object):
    name: Name
    max_size: Entries
    selector: Selector | None = None


class ControlBlock(Object):
    """ingress or egress."""

    name: Name
    init_table: Name | None
    tables: Many[Table]
    conditionals: Many[Conditional]
    action_calls: Many[ActionCall] = ()
    action_profiles: Many[Profile] = ()


# Arrays, hashes, field lists


class Counter(Object):
    """A counter array, or the counters of a table's entries."""

    name: Name
    is_direct: Bool
    size: Cells = 0
    binding: Name | None = None


class Meter(Object):
    """A meter array, or the meters of a table's entries."""

    name: Name
    is_direct: Bool
    size: Cells = 0
    binding: Name | None = None
    rate_count: Annotated[int, Strict(), Field(ge=0, le=16)] = 2
    type: Literal["bytes", "packets"]
    result_target: FieldPath | None = None


class Register(Object):
    """A register array; a width above limits.REGISTER_WIDTH is refused by name."""

    name: Name
    size: Cells
    bitwidth: Width


class Calculation(Object):
    """A hash or checksum."""

    name: Name
    algo: Name
    input: Many[CalculationInput]


class Checksum(Object):
    """A field that has a calculation's value."""

    name: Name
    type: Name
    target: FieldPath
    calculation: Name
    verify: Bool = True
    update: Bool = True
    if_cond: Expression | None = None


class FieldList(Object):
    """Fields and literals of a digest, clone, resubmission or recirculation."""

    id: Annotated[int, Strict(), Field(ge=1, le=limits.ID)]
    name: Name
    elements: Some[Expression]


class Meta(Object):
    """Version of the format."""

    version: Annotated[tuple[Id, ...], Field(min_length=1, max_length=4)] = (2,)


class Program(Object):
    meta: Annotated[Meta, Field(alias="__meta__")] = Meta()
    header_types: Many[HeaderType]
    headers: Many[Header]
    header_stacks: Many[HeaderStack]
    header_union_types: Many[UnionType] = ()
    header_unions: Many[Union] = ()
    header_union_stacks: Many[UnionStack] = ()
    parse_vsets: Many[ValueSet] = ()
    extern_instances: Many[Refused] = ()
    errors: Many[tuple[Name, Id]] = ()
    parsers: Many[Parser]
    deparsers: Many[Deparser]
    actions: Many[Action]
    pipelines: Many[ControlBlock]
    calculations: Many[Calculation]
    checksums: Many[Checksum]
    counter_arrays: Many[Counter]
    meter_arrays: Many[Meter]
    register_arrays: Many[Register]
    field_lists: Many[FieldList] = ()
    learn_lists: Many[FieldList]
    field_aliases: Many[tuple[Name, FieldPath]] = ()
