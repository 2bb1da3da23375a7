"""The schema of BMv2 JSON as far as the softswitch reads it, with a range for every value.

Format: behavioral-model docs/JSON_format.md. Members not listed are never read. Words that select
a construct (an operation, a kind) are names here and refused by name where they are translated.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Strict, StringConstraints, Tag

from fcn.softswitch.engine.bmv2json import limits

TAG = "<"
"""Begins the tags of unions, which pydantic puts into the path of an error."""

Name = Annotated[
    str,
    StringConstraints(max_length=limits.NAME, pattern=r"^[A-Za-z_$][A-Za-z0-9_$.<>\[\],:\- ]*$"),
]
Label = Annotated[str, StringConstraints(max_length=limits.NAME, pattern=r"^[ -~]*$")]
Text = Annotated[str, StringConstraints(max_length=limits.STRING)]
_HEX = rf"^-?0[xX][0-9a-fA-F]{{1,{limits.HEX_DIGITS}}}$"
Hex = Annotated[str, StringConstraints(pattern=_HEX)]
Id = Annotated[int, Strict(), Field(ge=0, le=limits.ID)]
Index = Annotated[int, Strict(), Field(ge=0, le=limits.OBJECTS)]
Width = Annotated[int, Strict(), Field(ge=1, le=limits.WIDTH)]
Cells = Annotated[int, Strict(), Field(ge=0, le=limits.CELLS)]
Entries = Annotated[int, Strict(), Field(ge=0, le=limits.TABLE_ENTRIES)]
FieldWidth = Annotated[
    Annotated[Width, Tag("<width")] | Annotated[Literal["*"], Tag("<varbit")],
    Discriminator(lambda value: "<width" if isinstance(value, int) else "<varbit"),
]
Bool = Annotated[bool, Strict()]
FieldPath = Annotated[list[Name], Field(min_length=2, max_length=2)]
_MANY = Field(max_length=limits.OBJECTS)


class _Object(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


# Expressions and parameters


class Number(_Object):
    """A literal."""

    value: Hex


class Truth(_Object):
    """A Boolean literal."""

    value: Bool


class Path(_Object):
    """A field, or a field of the header last extracted to a stack."""

    value: FieldPath


class Argument(_Object):
    """An argument of the enclosing action."""

    value: Index


class Reference(_Object):
    """A header, stack, array or calculation by name."""

    value: Name


class Said(_Object):
    """A text for log_msg."""

    value: Text


class Look(_Object):
    """Bits ahead in the packet: offset and width."""

    value: tuple[Annotated[int, Strict(), Field(ge=0, le=1 << 16)], Width]


class Nested(_Object):
    """The enclosing object some expressions have."""

    value: "Expression"


class Vector(_Object):
    """Several parameters in one."""

    value: Annotated[list["Expression"], _MANY]


class Other(_Object):
    """A kind of operand that is refused by name where it is used."""

    type: Name


class Operation(_Object):
    """An operation; unary ones have one of left and right."""

    op: Annotated[str, StringConstraints(min_length=1, max_length=limits.NAME)]
    left: "Expression | None" = None
    right: "Expression | None" = None
    cond: "Expression | None" = None


class Access(_Object):
    """A field of a header by its index."""

    op: Literal["access_field"]
    left: "Expression"
    right: Index


_OPERANDS = {
    "hexstr": "<hexstr", "bool": "<bool", "field": "<field", "stack_field": "<field",
    "local": "<local", "runtime_data": "<local", "header": "<name", "header_stack": "<name",
    "calculation": "<name", "meter_array": "<name", "counter_array": "<name",
    "register_array": "<name", "regular": "<name", "stack": "<name", "string": "<string",
    "lookahead": "<lookahead", "expression": "<expression", "parameters_vector": "<vector",
}  # fmt: skip


def _kind(value: object) -> str:
    if not isinstance(value, Mapping):
        return "<other"
    if "op" in value:
        return "<access" if value["op"] == "access_field" else "<op"
    kind = value.get("type")
    return _OPERANDS.get(kind, "<other") if isinstance(kind, str) else "<other"


Expression = Annotated[
    Annotated[Number, Tag("<hexstr")]
    | Annotated[Truth, Tag("<bool")]
    | Annotated[Path, Tag("<field")]
    | Annotated[Argument, Tag("<local")]
    | Annotated[Reference, Tag("<name")]
    | Annotated[Said, Tag("<string")]
    | Annotated[Look, Tag("<lookahead")]
    | Annotated[Nested, Tag("<expression")]
    | Annotated[Vector, Tag("<vector")]
    | Annotated[Operation, Tag("<op")]
    | Annotated[Access, Tag("<access")]
    | Annotated[Other, Tag("<other")],
    Discriminator(_kind),
]


class Primitive(_Object):
    """A call of a primitive."""

    op: Annotated[str, StringConstraints(min_length=1, max_length=limits.NAME)]
    parameters: Annotated[list[Expression], Field(max_length=64)]


# Headers


def _field(value: object) -> str:
    size = len(value) if isinstance(value, (list, tuple)) else 0
    return {3: "<signed", 4: "<saturating"}.get(size, "<field")


class HeaderType(_Object):
    """Fields: [name, width or "*" (varbit), signed, saturating]."""

    name: Name
    fields: Annotated[
        list[
            Annotated[
                Annotated[tuple[Name, FieldWidth], Tag("<field")]
                | Annotated[tuple[Name, FieldWidth, Bool], Tag("<signed")]
                | Annotated[tuple[Name, FieldWidth, Bool, Bool], Tag("<saturating")],
                Discriminator(_field),
            ]
        ],
        _MANY,
    ]
    max_length: Annotated[int, Strict(), Field(ge=0, le=limits.HEADER_OCTETS)] | None = None


class Header(_Object):
    """A header or metadata instance."""

    name: Name
    id: Id
    header_type: Name
    metadata: Bool


class HeaderStack(_Object):
    """A stack and its headers by identifier."""

    name: Name
    header_type: Name
    header_ids: Annotated[list[Id], Field(max_length=limits.STACK)]


class Refused(_Object):
    """An object of a construct that is refused by name."""

    name: Name


# Parser and deparser


class Transition(_Object):
    """type: hexstr or default; absent in old versions of the format."""

    type: Name | None = None
    value: Hex | Literal["default"] | None
    mask: Hex | None
    next_state: Name | None


class ParserPrimitive(_Object):
    """A primitive in a parser state."""

    op: Literal["primitive"]
    parameters: Annotated[list[Primitive], Field(min_length=1, max_length=1)]


class ParserShift(_Object):
    """An advance by whole octets."""

    op: Literal["shift"]
    parameters: Annotated[list[Id], Field(min_length=1, max_length=1)]


class ParserOp(_Object):
    """Another step of a parser state."""

    op: Name
    parameters: Annotated[list[Expression], Field(min_length=1, max_length=2)]


def _step(value: object) -> str:
    op = value.get("op") if isinstance(value, Mapping) else None
    return f"<{op}" if op in ("primitive", "shift") else "<step"


class ParseState(_Object):
    """Steps, then a transition."""

    name: Name
    parser_ops: Annotated[
        list[
            Annotated[
                Annotated[ParserPrimitive, Tag("<primitive")]
                | Annotated[ParserShift, Tag("<shift")]
                | Annotated[ParserOp, Tag("<step")],
                Discriminator(_step),
            ]
        ],
        _MANY,
    ]
    transition_key: Annotated[list[Expression], Field(max_length=64)]
    transitions: Annotated[list[Transition], _MANY]


class Parser(_Object):
    """init_state None accepts every packet unparsed."""

    init_state: Name | None
    parse_states: Annotated[list[ParseState], _MANY]


class DeparserPrimitive(_Object):
    """A primitive in the deparser, which is refused by name."""

    op: Name


class Deparser(_Object):
    """Headers in order."""

    order: Annotated[list[Name], _MANY]
    primitives: Annotated[list[DeparserPrimitive], _MANY] = []


# Actions and tables


class Argued(_Object):
    """A parameter of an action."""

    name: Name
    bitwidth: Width


class Action(_Object):
    """Identifiers are unique, names are not."""

    id: Id
    name: Name
    runtime_data: Annotated[list[Argued], Field(max_length=256)]
    primitives: Annotated[list[Primitive], _MANY]


class Key(_Object):
    """One field of a table's key; without @name its name is the source text of an expression."""

    name: Label | None = None
    match_type: Name
    target: FieldPath
    mask: Hex | None


