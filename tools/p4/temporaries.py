"""Merges p4c's temporaries for hashes and digests into shared scalars.

p4c copies every element of a `hash` or `digest` list into a separate scalar (class
RemoveComplexExpressions of its BMv2 back end), and simple_switch clears every scalar for every
packet. Two temporaries of the same width can share a scalar when neither value is needed after the
next assignment of the other:

- those of a hash are assigned and used in one action only;
- those of a digest are read at the end of ingress, for the last digest the packet generated, and
  are assigned in the action that generates the digest.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

SCALARS = "scalars"
TEMPORARY = "tmp"
# A program in BMv2's JSON format, or a part of one.
Json = Any


def shared(program: Json) -> Json:
    """The program, with temporaries of hashes and of digests in shared scalars per width.

    program: parsed BMv2 JSON as written by p4c; only names and number of scalars are changed.
    """
    fields = scalars_of(program)["fields"]
    widths = {name: width for name, width, *_ in fields}
    names = {**_of_hashes(program, widths), **_of_digests(program, widths)}
    renamed = _rename(program, names)
    kept = [field for field in fields if field[0] not in names]
    added = {shared_name: [shared_name, widths[name], False] for name, shared_name in names.items()}
    scalars_of(renamed)["fields"] = padded(
        [f for f in kept if not is_padding(f)] + list(added.values())
    )
    return renamed


def scalars_of(program: Json) -> Json:
    """The header type of the scalars."""
    return next(t for t in program["header_types"] if t["name"].startswith(SCALARS))


def is_padding(field: Json) -> bool:
    """Whether a field only fills a header up."""
    return str(field[0]).startswith("_padding")


def padded(fields: list[Json]) -> list[Json]:
    """The fields of a header, padded to whole octets as BMv2 requires."""
    missing = -sum(width for _, width, _ in fields) % 8
    return [*fields, ["_padding_0", missing, False]] if missing else fields


def _of_hashes(program: Json, widths: dict[str, int]) -> dict[str, str]:
    """Shared names of the temporaries used in one action only, directly or in calculations."""
    inputs = {each["name"]: Counter(_scalars(each["input"])) for each in program["calculations"]}
    callers: Counter[str] = Counter()
    uses: dict[str, Counter[str]] = {}
    for action in program["actions"]:
        called = list(_calculations(action))
        callers.update(called)
        uses[action["id"]] = sum(
            (inputs[name] for name in called), Counter(_scalars(action["primitives"]))
        )
    everywhere = Counter(_scalars(program))
    names = {}
    for action in program["actions"]:
        if any(callers[name] != 1 for name in _calculations(action)):
            continue
        numbers: Counter[int] = Counter()
        for name, count in uses[action["id"]].items():
            local = count == everywhere[name] and _assigned_first(action, name)
            if name.startswith(TEMPORARY) and local:
                names[name] = f"hash_{widths[name]}_{numbers[widths[name]]}"
                numbers[widths[name]] += 1
    return names


def _of_digests(program: Json, widths: dict[str, int]) -> dict[str, str]:
    """Shared names of the temporaries that are elements of digests."""
    everywhere = Counter(_scalars(program))
    names = {}
    for learn_list in program["learn_lists"]:
        elements = Counter(_scalars(learn_list["elements"]))
        generating = [a for a in program["actions"] if learn_list["id"] in _digests(a)]
        if len(generating) != 1:
            continue
        (action,) = generating
        in_action = Counter(_scalars(action["primitives"]))
        numbers: Counter[int] = Counter()
        for name in elements:
            local = elements[name] + in_action[name] == everywhere[name]
            if name.startswith(TEMPORARY) and local and _assigned_first(action, name):
                names[name] = f"digest_{widths[name]}_{numbers[widths[name]]}"
                numbers[widths[name]] += 1
    return names


def _assigned_first(action: Json, name: str) -> bool:
    """Whether the action assigns the scalar before it reads it."""
    for primitive in action["primitives"]:
        if name in _scalars(primitive):
            target, *sources = primitive["parameters"]
            return (
                primitive["op"] == "assign"
                and target["value"] == [SCALARS, name]
                and name not in _scalars(sources)
            )
        if list(_calculations({"primitives": [primitive]})):
            return False
    return False


def _calculations(action: Json) -> Iterator[str]:
    """Names of the calculations an action performs."""
    for primitive in action["primitives"]:
        for parameter in primitive["parameters"]:
            if parameter["type"] == "calculation":
                yield parameter["value"]


def _digests(action: Json) -> set[int]:
    """Numbers of the learn lists an action generates."""
    return {
        int(primitive["parameters"][1]["value"], 16)
        for primitive in action["primitives"]
        if primitive["op"] == "generate_digest"
    }


def _scalars(part: Json) -> Iterator[str]:
    """Every scalar referenced in a part of the program, with repetitions."""
    if isinstance(part, dict):
        for value in part.values():
            yield from _scalars(value)
    elif isinstance(part, list):
        if len(part) == 2 and part[0] == SCALARS and isinstance(part[1], str):
            yield part[1]
        else:
            for value in part:
                yield from _scalars(value)


def _rename(part: Json, names: dict[str, str]) -> Json:
    """A copy in which scalars are renamed."""
    if isinstance(part, dict):
        return {key: _rename(value, names) for key, value in part.items()}
    if isinstance(part, list):
        if len(part) == 2 and part[0] == SCALARS and part[1] in names:
            return [SCALARS, names[part[1]]]
        return [_rename(value, names) for value in part]
    return part
