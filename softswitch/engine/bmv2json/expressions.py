"""Expressions, parameters and primitives of BMv2 JSON."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Strict, StringConstraints, Tag

from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.bmv2json.values import (
    Bool,
    FieldPath,
    Hex,
    Index,
    Many,
    Name,
    Object,
    Some,
    Text,
    Width,
)


class Number(Object):
    value: Hex


class Truth(Object):
    """A Boolean literal."""

    value: Bool


class FieldName(Object):
    """A field, or a field of the header last extracted to a stack."""

    value: FieldPath


class Argument(Object):
    """An argument of the enclosing action."""

    value: Index


class Reference(Object):
    """A header, stack, array or calculation by name."""

    value: Name


class Said(Object):
    """A text for log_msg."""

    value: Text


class Look(Object):
    """Bits ahead in the packet: offset and width."""

    value: tuple[Annotated[int, Strict(), Field(ge=0, le=1 << 16)], Width]


class Nested(Object):
    """The enclosing object some expressions have."""

    value: "Expression"


def _listed(value: object) -> object:
    return [] if value == {} else value


class Vector(Object):
    """Several parameters in one. p4c writes {} where log_msg() has a text alone."""

    value: Annotated[Many["Expression"], BeforeValidator(_listed)]


class Other(Object):
    """A kind of operand that is refused by name where it is used."""

    type: Name


class Operation(Object):
    """An operation; unary ones have one of left and right."""

    op: Annotated[str, StringConstraints(min_length=1, max_length=limits.NAME)]
    left: "Expression | None" = None
    right: "Expression | None" = None
    cond: "Expression | None" = None


class Access(Object):
    """A field of a header by its index."""

    op: Literal["access_field"]
    left: "Expression"
    right: Index


_OPERANDS = {
    "hexstr": "<hexstr", "bool": "<bool", "field": "<field", "stack_field": "<field",
    "local": "<local", "runtime_data": "<local", "header": "<name", "header_stack": "<name",
    "calculation": "<name", "meter_array": "<name", "counter_array": "<name",
    "register_array": "<name", "regular": "<name", "stack": "<name", "string": "<string",
    "header_union": "<name", "header_union_stack": "<name", "union_stack": "<field",
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
    | Annotated[FieldName, Tag("<field")]
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


class Primitive(Object):
    op: Annotated[str, StringConstraints(min_length=1, max_length=limits.NAME)]
    parameters: Some[Expression]
