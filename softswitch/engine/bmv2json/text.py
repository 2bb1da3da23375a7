"""From octets to JSON values, with size and depth bounded first."""

import json
import re
from itertools import accumulate
from typing import Any

from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.errors import ProgramError

# A string without an end reaches to the end of the text, so that every character is read once.
_NO_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[^"\[\]{}]++', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


def decode(data: bytes) -> dict[str, Any]:
    """The object the octets hold; raises ProgramError."""
    if len(data) > limits.TEXT_OCTETS:
        raise ProgramError(
            f"too large: {len(data)} octets, {limits.TEXT_OCTETS} are the most a program may have"
        )
    try:
        # Python would also take UTF-16 and UTF-32, which RFC 8259 section 8.1 does not.
        text = data.decode()
        _check_depth(text)
        root = json.loads(text)
    except ValueError as error:
        raise ProgramError(f"not JSON: {error}; take the .json that p4c-bm2-ss wrote") from error
    if not isinstance(root, dict) or "pipelines" not in root:
        raise ProgramError("not BMv2 JSON: no 'pipelines' (compile with p4c-bm2-ss)")
    return root


def _check_depth(text: str) -> None:
    steps = map(_STEPS.__getitem__, _NO_BRACKETS.sub("", text))
    if max(accumulate(steps), default=0) > limits.DEPTH:
        raise ProgramError(
            f"too deep: more than {limits.DEPTH} arrays and objects within each other"
        )
