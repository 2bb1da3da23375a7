"""The field a table's key has its width from."""

from collections.abc import Mapping
from typing import Any

from fcn.softswitch.engine.errors import ProgramError, UnsupportedError

Json = Mapping[str, Any]
_INDEXED = "dereference_header_stack"


def key_field(root: Json, where: str, target: list[str] | Json) -> list[str]:
    """Header and field of a key; for a stack's element at a run-time index, those of its first.

    Raises UnsupportedError for every other expression, ProgramError for what does not exist.
    """
    if isinstance(target, list):
        return target
    access = _inner(target)
    element = _inner(access.get("left") if access.get("op") == "access_field" else None)
    stack = _inner(element.get("left") if element.get("op") == _INDEXED else None)
    if stack.get("type") != "header_stack":
        raise UnsupportedError(
            f"{where}: a key that is an expression other than stack[index].field"
        )
    for found in root["header_stacks"]:
        if found["name"] == stack["value"] and found["header_ids"]:
            name = next(h["name"] for h in root["headers"] if h["id"] == found["header_ids"][0])
            htype = next(t for t in root["header_types"] if t["name"] == found["header_type"])
            if access["right"] < len(htype["fields"]):
                return [name, htype["fields"][access["right"]][0]]
    raise ProgramError(f"{where}: there is no such stack, or no such field of its headers")


def _inner(node: Json | None) -> Json:
    """An expression without the objects of type "expression" around it."""
    while node is not None and node.get("type") == "expression" and "op" not in node:
        node = node.get("value")
    return node or {}