class ConstKey(_Object):
    """One field of a const entry; which members it has depends on its kind."""

    match_type: Name
    key: Hex | None = None
    mask: Hex | None = None
    start: Hex | None = None
    end: Hex | None = None
    prefix_length: Annotated[int, Strict(), Field(ge=0, le=limits.WIDTH)] | None = None


class Call(_Object):
    """An action with its arguments."""

    action_id: Id
    action_data: Annotated[list[Hex], Field(max_length=256)] = []


class ConstEntry(_Object):
    """An entry of the program text."""

    match_key: Annotated[list[ConstKey], Field(max_length=256)]
    action_entry: Call
    priority: Annotated[int, Strict(), Field(ge=0, le=limits.PRIORITY)] = 0


class Table(_Object):
    """A match-action table."""

    name: Name
    key: Annotated[list[Key], Field(max_length=256)]
    match_type: Literal["exact", "lpm", "ternary", "range"]
    max_size: Entries
    with_counters: Bool
    support_timeout: Bool
    direct_meters: Name | None = None
    action_ids: Annotated[list[Id], _MANY]
    actions: Annotated[list[Name], _MANY]
    base_default_next: Name | None = None
    next_tables: Annotated[dict[Name, Name | None], _MANY]
    default_entry: Call | None = None
    entries: Annotated[list[ConstEntry], _MANY] = []
    action_profile: Name | None = None


