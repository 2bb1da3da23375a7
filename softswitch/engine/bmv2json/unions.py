"""What a program says about header unions and stacks of them."""

from collections.abc import Iterable, Mapping
from typing import Any

from fcn.softswitch.engine.errors import ProgramError

Json = Mapping[str, Any]


def check_unions(root: Json) -> None:
    """Raises ProgramError unless every union and stack of unions has the headers of its type."""
    types = {t["name"]: t for t in root.get("header_union_types", [])}
    unions = root.get("header_unions", [])
    stacks = root.get("header_union_stacks", [])
    headers = {h["id"]: h for h in root["headers"]}
    for key in ("header_union_types", "header_unions", "header_union_stacks"):
        once(f"{key}, names", [x["name"] for x in root.get(key, [])])
    for i, htype in enumerate(root.get("header_union_types", [])):
        once(f"header_union_types[{i}].headers", [name for name, _ in htype["headers"]])
    once("header_unions, ids", [u["id"] for u in unions])
    in_unions = [i for u in unions for i in u["header_ids"]]
    in_stacks = [i for s in root["header_stacks"] for i in s["header_ids"]]
    once("header_unions and header_stacks, header_ids", in_unions + in_stacks)
    for i, union in enumerate(unions):
        wanted = _type(f"header_unions[{i}]", union, types)["headers"]
        found = [headers.get(number) for number in union["header_ids"]]
        if [h and not h["metadata"] and h["header_type"] for h in found] != [t for _, t in wanted]:
            raise ProgramError(
                f"header_unions[{i}].header_ids: these are not the headers of {union['union_type']}"
            )
    by_id = {u["id"]: u for u in unions}
    once(
        "header_union_stacks, header_union_ids", [i for s in stacks for i in s["header_union_ids"]]
    )
    for i, stack in enumerate(stacks):
        where = f"header_union_stacks[{i}]"
        _type(where, stack, types)
        for number in stack["header_union_ids"]:
            if number not in by_id or by_id[number]["union_type"] != stack["union_type"]:
                raise ProgramError(
                    f"{where}.header_union_ids: {number} is no union of type {stack['union_type']}"
                )


def _type(where: str, owner: Json, types: Mapping[str, Json]) -> Json:
    if owner["union_type"] not in types:
        raise ProgramError(f"{where}: there is no header union type {owner['union_type']!r}")
    return types[owner["union_type"]]


def once(where: str, values: Iterable[object]) -> None:
    """Raises ProgramError for a value that is there twice."""
    seen = set()
    for value in values:
        if value in seen:
            raise ProgramError(f"{where}: {value!r} is there twice")
        seen.add(value)
