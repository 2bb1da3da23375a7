"""Parser and deparser."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Discriminator, Field, PlainValidator, Tag, ValidationInfo

from fcn.softswitch.engine.bmv2json.expressions import (
    Const,
    Expression,
    HeaderRef,
    Param,
    Primitive,
    StackRef,
)
from fcn.softswitch.engine.bmv2json.headers import headers_of
from fcn.softswitch.engine.bmv2json.values import (
    Hex,
    Id,
    Many,
    Name,
    Object,
    Pair,
    Parameters,
    Some,
    Value,
    unsupported,
    wrong,
)


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


class _Op(Object):
    op: Name


class _Target(Object):
    type: Name


def _target(node: object, info: ValidationInfo) -> HeaderRef | StackRef:
    """Where extracts put a header."""
    kind, headers = _Target.model_validate(node).type, headers_of(info)
    if kind == "regular":
        return HeaderRef(headers.whole(Value[Name].model_validate(node).value))
    if kind == "stack":
        return StackRef(headers.stack(Value[Name].model_validate(node).value))
    if kind == "union_stack":
        name, member = Value[Pair].model_validate(node).value
        members = headers.union_stack(name)
        if member not in members:
            raise wrong(f"unions of {name} have no header {member!r}")
        return StackRef(members[member])
    raise unsupported(f"extract to a {kind}")


_Extracted = Annotated[HeaderRef | StackRef, PlainValidator(_target)]
_STEPS: dict[str, type[Parameters[Any]]] = {
    "extract": Parameters[tuple[_Extracted]],
    "extract_VL": Parameters[tuple[_Extracted, Expression]],
    "set": Parameters[tuple[Expression, Expression]],
    "verify": Parameters[tuple[Expression, Expression]],
    "advance": Parameters[tuple[Expression]],
    "shift": Parameters[tuple[Id]],
    "primitive": Parameters[tuple[Primitive]],
}
"""Steps of a parser state, each with its parameters; a shift is an advance by whole octets."""


def _step(node: object, info: ValidationInfo) -> ParserOp:
    op = _Op.model_validate(node).op
    if op not in _STEPS:
        raise unsupported(f"parser operation {op!r}")
    params = _STEPS[op].model_validate(node, context=info.context).parameters
    if op == "primitive":
        return ParserOp(op, (), params[0])
    if op == "shift":
        return ParserOp("advance", (Const(8 * params[0]),))
    return ParserOp(op, params)


class _Transition(Object):
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


def _transition(node: object, info: ValidationInfo) -> Transition:
    t = _Transition.model_validate(node)
    if t.type == "parse_vset":
        if not isinstance(t.value, str) or t.value not in headers_of(info).value_sets:
            raise wrong(f"there is no value set {t.value!r}")
        if t.mask is not None:
            raise unsupported(f"a mask on the parser value set {t.value!r}")
        return Transition(0, None, t.next_state, t.value)
    if t.type == "default" or t.value == "default":
        return Transition(None, None, t.next_state)
    if not isinstance(t.value, int):
        raise wrong("a transition needs a value")
    return Transition(t.value, t.mask, t.next_state)


@dataclass(frozen=True, slots=True)
class ParseState:
    """Steps, then a transition."""

    name: Name
    ops: Annotated[Many[Annotated[ParserOp, PlainValidator(_step)]], Field(alias="parser_ops")]
    key: Annotated[Some[Expression], Field(alias="transition_key")]
    transitions: Many[Annotated[Transition, PlainValidator(_transition)]]


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