class Conditional(_Object):
    """A branch."""

    name: Name
    expression: Expression
    true_next: Name | None
    false_next: Name | None


class ActionCall(_Object):
    """An action called without a table."""

    name: Name
    action_id: Id
    next_node: Name | None


class CalculationInput(_Object):
    """An input of a hash: a field, header, payload or literal of `bitwidth` bits."""

    type: Name
    value: FieldPath | Name | Hex | None = None
    bitwidth: Width | None = None


class Selector(_Object):
    """What chooses a member of a group."""

    algo: Name
    input: Annotated[list[CalculationInput], _MANY]


class Profile(_Object):
    """An action profile."""

    name: Name
    max_size: Entries
    selector: Selector | None = None


class Pipeline(_Object):
    """ingress or egress."""

    name: Name
    init_table: Name | None
    tables: Annotated[list[Table], _MANY]
    conditionals: Annotated[list[Conditional], _MANY]
    action_calls: Annotated[list[ActionCall], _MANY] = []
    action_profiles: Annotated[list[Profile], _MANY] = []


# Arrays, hashes, field lists


class Counter(_Object):
    """A counter array, or the counters of a table's entries."""

    name: Name
    is_direct: Bool
    size: Cells = 0
    binding: Name | None = None


class Meter(_Object):
    """A meter array, or the meters of a table's entries."""

    name: Name
    is_direct: Bool
    size: Cells = 0
    rate_count: Annotated[int, Strict(), Field(ge=0, le=16)] = 2
    type: Literal["bytes", "packets"]
    result_target: FieldPath | None = None


class Register(_Object):
    """A register array; a width above limits.REGISTER_WIDTH is refused by name."""

    name: Name
    size: Cells
    bitwidth: Width


class Calculation(_Object):
    """A hash or checksum."""

    name: Name
    algo: Name
    input: Annotated[list[CalculationInput], _MANY]


class Checksum(_Object):
    """A field that has a calculation's value."""

    name: Name
    type: Name
    target: FieldPath
    calculation: Name
    verify: Bool = True
    update: Bool = True
    if_cond: Expression | None = None


class FieldList(_Object):
    """Fields and literals of a digest, clone, resubmission or recirculation."""

    id: Annotated[int, Strict(), Field(ge=1, le=limits.ID)]
    name: Name
    elements: Annotated[list[Expression], Field(max_length=256)]


class Meta(_Object):
    """Version of the format."""

    version: Annotated[list[Id], Field(min_length=1, max_length=4)] = [2]


def is_hex(value: object) -> TypeGuard[str]:
    """Whether a value that may be of several kinds is a number."""
    return isinstance(value, str) and re.match(_HEX, value) is not None


class Program(_Object):
    """A whole program."""

    meta: Annotated[Meta, Field(alias="__meta__")] = Meta()
    header_types: Annotated[list[HeaderType], _MANY]
    headers: Annotated[list[Header], _MANY]
    header_stacks: Annotated[list[HeaderStack], _MANY]
    header_union_types: Annotated[list[Refused], _MANY] = []
    header_unions: Annotated[list[Refused], _MANY] = []
    header_union_stacks: Annotated[list[Refused], _MANY] = []
    parse_vsets: Annotated[list[Refused], _MANY] = []
    extern_instances: Annotated[list[Refused], _MANY] = []
    errors: Annotated[list[tuple[Name, Id]], _MANY] = []
    parsers: Annotated[list[Parser], _MANY]
    deparsers: Annotated[list[Deparser], _MANY]
    actions: Annotated[list[Action], _MANY]
    pipelines: Annotated[list[Pipeline], _MANY]
    calculations: Annotated[list[Calculation], _MANY]
    checksums: Annotated[list[Checksum], _MANY]
    counter_arrays: Annotated[list[Counter], _MANY]
    meter_arrays: Annotated[list[Meter], _MANY]
    register_arrays: Annotated[list[Register], _MANY]
    field_lists: Annotated[list[FieldList], _MANY] = []
    learn_lists: Annotated[list[FieldList], _MANY]
    field_aliases: Annotated[list[tuple[Name, FieldPath]], _MANY] = []


def _rebuild(scope: Mapping[str, Any]) -> None:
    for model in (Nested, Vector, Operation, Access):
        model.model_rebuild(_types_namespace=scope)


_rebuild(globals())
