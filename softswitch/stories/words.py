"""Names and values as the P4 source has them, where p4c's JSON has others."""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fcn.contract.names import COUNTERS, named_cells
from fcn.softswitch.engine import model as m

_FLATTENED = re.compile(r"(?:(.+)\.)?_(.+?)(\d+)$", re.ASCII)
_ADDRESS = re.compile(r"addr|src|dst|ip$|^ip|next_hop|target", re.IGNORECASE)
_FCN_COUNTERS = frozenset({"drops", "ecn_marked"})


def flattened(names: Iterable[str]) -> dict[str, str]:
    """p4c writes the member `a.b` of a struct as `_a_b7`, 7 being its place: without these."""
    found = {}
    last = -1
    for name in names:
        match = _FLATTENED.match(name)
        if match is None:
            found[name] = name
            continue
        struct, member, digits = match.groups()
        ends = [digits[i:] for i in range(len(digits) - 1, -1, -1)]
        place = next((e for e in ends if str(int(e)) == e and int(e) > last), digits)
        last = int(place)
        plain = f"{member}{digits}".removesuffix(place)
        found[name] = plain if struct is None else f"{_struct(struct)}.{plain}"
    return found


def _struct(name: str) -> str:
    return "meta" if re.search(r"meta", name, re.IGNORECASE) else name


def number(value: int, width: int) -> str:
    """A number: small ones decimal, others hexadecimal."""
    return str(value) if width <= 16 and value < 10_000 else f"{value:#x}"


@lru_cache(maxsize=1 << 14)
def value(name: str, bits: int, width: int) -> str:
    """A field's value: addresses as such."""
    if (width == 48 and _ADDRESS.search(name)) or (width == 48 and name.endswith("mac")):
        return ":".join(f"{octet:02x}" for octet in bits.to_bytes(6, "big"))
    if width == 32 and _ADDRESS.search(name):
        return str(ipaddress.IPv4Address(bits))
    if width == 128 and (_ADDRESS.search(name) or "segment" in name or "sid" in name):
        return str(ipaddress.IPv6Address(bits))
    return number(bits, width)


@dataclass(frozen=True)
class Sources:
    """Texts of the P4 source by node of the control flow, `FILE:LINE` of each, and the statements
    of each action."""

    texts: Mapping[str, str]
    places: Mapping[str, str]
    statements: Mapping[int, str]


def sources(program: dict[str, Any]) -> Sources:
    """Those that p4c noted in the JSON of a program, whose notes nobody has checked."""
    texts: dict[str, str] = {}
    places: dict[str, str] = {}
    for pipeline in program.get("pipelines", ()):
        nodes = (*pipeline["conditionals"], *pipeline["tables"], *pipeline.get("action_calls", ()))
        for node in nodes:
            name = f"{pipeline['name']}/{node['name']}"
            texts[name], places[name] = _noted(node)
    statements = {
        action["id"]: "; ".join(dict.fromkeys(filter(None, (_noted(p)[0] for p in primitives))))
        for action in program.get("actions", ())
        for primitives in [action["primitives"]]
    }
    return Sources(texts, places, statements)


def _noted(node: dict[str, Any]) -> tuple[str, str]:
    """Text and place, in one line each, of what can be printed."""
    info = node.get("source_info")
    if not isinstance(info, dict):
        return "", ""
    text, file, line = (info.get(part) for part in ("source_fragment", "filename", "line"))
    place = f"{file.rpartition('/')[2]}:{line}" if isinstance(file, str) and file else ""
    return _printed(text), _printed(place)


def _printed(text: object) -> str:
    words = " ".join(text.split()) if isinstance(text, str) else ""
    return "".join(c if c.isprintable() else "?" for c in words)


def cell_names(model: m.Model) -> dict[str, dict[int, str]]:
    """Of the programs of fcn the names of counters' cells, by the counter's name."""
    short = {name: name.rpartition(".")[2] for name in model.counters}
    if not set(short.values()) >= _FCN_COUNTERS:
        return {}
    return {name: named_cells(each) for name, each in short.items() if each in COUNTERS}
