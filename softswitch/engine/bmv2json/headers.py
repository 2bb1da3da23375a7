"""Headers, metadata, stacks, unions and value sets: what all other parts of a program name."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, Strict, ValidationInfo

from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.bmv2json.values import (
    Bool,
    Entries,
    FieldWidth,
    Flag,
    Id,
    Many,
    Name,
    Object,
    Width,
    unsupported,
    wrong,
)
from fcn.softswitch.engine.errors import ProgramError, UnsupportedError

VALID = "$valid$"
"""The field of a header that is its validity."""


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

    @property
    def bits(self) -> int:
        """With the longest varbit."""
        return sum(f.width for f in self.fields)


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
class ValueSet:
    """Values the control plane sets: a key's fields one after another, `width` bits together."""

    name: Name
    width: Annotated[Width, Field(alias="compressed_bitwidth")]
    size: Annotated[Entries, Field(alias="max_size")]


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field of a header instance; the field `$valid$` is the header's validity."""

    header: str
    field: str


# The JSON


def _padded(field: object) -> object:
    if isinstance(field, list) and 2 <= len(field) < 4:
        return field + [False] * (4 - len(field))
    return field


class _Type(Object):
    """Fields: [name, width or "*" (varbit), signed, saturating]; the last two may be left out."""

    name: Name
    fields: Many[Annotated[tuple[Name, FieldWidth, Flag, Flag], BeforeValidator(_padded)]]
    max_length: Annotated[int, Strict(), Field(ge=0, le=limits.HEADER_OCTETS)] | None = None
    length_exp: Any = None


def _header_type(value: object) -> HeaderType:
    found = _Type.model_validate(value)
    fixed = sum(width for _, width, _, _ in found.fields if width != "*")
    varbits = sum(width == "*" for _, width, _, _ in found.fields)
    longest = found.max_length or 0
    if varbits and longest * 8 < max(fixed, 1):
        raise wrong(f"max_length: a varbit needs a length of at least the {fixed} other bits")
    if fixed > limits.HEADER_OCTETS * 8:
        raise wrong(f"{(fixed + 7) // 8} octets, {limits.HEADER_OCTETS} at most")
    if varbits > 1:
        raise unsupported(f"two varbit fields in header type {found.name}")
    if found.length_exp:
        raise unsupported(f"length expression of header type {found.name}")
    fields = {}
    for name, width, signed, saturating in found.fields:
        if saturating:
            raise unsupported(f"saturating field {found.name}.{name}")
        if name in fields:
            raise wrong(f"fields: {name!r} is there twice")
        bits = longest * 8 - fixed if width == "*" else width
        fields[name] = FieldType(name, bits, signed, width == "*")
    return HeaderType(found.name, tuple(fields.values()))


class _Header(Object):
    name: Name
    id: Id
    header_type: Name
    metadata: Bool


class _Stack(Object):
    name: Name
    header_type: Name
    header_ids: Annotated[list[Id], Field(max_length=limits.STACK)]


class _UnionType(Object):
    name: Name
    headers: Annotated[list[tuple[Name, Name]], Field(min_length=1, max_length=limits.UNION)]


class _Union(Object):
    """A union and its headers by identifier, in the order of its type."""

    name: Name
    id: Id
    union_type: Name
    header_ids: Annotated[list[Id], Field(max_length=limits.UNION)]


class _UnionStack(Object):
    name: Name
    union_type: Name
    header_union_ids: Annotated[list[Id], Field(min_length=1, max_length=limits.STACK)]


class Declared(Object):
    """What a program declares of headers."""

    header_types: Many[Annotated[HeaderType, PlainValidator(_header_type)]]
    headers: Many[_Header]
    header_stacks: Many[_Stack]
    header_union_types: Many[_UnionType] = ()
    header_unions: Many[_Union] = ()
    header_union_stacks: Many[_UnionStack] = ()
    parse_vsets: Many[ValueSet] = ()


# What it says


def once(where: str, values: Iterable[object]) -> None:
    """Raises ProgramError for a value that is there twice."""
    for value, times in Counter(values).items():
        if times > 1:
            raise ProgramError(f"{where}: {value!r} is there twice")


def known(where: str, name: object, names: Iterable[object], what: str) -> None:
    """Raises ProgramError for a name of nothing."""
    if name not in names:
        raise ProgramError(f"{where}: there is no {what} {name!r}")


