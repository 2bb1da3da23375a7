"""From octets to JSON values, with size and depth bounded first."""

import json
import re
from typing import Any

from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.errors import ProgramError

_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)
_OPENING = frozenset((b"[", b"{"))
_CLOSING = frozenset((b"]", b"}"))


def decode(data: bytes) -> dict[str, Any]:
    """The object the octets hold; raises ProgramError."""
    if len(data) > limits.TEXT_OCTETS:
        raise ProgramError(
            f"too large: {len(data)} octets, {limits.TEXT_OCTETS} are the most a program may have"
        )
    _check_depth(data)
    try:
        root = json.loads(data)
    except ValueError as error:
        raise ProgramError(f"not JSON: {error}; take the .json that p4c-bm2-ss wrote") from error
    if not isinstance(root, dict) or "pipelines" not in root:
        raise ProgramError("not BMv2 JSON: no 'pipelines' (compile with p4c-bm2-ss)")
    return root


def _check_depth(data: bytes) -> None:
    depth = 0
    for token in _TOKENS.finditer(data):
        found = token.group()
        if found in _OPENING:
            depth += 1
            if depth > limits.DEPTH:
                raise ProgramError(
                    f"too deep: more than {limits.DEPTH} arrays and objects within each other "
                    f"at octet {token.start()}"
                )
        elif found in _CLOSING:
            depth -= 1
