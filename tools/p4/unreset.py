"""Moves what needs no clearing out of what simple_switch clears for every packet.

simple_switch clears every metadata field for every packet, 640 instructions each, but no field of
a packet header. What is written before it is read, as assigned.py proves, needs no clearing. It
becomes a field of a header that the parser makes valid, by the primitive of simple_switch that does
not clear it either, and no deparser emits.
"""

from collections.abc import Collection, Mapping
from typing import Any

# A program in BMv2's JSON format, or a part of one.
Json = Any

SCALARS = "scalars"
STANDARD = "standard_metadata"
HEADER = "locals"
_HEADER_TYPE = "locals_t"


def locals_of(program: Json) -> set[str]:
    """p4c's local variables and temporaries among the scalars of a parsed BMv2 JSON."""
    return {name for name in scalars_of(program) if "." not in name}


def scalars_of(program: Json) -> set[str]:
    """The scalars of a parsed BMv2 JSON; fields of the user's metadata have a dot in their name."""
    return {field[0] for field in _scalars_of(program)["fields"] if not _is_padding(field)}


def flat(program: Json) -> Json:
    """The program with the fields of p4c's local structs as scalars.

    p4c makes metadata of its own of each local variable that is a struct.
    """
    kept = [h for h in program["headers"] if not h["metadata"] or h["name"] in (SCALARS, STANDARD)]
    structs = [header for header in program["headers"] if header not in kept]
    types = {each["name"]: each["fields"] for each in program["header_types"]}
    moved = {
        (header["name"], field[0]): [f"{header['name']}_{field[0]}", *field[1:]]
        for header in structs
        for field in types[header["header_type"]]
        if not _is_padding(field)
    }
    made = _renamed(program, {old: (SCALARS, new[0]) for old, new in moved.items()})
    made["headers"] = [header | {"id": number} for number, header in enumerate(kept)]
    fields = [field for field in _scalars_of(made)["fields"] if not _is_padding(field)]
    _scalars_of(made)["fields"] = _padded(fields + list(moved.values()))
    return made


def unreset(program: Json, names: Collection[str]) -> Json:
    """The program with these scalars in header `locals`."""
    fields = [field for field in _scalars_of(program)["fields"] if not _is_padding(field)]
    local = scalars_of(program) & set(names)
    if not local:
        return program
    moved = _renamed(program, {(SCALARS, name): (HEADER, name) for name in local})
    _scalars_of(moved)["fields"] = _padded([f for f in fields if f[0] not in local])
    types, headers = moved["header_types"], moved["headers"]
    apart = _padded([f for f in fields if f[0] in local])
    types.append({"name": _HEADER_TYPE, "id": _next_id(types), "fields": apart})
    headers.append(
        {
            "name": HEADER,
            "id": _next_id(headers),
            "header_type": _HEADER_TYPE,
            "metadata": False,
            "pi_omit": True,
        }
    )
    for parser in moved["parsers"]:
        (start,) = (s for s in parser["parse_states"] if s["name"] == parser["init_state"])
        start["parser_ops"].insert(0, _set_valid())
    return moved


def _scalars_of(program: Json) -> Json:
    """The header type of the scalars."""
    return next(t for t in program["header_types"] if t["name"].startswith(SCALARS))


def _is_padding(field: Json) -> bool:
    """Whether a field only fills a header up."""
    return str(field[0]).startswith("_padding")


def _padded(fields: list[Json]) -> list[Json]:
    """The fields of a header, padded to whole octets as BMv2 requires."""
    missing = -sum(width for _, width, _ in fields) % 8
    return [*fields, ["_padding_0", missing, False]] if missing else fields


def _set_valid() -> Json:
    """The operation of a parser that makes the header valid."""
    add = {"op": "add_header_fast", "parameters": [{"type": "header", "value": HEADER}]}
    return {"op": "primitive", "parameters": [add]}


def _next_id(items: list[dict[str, Any]]) -> int:
    return 1 + max(int(item["id"]) for item in items)


def _renamed(part: Json, names: Mapping[tuple[str, str], tuple[str, str]]) -> Json:
    """A copy in which these fields, by header and name, are others."""
    if isinstance(part, dict):
        return {key: _renamed(value, names) for key, value in part.items()}
    if isinstance(part, list):
        if len(part) == 2 and isinstance(part[0], str) and isinstance(part[1], str):
            return list(names.get((part[0], part[1]), part))
        return [_renamed(value, names) for value in part]
    return part
