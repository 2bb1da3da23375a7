"""The BMv2 JSON as typed data; names are those of the JSON format document of behavioral-model."""

from dataclasses import dataclass, field

from fcn.softswitch.api import MatchKey


@dataclass(frozen=True, slots=True)
class Const:
    """An integer literal."""

    value: int


@dataclass(frozen=True, slots=True)
class BoolConst:
    """A Boolean literal."""

    value: bool


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field of a header instance; the field `$valid$` is the header's validity."""

    header: str
    field: str


@dataclass(frozen=True, slots=True)
class LastField:
    """A field of the header last extracted to a stack; `last` is the header, where one is
    expected."""

    stack: str
    field: str


@dataclass(frozen=True, slots=True)
class Local:
    """An argument of the enclosing action."""

    index: int


@dataclass(frozen=True, slots=True)
class HeaderRef:
    name: str


@dataclass(frozen=True, slots=True)
class StackRef:
    name: str


@dataclass(frozen=True, slots=True)
class UnionRef:
    name: str


@dataclass(frozen=True, slots=True)
class UnionStackRef:
    name: str


@dataclass(frozen=True, slots=True)
class Lookahead:
    """Bits of the packet after those parsed so far."""

    offset: int
    width: int


@dataclass(frozen=True, slots=True)
class Op:
    """An operation; `cond` only for the ternary operator, `index` only for access_field."""

    op: str
    left: "Expr | None"
    right: "Expr | None"
    cond: "Expr | None" = None
    index: int = 0


