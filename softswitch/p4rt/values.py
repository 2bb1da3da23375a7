"""Byte strings and P4Data (P4Runtime 1.4, Bytestrings and Representation of Arbitrary P4 Types)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat

from finsy.proto import p4d, p4i, p4t

from fcn.softswitch.p4rt.errors import invalid_argument, out_of_range, unimplemented


def decode_uint(data: bytes, width: int, what: str) -> int:
    """Value of a big-endian byte string of any length for bit<width>.

    Raises OUT_OF_RANGE when it is empty or needs more than `width` bits.
    """
    if not data:
        raise out_of_range(f"{what}: the byte string is empty; send at least one byte")
    value = int.from_bytes(data, "big")
    if value.bit_length() > width:
        raise out_of_range(f"{what}: {value:#x} does not fit bit<{width}>")
    return value


def encode_uint(value: int) -> bytes:
    """Shortest big-endian byte string of an unsigned value; zero is one zero byte."""
    return value.to_bytes((value.bit_length() + 7) // 8 or 1, "big")


def decode_sint(data: bytes, width: int, what: str) -> int:
    """Two's complement bits (0 <= result < 2**width) of a byte string for int<width>."""
    if not data:
        raise out_of_range(f"{what}: the byte string is empty; send at least one byte")
    value = int.from_bytes(data, "big", signed=True)
    if not -(1 << (width - 1)) <= value < 1 << (width - 1):
        raise out_of_range(f"{what}: {value} does not fit int<{width}>")
    return value % (1 << width)


def encode_sint(bits: int, width: int) -> bytes:
    """Shortest two's complement byte string of int<width> given as its bits."""
    value = bits - (1 << width) if bits >> (width - 1) else bits
    needed = (value if value >= 0 else -value - 1).bit_length() + 1
    return value.to_bytes((needed + 7) // 8, "big", signed=True)


@dataclass(frozen=True, slots=True)
class Scalar:
    """One integer of `width` bits; `kind` is "uint", "sint", "bool" or "enum"."""

    width: int
    kind: str = "uint"

    def encode(self, values: Iterator[int]) -> p4d.P4Data:
        data = p4d.P4Data()
        self.put(data, next(values))
        return data

    def put(self, data: p4d.P4Data, value: int) -> None:
        match self.kind:
            case "uint":
                data.bitstring = encode_uint(value)
            case "bool":
                data.bool = bool(value)
            case "enum":
                data.enum_value = encode_uint(value)
            case _:
                data.bitstring = encode_sint(value, self.width)

    def leaves(self, data: p4d.P4Data) -> Iterator[tuple["Scalar", p4d.P4Data]]:
        yield self, data

    def decode(self, data: p4d.P4Data, what: str) -> int:
        """Value of a P4Data; INVALID_ARGUMENT when it is of another kind."""
        given = data.WhichOneof("data")
        wanted = {"bool": "bool", "enum": "enum_value"}.get(self.kind, "bitstring")
        if given != wanted:
            raise invalid_argument(f"{what}: P4Data must be {wanted}, got {given}")
        if self.kind == "bool":
            return int(data.bool)
        raw = data.enum_value if self.kind == "enum" else data.bitstring
        if self.kind == "sint":
            return decode_sint(raw, self.width, what)
        return decode_uint(raw, self.width, what)

    def widths(self) -> tuple[int, ...]:
        """Widths in bits of the flattened integers."""
        return (self.width,)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A struct or a tuple of other types, flattened in declaration order."""

    members: tuple["Scalar | Aggregate", ...]
    is_struct: bool

    def encode(self, values: Iterator[int]) -> p4d.P4Data:
        inner = p4d.P4StructLike(members=[member.encode(values) for member in self.members])
        return p4d.P4Data(struct=inner) if self.is_struct else p4d.P4Data(tuple=inner)

    def leaves(self, data: p4d.P4Data) -> Iterator[tuple[Scalar, p4d.P4Data]]:
        """The integers in declaration order, each with the P4Data of its value."""
        inner = data.struct if self.is_struct else data.tuple
        for member, value in zip(self.members, inner.members, strict=True):
            yield from member.leaves(value)

    def widths(self) -> tuple[int, ...]:
        """Widths in bits of the flattened integers."""
        return tuple(width for member in self.members for width in member.widths())


DataType = Scalar | Aggregate


class Form:
    """P4Data of a type that is filled in again and again: to make one takes three times as long."""

    def __init__(self, shape: DataType) -> None:
        self._data = shape.encode(repeat(0))
        self._leaves = tuple(shape.leaves(self._data))

    def fill(self, values: Iterable[int]) -> p4d.P4Data:
        """P4Data of these integers, until the next call; copy it to keep it."""
        for (scalar, data), value in zip(self._leaves, values, strict=True):
            scalar.put(data, value)
        return self._data


def data_type(spec: p4t.P4DataTypeSpec, info: p4t.P4TypeInfo, what: str) -> DataType:
    """Resolve a P4Info type; UNIMPLEMENTED for varbit, headers, unions, stacks and plain enums."""
    kind = spec.WhichOneof("type_spec")
    match kind:
        case "bitstring":
            match spec.bitstring.WhichOneof("type_spec"):
                case "bit":
                    return Scalar(spec.bitstring.bit.bitwidth)
                case "int":
                    return Scalar(spec.bitstring.int.bitwidth, "sint")
        case "bool":
            return Scalar(1, "bool")
        case "serializable_enum":
            enum = info.serializable_enums[spec.serializable_enum.name]
            return Scalar(enum.underlying_type.bitwidth, "enum")
        case "new_type":
            new_type = info.new_types[spec.new_type.name]
            if new_type.HasField("original_type"):
                return data_type(new_type.original_type, info, what)
        case "struct":
            members = info.structs[spec.struct.name].members
            return Aggregate(tuple(data_type(m.type_spec, info, what) for m in members), True)
        case "tuple":
            return Aggregate(tuple(data_type(m, info, what) for m in spec.tuple.members), False)
    raise unimplemented(f"{what}: values of type {kind} are not supported")


def is_translated(name: p4t.P4NamedType, info: p4i.P4Info) -> bool:
    """Whether a named type carries @p4runtime_translation."""
    new_type = info.type_info.new_types.get(name.name)
    return new_type is not None and new_type.HasField("translated_type")
