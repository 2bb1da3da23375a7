"""A program's JSON, read and checked."""

from typing import Any

from pydantic import ValidationError

from fcn.softswitch.engine.bmv2json.references import check_references
from fcn.softswitch.engine.bmv2json.schema import Program
from fcn.softswitch.engine.bmv2json.text import decode
from fcn.softswitch.engine.bmv2json.values import TAG
from fcn.softswitch.engine.errors import ProgramError

_SHOWN = 3
_VALUE_SHOWN = 60


def read_program(data: bytes) -> dict[str, Any]:
    """The JSON of a program, every value of which is within its limits and refers to what exists.

    Raises ProgramError, or UnsupportedError for what BMv2 has and the engine does not, naming the
    place.
    """
    root = decode(data)
    check_program(root)
    return root


def check_program(root: dict[str, Any]) -> None:
    """Raises ProgramError naming the places where the JSON of a program is wrong."""
    try:
        Program.model_validate(root)
    except ValidationError as error:
        raise ProgramError(f"malformed BMv2 JSON: {_explain(error)}") from error
    check_references(root)


def prepare() -> None:
    """Make the checks of a program now, not for the first one."""
    Program.model_rebuild()


def _explain(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False)
    shown = [f"{_place(p['loc'])}: {p['msg']}{_value(p['input'])}" for p in problems[:_SHOWN]]
    more = len(problems) - _SHOWN
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def _place(loc: tuple[int | str, ...]) -> str:
    """A path into the JSON: actions[3].primitives[0].op."""
    out = ""
    for step in loc:
        if isinstance(step, int):
            out += f"[{step}]"
        elif not step.startswith(TAG):
            out += f".{step!r}" if not step.isidentifier() else f".{step}" if out else step
    return out


def _value(value: object) -> str:
    if isinstance(value, (str, int, float, bool)):
        return f" (it is {_shortened(repr(value))})"
    return ""


def _shortened(text: str) -> str:
    return text if len(text) <= _VALUE_SHOWN else text[:_VALUE_SHOWN] + "..."
