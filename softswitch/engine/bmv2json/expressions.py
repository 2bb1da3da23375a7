"""Expressions, parameters and primitives, and how they are read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, Strict, TypeAdapter, ValidationInfo

from fcn.softswitch.engine.bmv2json.headers import FieldRef, Headers, headers_of
from fcn.softswitch.engine.bmv2json.values import (
    Bool,
    Hex,
    Index,
    Many,
    Name,
    Object,
    Pair,
    Some,
    Text,
    Value,
    Width,
    Word,
    unsupported,
    wrong,
)


@dataclass(frozen=True, slots=True)
class Const:
    """An integer literal."""

    value: int


@dataclass(frozen=True, slots=True)
class BoolConst:
    """A Boolean literal."""

    value: bool


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

# How they are read

_BINARY = frozenset(
    [
        "+", "-", "*", "/", "%", "<<", ">>", "==", "!=", ">", ">=", "<", "<=", "and", "or", "&",
        "|", "^", "two_comp_mod", "usat_cast", "sat_cast", "dereference_header_stack",
    ]
)  # fmt: skip
_UNARY = frozenset(
    {"not", "~", "valid", "d2b", "b2d", "valid_union", "last_stack_index", "size_stack"}
)


def _expression(node: object, info: ValidationInfo) -> Expr:
    if isinstance(node, Mapping) and "op" in node:
        return _operation(node, info)
    kind = _Kind.model_validate(node).type
    if kind not in _OPERANDS:
        raise unsupported(f"expression operand of type {kind!r}")
    model, make = _OPERANDS[kind]
    return make(headers_of(info), model.model_validate(node, context=info.context).value)


def _operation(node: object, info: ValidationInfo) -> Op:
    op = _Operator.model_validate(node).op
    if op == "access_field":
        access = _Access.model_validate(node, context=info.context)
        return Op(op, access.left, None, index=access.right)
    found = _Operands.model_validate(node, context=info.context)
    left, right, cond = found.left, found.right, found.cond
    if op in _BINARY:
        made, complete = Op(op, left, right), left and right
    elif op in _UNARY:
        made, complete = Op(op, None, right or left), right or left
    elif op == "?":
        made, complete = Op(op, left, right, cond), left and right and cond
    else:
        raise unsupported(f"operation {op!r}")
    if not complete:
        raise wrong(f"an operand of {op!r} is missing")
    return made


def _parameter(node: object, info: ValidationInfo) -> Param:
    kind = node.get("type", "") if isinstance(node, Mapping) and "op" not in node else ""
    if kind == "parameters_vector":
        return Vector(_Items.model_validate(node, context=info.context).value)
    if isinstance(kind, str) and kind in _NAMED:
        return Named(kind, _NAMED[kind].model_validate(node).value)
    return _expression(node, info)


def _field(pair: object, info: ValidationInfo) -> FieldRef:
    return headers_of(info).field(_PAIR.validate_python(pair))


def _union(headers: Headers, name: str) -> UnionRef:
    if name not in headers.unions:
        raise wrong(f"unknown header union {name!r}")
    return UnionRef(name)


def _union_stack(headers: Headers, name: str) -> UnionStackRef:
    headers.union_stack(name)
    return UnionStackRef(name)


def _listed(value: object) -> object:
    return [] if value == {} else value


_PAIR: TypeAdapter[tuple[str, str]] = TypeAdapter(Pair)
FieldPath = Annotated[FieldRef, PlainValidator(_field)]
Expression = Annotated[Expr, PlainValidator(_expression)]
Parameter = Annotated[Param, PlainValidator(_parameter)]


class _Kind(Object):
    type: Name


class _Operator(Object):
    op: Word


class _Operands(Object):
    left: Expression | None = None
    right: Expression | None = None
    cond: Expression | None = None


class _Access(Object):
    """A field of a header by its index."""

    left: Expression
    right: Index


class _Items(Object):
    """p4c writes {} where log_msg() has a text alone."""

    value: Annotated[Many[Parameter], BeforeValidator(_listed)]


_NAMED: dict[str, type[Value[str]]] = {
    "string": Value[Text],
    **dict.fromkeys(("calculation", "meter_array", "counter_array", "register_array"), Value[Name]),
}
_OPERANDS: dict[str, tuple[type[Value[Any]], Callable[[Headers, Any], Expr]]] = {
    "expression": (Value[Expression], lambda _, inner: inner),
    "hexstr": (Value[Hex], lambda _, number: Const(number)),
    "bool": (Value[Bool], lambda _, truth: BoolConst(truth)),
    "field": (Value[FieldPath], lambda _, field: field),
    "stack_field": (Value[Pair], lambda h, pair: LastField(h.stack(pair[0]), pair[1])),
    "local": (Value[Index], lambda _, index: Local(index)),
    "runtime_data": (Value[Index], lambda _, index: Local(index)),
    "header": (Value[Name], lambda h, name: HeaderRef(h.header(name).name)),
    "header_stack": (Value[Name], lambda h, name: StackRef(h.stack(name))),
    "header_union": (Value[Name], _union),
    "header_union_stack": (Value[Name], _union_stack),
    "lookahead": (
        Value[tuple[Annotated[int, Strict(), Field(ge=0, le=1 << 16)], Width]],
        lambda _, bits: Lookahead(*bits),
    ),
}
"""What an operand of a kind has as its value, and what that says."""


@dataclass(frozen=True, slots=True)
class Primitive:
    op: Word
    params: Annotated[Some[Parameter], Field(alias="parameters")]
