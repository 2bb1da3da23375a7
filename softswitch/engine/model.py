"""A program as typed data; names are those of the JSON format document of behavioral-model."""

from dataclasses import dataclass, field

# isort: off
from fcn.softswitch.engine.bmv2json.arrays import (
    CalcInput, Calculation, Checksum, Counter, FieldList, LearnList, Meter, Register, Selector,
)  # fmt: skip
from fcn.softswitch.engine.bmv2json.expressions import (
    BoolConst, Const, Expr, HeaderRef, LastField, Local, Lookahead, Named, Op, Param, Primitive,
    StackRef, UnionRef, UnionStackRef, Vector,
)  # fmt: skip
from fcn.softswitch.engine.bmv2json.headers import (
    FieldRef, FieldType, Header, HeaderType, Stack, ValueSet,
)  # fmt: skip
from fcn.softswitch.engine.bmv2json.parser import ParserOp, ParseState, Transition
from fcn.softswitch.engine.bmv2json.tables import (
    Action, ActionCallNode, ActionParam, Call, Conditional, ConstEntry, ControlBlock, Key, Profile,
    Table,
)  # fmt: skip
# isort: on

__all__ = [
    "Action", "ActionCallNode", "ActionParam", "BoolConst", "CalcInput", "Calculation", "Call",
    "Checksum", "Conditional", "Const", "ConstEntry", "ControlBlock", "Counter", "Expr",
    "FieldList", "FieldRef", "FieldType", "Header", "HeaderRef", "HeaderType", "Key", "LastField",
    "LearnList", "Local", "Lookahead", "Meter", "Model", "Named", "Op", "Param", "ParseState",
    "ParserOp", "Primitive", "Profile", "Register", "Selector", "Stack", "StackRef", "Table",
    "Transition", "UnionRef", "UnionStackRef", "ValueSet", "Vector",
]  # fmt: skip


@dataclass(frozen=True)
class Model:
    """A whole program."""

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
    counters: dict[str, Counter]
    meters: dict[str, Meter]
    registers: dict[str, Register]
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
