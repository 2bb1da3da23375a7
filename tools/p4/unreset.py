"""Moves p4c's local variables and temporaries out of what simple_switch clears for every packet.

simple_switch clears every metadata field for every packet, 640 instructions each, but no field of
a packet header. What is written before it is read, as assigned.py proves of locals and temporaries,
needs no clearing; the user's metadata does: the parser relies on its zeros. The others become
fields of a header that the parser makes valid, by the primitive of simple_switch that does not
clear it either, and no deparser emits.
"""

from typing import Any

from tools.p4.temporaries import SCALARS, Json, is_padding, padded, scalars_of

HEADER = "locals"
_HEADER_TYPE = "locals_t"


def unreset(program: Json) -> Json:
    """The program with its locals and temporaries in header `locals`.

    program: parsed BMv2 JSON; fields of the user's metadata have a dot in their name.
    """
    scalars = scalars_of(program)
    fields = [field for field in scalars["fields"] if not is_padding(field)]
    local = {field[0] for field in fields if "." not in field[0]}
    if not local:
        return program
    moved = _move(program, local)
    scalars_of(moved)["fields"] = padded([f for f in fields if f[0] not in local])
    types, headers = moved["header_types"], moved["headers"]
    apart = padded([f for f in fields if f[0] in local])
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


def _set_valid() -> Json:
    """The operation of a parser that makes the header valid."""
    add = {"op": "add_header_fast", "parameters": [{"type": "header", "value": HEADER}]}
    return {"op": "primitive", "parameters": [add]}


def _next_id(items: list[dict[str, Any]]) -> int:
    return 1 + max(int(item["id"]) for item in items)


def _move(part: Json, names: set[str]) -> Json:
    """A copy in which these scalars are fields of the header."""
    if isinstance(part, dict):
        return {key: _move(value, names) for key, value in part.items()}
    if isinstance(part, list):
        if len(part) == 2 and part[0] == SCALARS and part[1] in names:
            return [HEADER, part[1]]
        return [_move(value, names) for value in part]
    return part
