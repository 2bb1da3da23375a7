"""Values of BMv2 JSON, each with its range: names, numbers, lists."""

from typing import Annotated, Generic, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    FailFast,
    Field,
    Strict,
    StringConstraints,
    Tag,
    TypeAdapter,
)
from pydantic_core import PydanticCustomError

from fcn.softswitch.engine.bmv2json import limits

TAG = "<"
"""Begins the tags of unions, which pydantic puts into the path of an error."""
UNSUPPORTED = "unsupported"
"""The type of errors that tell what BMv2 has and the engine does not."""

T = TypeVar("T")
# One error is told. A list is left at its first, since each takes memory.
Many = Annotated[tuple[T, ...], Field(max_length=limits.OBJECTS), FailFast()]
"""Objects of a list."""
Some = Annotated[tuple[T, ...], Field(max_length=256), FailFast()]
"""Fields of a key, arguments of an action, elements of a field list."""
Name = Annotated[
    str,
    StringConstraints(max_length=limits.NAME, pattern=r'^[A-Za-z_$][^\p{C}\p{Zl}\p{Zp}"\\;`]*$'),
]
"""Without quotation marks, backslashes, semicolons, backticks and what is not printed."""
Label = Annotated[str, StringConstraints(max_length=limits.NAME, pattern=r"^[ -~]*$")]
Word = Annotated[str, StringConstraints(min_length=1, max_length=limits.NAME)]
"""An operation; refused by name where there is none of that name."""
Text = Annotated[str, StringConstraints(max_length=limits.STRING)]
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
Pair = tuple[Name, Name]
"""A header and its field."""
_DIGITS: TypeAdapter[str] = TypeAdapter(
    Annotated[str, StringConstraints(pattern=rf"^-?0[xX][0-9a-fA-F]{{1,{limits.HEX_DIGITS}}}$")]
)


def _number(value: object) -> int:
    return int(_DIGITS.validate_python(value), 16)


Hex = Annotated[int, BeforeValidator(_number)]


def _flag(value: object) -> object:
    return bool(value) if type(value) is int and value in (0, 1) else value


Flag = Annotated[bool, Strict(), BeforeValidator(_flag)]
"""p4c writes 0 for the sign of a bool field."""


class Object(BaseModel):
    """A JSON object; members that are not listed are never read."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", hide_input_in_errors=True, defer_build=True
    )


class Value(Object, Generic[T]):
    """An object whose value is of one type."""

    value: T


class Parameters(Object, Generic[T]):
    """A call whose parameters are of known types."""

    parameters: T


def wrong(text: str) -> PydanticCustomError:
    """An error of a value being read; its place is put before the text."""
    return PydanticCustomError("wrong", "{text}", {"text": text})


def unsupported(text: str) -> PydanticCustomError:
    """As wrong(), for what BMv2 has and the engine does not."""
    return PydanticCustomError(UNSUPPORTED, "{text}", {"text": text})


def only(what: str, *words: str) -> AfterValidator:
    """One of the words that the engine understands."""

    def check(word: str) -> str:
        if word not in words:
            raise unsupported(f"{what} {word!r}")
        return word

    return AfterValidator(check)


def check_fits(where: str, value: int, width: int) -> None:
    """Raises wrong() unless the number has at most `width` bits."""
    if not 0 <= value < 1 << width:
        raise wrong(f"{where}: {value:#x} does not fit {width} bits")
