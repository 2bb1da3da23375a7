"""Counters, meters, registers, hashes, checksums and lists of fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, Strict, ValidationInfo

from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.bmv2json.expressions import Const, Expression, FieldPath
from fcn.softswitch.engine.bmv2json.headers import FieldRef, headers_of
from fcn.softswitch.engine.bmv2json.values import (
    Bool,
    Cells,
    Hex,
    Many,
    Name,
    Object,
    Some,
    Value,
    Width,
    check_fits,
    only,
    unsupported,
    wrong,
)

_HASHES = {
    name: name
    for name in ("crc16", "crc32", "crcCCITT", "csum16", "cksum16", "xor16", "xor32", "identity")
} | {"crc16_custom": "crc16", "crc32_custom": "crc32"}
"""Algorithm by its name in the JSON; custom CRCs have BMv2's initial parameters."""


# Arrays


def _sized(array: object) -> object:
    if isinstance(array, Mapping) and not array.get("is_direct") and "size" not in array:
        raise wrong("size: Field required")
    return array


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter array, or the counters of a table's entries."""

    name: Name
    direct: Annotated[Bool, Field(alias="is_direct")]
    size: Cells = 0
    binding: Name | None = None
    """The table of direct ones."""


@dataclass(frozen=True, slots=True)
class Meter:
    """A meter array, or the meters of a table's entries."""

    name: Name
    direct: Annotated[Bool, Field(alias="is_direct")]
    unit: Annotated[Literal["bytes", "packets"], Field(alias="type")]
    size: Cells = 0
    binding: Name | None = None
    rate_count: Annotated[int, Strict(), Field(ge=0, le=16)] = 2
    target: Annotated[FieldPath | None, Field(alias="result_target")] = None


@dataclass(frozen=True, slots=True)
class Register:
    """A register array."""

    name: Name
    size: Cells
    width: Annotated[Width, Field(alias="bitwidth")]


def _two_rates(meter: Meter) -> Meter:
    if meter.rate_count != 2:
        raise unsupported(f"meter {meter.name} with {meter.rate_count} rates")
    return meter


def _narrow(register: Register) -> Register:
    if register.width > limits.REGISTER_WIDTH:
        raise unsupported(
            f"register {register.name} of {register.width} bits (> {limits.REGISTER_WIDTH})"
        )
    return register


Counters = Many[Annotated[Counter, BeforeValidator(_sized)]]
Meters = Many[Annotated[Meter, BeforeValidator(_sized), AfterValidator(_two_rates)]]
Registers = Many[Annotated[Register, AfterValidator(_narrow)]]


# Hashes


@dataclass(frozen=True, slots=True)
class CalcInput:
    """An input of a calculation: field, header, payload, or a constant of `width` bits."""

    kind: str
    field: FieldRef | None = None
    header: str | None = None
    value: int = 0
    width: int = 0


class _Input(Object):
    type: Annotated[Name, only("hash input of type", "field", "header", "payload", "hexstr")]


class _Literal(Object):
    value: Hex
    bitwidth: Width


def _input(node: object, info: ValidationInfo) -> CalcInput:
    kind = _Input.model_validate(node).type
    if kind == "field":
        field = Value[FieldPath].model_validate(node, context=info.context).value
        return CalcInput(kind, field=field)
    if kind == "header":
        name = Value[Name].model_validate(node).value
        return CalcInput(kind, header=headers_of(info).whole(name))
    if kind == "hexstr":
        literal = _Literal.model_validate(node)
        check_fits("value", literal.value, literal.bitwidth)
        return CalcInput(kind, value=literal.value, width=literal.bitwidth)
    return CalcInput(kind)


Algorithm = Annotated[Name, only("hash algorithm", *_HASHES), AfterValidator(_HASHES.__getitem__)]
Inputs = Annotated[Many[Annotated[CalcInput, PlainValidator(_input)]], Field(alias="input")]


@dataclass(frozen=True, slots=True)
class Selector:
    """What chooses a member of a group."""

    algo: Algorithm
    inputs: Inputs


@dataclass(frozen=True, slots=True)
class Calculation:
    """A hash or checksum over inputs."""

    name: Name
    algo: Algorithm
    inputs: Inputs


@dataclass(frozen=True, slots=True)
class Checksum:
    """A checksum that is verified after parsing, updated before deparsing, or both."""

    name: Name
    type: Annotated[Name, only("checksum of type", "generic")]
    target: FieldPath
    calculation: Name
    verify: Bool = True
    update: Bool = True
    condition: Annotated[Expression | None, Field(alias="if_cond")] = None


# Lists of fields


class _Element(Object):
    type: Name = "op"


def _element(node: object, info: ValidationInfo) -> FieldRef | Const:
    kind = _Element.model_validate(node).type
    if kind == "field":
        return Value[FieldPath].model_validate(node, context=info.context).value
    if kind == "hexstr":
        return Const(Value[Hex].model_validate(node).value)
    raise unsupported(f"{kind} in a field list")


@dataclass(frozen=True, slots=True)
class FieldList:
    """Fields and literals of a digest, clone, resubmission or recirculation."""

    id: Annotated[int, Strict(), Field(ge=1, le=limits.ID)]
    name: Name
    fields: Annotated[
        Some[Annotated[FieldRef | Const, PlainValidator(_element)]], Field(alias="elements")
    ]


@dataclass(frozen=True, slots=True)
class LearnList:
    """Fields a digest reports, with the bits of each."""

    name: str
    fields: tuple[FieldRef | Const, ...]
    widths: tuple[int, ...]
