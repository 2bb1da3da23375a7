"""Values of BMv2 JSON, each with its range: names, numbers, lists."""

import re
from typing import Annotated, Literal, TypeGuard, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    FailFast,
    Field,
    Strict,
    StringConstraints,
    Tag,
)

from fcn.softswitch.engine.bmv2json import limits

TAG = "<"
"""Begins the tags of unions, which pydantic puts into the path of an error."""

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
Text = Annotated[str, StringConstraints(max_length=limits.STRING)]
_HEX = rf"-?0[xX][0-9a-fA-F]{{1,{limits.HEX_DIGITS}}}"
Hex = Annotated[str, StringConstraints(pattern=f"^{_HEX}$")]
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


def _flag(value: object) -> object:
    return bool(value) if type(value) is int and value in (0, 1) else value


Flag = Annotated[bool, Strict(), BeforeValidator(_flag)]
"""p4c writes 0 for the sign of a bool field."""
FieldPath = Annotated[list[Name], Field(min_length=2, max_length=2)]


class Object(BaseModel):
    """A JSON object; members that are not listed are never read."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", hide_input_in_errors=True, defer_build=True
    )


def is_hex(value: object) -> TypeGuard[str]:
    """Whether a value that may be of several kinds is a number."""
    return isinstance(value, str) and re.fullmatch(_HEX, value) is not None