class Headers:
    """The headers of a program, by name. What is read later asks here for each that it names.

    A union is its headers. A stack of unions is one header stack per header of their type, which
    `union_stacks` lists by that header's name; those stacks have the next index of the first.
    """

    def __init__(self, declared: Declared) -> None:
        """Raises ProgramError where what is declared contradicts itself."""
        self.types = {t.name: t for t in declared.header_types}
        self._fields = {t.name: {f.name: f for f in t.fields} for t in self.types.values()}
        self.headers: dict[str, Header] = {}
        self.stacks: dict[str, Stack] = {}
        self.unions: dict[str, tuple[str, ...]] = {}
        self.union_stacks: dict[str, dict[str, str]] = {}
        self.value_sets = {s.name: s for s in declared.parse_vsets}
        self._distinct(declared)
        self._instances(declared)
        self._stacks(declared)
        self._unions(declared)

    @staticmethod
    def _distinct(declared: Declared) -> None:
        for key in ("header_types", "parse_vsets", "header_union_types", "header_unions",
                    "header_union_stacks"):  # fmt: skip
            once(f"{key}, names", (x.name for x in getattr(declared, key)))
        names = [h.name for h in declared.headers] + [s.name for s in declared.header_stacks]
        once("headers and header_stacks, names", names)
        once("headers, ids", (h.id for h in declared.headers))
        once("header_unions, ids", (u.id for u in declared.header_unions))
        for i, u in enumerate(declared.header_union_types):
            once(f"header_union_types[{i}].headers", (name for name, _ in u.headers))
        once(
            "header_unions and header_stacks, header_ids",
            [n for u in declared.header_unions for n in u.header_ids]
            + [n for s in declared.header_stacks for n in s.header_ids],
        )
        once(
            "header_union_stacks, header_union_ids",
            (n for s in declared.header_union_stacks for n in s.header_union_ids),
        )

    def _instances(self, declared: Declared) -> None:
        for i, h in enumerate(declared.headers):
            known(f"headers[{i}].header_type", h.header_type, self.types, "header type")
            self.headers[h.name] = Header(h.name, self.types[h.header_type], h.metadata)
        octets = sum((h.type.bits + 7) // 8 for h in self.headers.values())
        if octets > limits.PHV_OCTETS:
            raise ProgramError(
                f"headers: {octets} octets of headers and metadata, {limits.PHV_OCTETS} at most"
            )
        for name, header in self.headers.items():
            if not header.metadata and header.type.bits % 8:
                raise UnsupportedError(f"header {name} is not a whole number of bytes")

    def _stacks(self, declared: Declared) -> None:
        by_id = {h.id: h for h in declared.headers}
        for i, stack in enumerate(declared.header_stacks):
            known(f"header_stacks[{i}]", stack.header_type, self.types, "header type")
            for k, number in enumerate(stack.header_ids):
                where = f"header_stacks[{i}].header_ids[{k}]"
                known(where, number, by_id, "header with id")
                header = by_id[number]
                if header.metadata or header.header_type != stack.header_type:
                    raise ProgramError(
                        f"{where}: {header.name} is no header of type {stack.header_type}"
                    )
            names = tuple(by_id[number].name for number in stack.header_ids)
            self.stacks[stack.name] = Stack(stack.name, self.types[stack.header_type], names)

    def _unions(self, declared: Declared) -> None:
        headers = {h.id: h for h in declared.headers if not h.metadata}
        types = {t.name: [kind for _, kind in t.headers] for t in declared.header_union_types}
        members = {t.name: [name for name, _ in t.headers] for t in declared.header_union_types}
        for i, union in enumerate(declared.header_unions):
            known(f"header_unions[{i}]", union.union_type, types, "header union type")
            found = [headers.get(number) for number in union.header_ids]
            if [h and h.header_type for h in found] != types[union.union_type]:
                raise ProgramError(
                    f"header_unions[{i}].header_ids: these are not the headers of "
                    f"{union.union_type}"
                )
            self.unions[union.name] = tuple(h.name for h in found if h)
        by_id = {u.id: u for u in declared.header_unions}
        for i, stack in enumerate(declared.header_union_stacks):
            known(f"header_union_stacks[{i}]", stack.union_type, types, "header union type")
            for number in stack.header_union_ids:
                if number not in by_id or by_id[number].union_type != stack.union_type:
                    raise ProgramError(
                        f"header_union_stacks[{i}].header_union_ids: {number} is no union of type "
                        f"{stack.union_type}"
                    )
            unions = [self.unions[by_id[number].name] for number in stack.header_union_ids]
            # No name of the JSON has a star.
            own = {member: f"{stack.name}*{member}" for member in members[stack.union_type]}
            self.union_stacks[stack.name] = own
            elements = zip(*unions, strict=True)
            for name, kind, names in zip(
                own.values(), types[stack.union_type], elements, strict=True
            ):
                self.stacks[name] = Stack(name, self.types[kind], names)

    def header(self, name: str) -> Header:
        if name not in self.headers:
            raise wrong(f"unknown header {name!r}")
        return self.headers[name]

    def whole(self, name: str) -> str:
        """The name of a header or metadata that can be a part of a packet."""
        if self.header(name).type.bits % 8:
            raise unsupported(f"{name}, not a whole number of bytes, as octets of a packet")
        return name

    def field(self, pair: tuple[str, str]) -> FieldRef:
        header, field = pair
        fields = self._fields[self.header(header).type.name]
        if field != VALID and field not in fields:
            raise wrong(f"unknown field {header}.{field}")
        return FieldRef(header, field)

    def width(self, ref: FieldRef) -> int | None:
        """Bits of a field; None is a varbit."""
        if ref.field == VALID:
            return 1
        field = self._fields[self.headers[ref.header].type.name][ref.field]
        return None if field.varbit else field.width

    def stack(self, name: str) -> str:
        """The name of a header stack."""
        if name not in self.stacks:
            raise wrong(f"unknown header stack {name!r}")
        return name

    def union_stack(self, name: str) -> Mapping[str, str]:
        """The header stacks of a stack of unions."""
        if name not in self.union_stacks:
            raise wrong(f"unknown stack of header unions {name!r}")
        return self.union_stacks[name]


def headers_of(info: ValidationInfo) -> Headers:
    """Those of the program that is being read."""
    assert isinstance(info.context, Headers)
    return info.context