Expr = (
    Const | BoolConst | FieldRef | LastField | Local | HeaderRef | StackRef | UnionRef
    | UnionStackRef | Lookahead | Op
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Named:
    """A reference to an object by kind and name: calculation, counter_array, string, ..."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Vector:
    """Several arguments in one parameter (log_msg)."""

    items: "tuple[Param, ...]"


Param = Expr | Named | Vector


@dataclass(frozen=True, slots=True)
class FieldType:
    """A member of a header type; width in bits, of a varbit its maximum."""

    name: str
    width: int
    signed: bool = False
    varbit: bool = False


@dataclass(frozen=True, slots=True)
class HeaderType:
    """Fields in wire order."""

    name: str
    fields: tuple[FieldType, ...]


@dataclass(frozen=True, slots=True)
class Header:
    """A header or metadata instance."""

    name: str
    type: HeaderType
    metadata: bool


@dataclass(frozen=True, slots=True)
class Stack:
    """A header stack with the names of its elements."""

    name: str
    type: HeaderType
    headers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Primitive:
    op: str
    params: tuple[Param, ...]


@dataclass(frozen=True, slots=True)
class ParserOp:
    """A step of a parse state; extracts name a header or a stack."""

    op: str
    params: tuple[Param, ...] = ()
    primitive: Primitive | None = None


@dataclass(frozen=True, slots=True)
class Transition:
    """value None is the default; value and mask are the byte-padded key as an integer.

    With a value set, the key is looked up there.
    """

    value: int | None
    mask: int | None
    next_state: str | None
    value_set: str | None = None


@dataclass(frozen=True, slots=True)
class ValueSet:
    """Values the control plane sets: a key's fields one after another, `width` bits together."""

    name: str
    width: int
    size: int


@dataclass(frozen=True, slots=True)
class ParseState:
    name: str
    ops: tuple[ParserOp, ...]
    key: tuple[Expr, ...]
    transitions: tuple[Transition, ...]


@dataclass(frozen=True, slots=True)
class ActionParam:
    """A runtime argument."""

    name: str
    width: int


@dataclass(frozen=True, slots=True)
class Action:
    """An action; ids are unique, names are not (NoAction)."""

    id: int
    name: str
    params: tuple[ActionParam, ...]
    primitives: tuple[Primitive, ...]


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


@dataclass(frozen=True, slots=True)
class ConstEntry:
    """An entry of the program text; as in BMv2, the lowest priority wins."""

    match: tuple[MatchKey, ...]
    priority: int
    action_id: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DefaultEntry:
    """The default action a table is compiled with."""

    action_id: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A match-action table; kind is exact, lpm, ternary or range."""

    name: str
    kind: str
    keys: tuple[Key, ...]
    max_size: int
    action_ids: tuple[int, ...]
    next_by_action: dict[str, str | None]
    next_hit: str | None
    next_miss: str | None
    hit_or_miss: bool
    default_next: str | None
    default: DefaultEntry | None
    profile: str | None
    counters: bool
    timeout: bool
    meter: str | None
    entries: tuple[ConstEntry, ...]
    immutable: bool


@dataclass(frozen=True, slots=True)
class Conditional:
    """A branch of the control flow."""

    name: str
    expression: Expr
    true_next: str | None
    false_next: str | None


@dataclass(frozen=True, slots=True)
class ActionCallNode:
    """A direct action call of the control flow."""

    name: str
    action_id: int
    next_node: str | None


@dataclass(frozen=True, slots=True)
class CalcInput:
    """An input of a calculation: field, header, payload, or a constant of `width` bits."""

    kind: str
    field: FieldRef | None = None
    header: str | None = None
    value: int = 0
    width: int = 0


@dataclass(frozen=True, slots=True)
class Calculation:
    """A hash or checksum over inputs."""

    name: str
    algo: str
    inputs: tuple[CalcInput, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """An action profile; algo None has no selector."""

    name: str
    max_size: int
    algo: str | None
    inputs: tuple[CalcInput, ...]


@dataclass(frozen=True, slots=True)
class ControlBlock:
    """ingress or egress."""

    name: str
    init: str | None
    tables: tuple[Table, ...]
    conditionals: tuple[Conditional, ...]
    calls: tuple[ActionCallNode, ...]
    profiles: tuple[Profile, ...]


@dataclass(frozen=True, slots=True)
class Checksum:
    """A checksum that is verified after parsing, updated before deparsing, or both."""

    name: str
    target: FieldRef
    calculation: str
    verify: bool
    update: bool
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class Array:
    """A counter, meter or register array; unit is bytes or packets of a meter."""

    name: str
    size: int
    direct: bool = False
    width: int = 0
    unit: str = ""
    target: FieldRef | None = None


@dataclass(frozen=True, slots=True)
class FieldList:
    """Fields a clone, resubmit or recirculate preserves."""

    id: int
    name: str
    fields: tuple[FieldRef | Const, ...]


@dataclass(frozen=True, slots=True)
class LearnList:
    """Fields a digest reports, with the bits of each."""

    name: str
    fields: tuple[FieldRef | Const, ...]
    widths: tuple[int, ...]


@dataclass(frozen=True)
class Model:
    """A whole program.

    A union is its headers. A stack of unions is one header stack per header of their type, which
    `union_stacks` lists by that header's name; those stacks have the next index of the first.
    """

    headers: dict[str, Header]
    stacks: dict[str, Stack]
    unions: dict[str, tuple[str, ...]]
    union_stacks: dict[str, dict[str, str]]
    value_sets: dict[str, ValueSet]
    errors: dict[str, int]
    init_state: str | None
    states: dict[str, ParseState]
    deparse_order: tuple[str, ...]
    actions: dict[int, Action]
    ingress: ControlBlock
    egress: ControlBlock
    calculations: dict[str, Calculation]
    checksums: tuple[Checksum, ...]
    counters: dict[str, Array]
    meters: dict[str, Array]
    registers: dict[str, Array]
    field_lists: dict[int, FieldList]
    learn_lists: dict[int, LearnList]
    aliases: dict[str, FieldRef] = field(default_factory=dict)

    @property
    def control_blocks(self) -> tuple[ControlBlock, ControlBlock]:
        """Ingress and egress."""
        return (self.ingress, self.egress)

    def tables(self) -> list[Table]:
        """All tables, ingress first."""
        return [t for p in self.control_blocks for t in p.tables]

    def profiles(self) -> list[Profile]:
        """All action profiles, ingress first."""
        return [a for p in self.control_blocks for a in p.profiles]

    def standard(self, name: str) -> FieldRef | None:
        """The field simple_switch knows as `name` ("queueing_metadata.qid"), if it exists."""
        ref = self.aliases.get(name)
        if ref is None:
            header, _, member = name.partition(".")
            ref = FieldRef(header, member)
        instance = self.headers.get(ref.header)
        if instance is None or all(f.name != ref.field for f in instance.type.fields):
            return None
        return ref
