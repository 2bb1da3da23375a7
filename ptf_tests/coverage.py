"""How much of the compiled programs the packets of the suite passed, measured on the softswitch.

What counts are the states of the parser and their transitions, the actions of tables by a hit, the
misses, the statements between tables and both sides of every condition; each by the text of its
source, with the place in the program of those that read the same. data/unreachable.toml has what no
packet can pass, and why.

`python -m fcn.ptf_tests.coverage FILE...` names what is missing in what switches wrote together:
`fcn-softswitch --coverage FILE`, or DIR/switch.coverage of a run with `--log-dir DIR`.
"""

import hashlib
import json
import posixpath
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from finsy.proto import p4i

from fcn.contract.pipeline import Pipeline, load_pipeline

PROGRAMS = ("pe", "p")
FLOOR = 0.98
UNREACHABLE = Path(__file__).parent / "data" / "unreachable.toml"
# Of what begins a statement and is not cut off
WHOLE = re.compile(r"[A-Za-z_][\w.]* = [^;]*[^.;]|[A-Za-z_][\w.]*\(.*\)|exit")
# A program in BMv2's JSON format, or a part of one.
Json = Any
# A point's names, by its source first, then more exact ones; what the softswitch calls it.
Named = tuple[list[str], list[str]]


@dataclass(frozen=True)
class Coverage:
    """Of one program: what can be reached, what was not, and what is wrong with the list of what
    cannot."""

    program: str
    reachable: int
    missing: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def green(self) -> bool:
        """Whether enough was reached, and nothing that cannot be."""
        return self.reached >= FLOOR * self.reachable and not self.wrong

    @property
    def reached(self) -> int:
        """How many points were reached."""
        return self.reachable - len(self.missing)

    def __str__(self) -> str:
        share = 100 * self.reached / max(1, self.reachable)
        return f"{self.program}: {self.reached} of {self.reachable} points reached, {share:.1f} %"


def measure(seen: Mapping[str, Iterable[str]]) -> list[Coverage]:
    """The coverage of each program.

    seen: by the SHA-256 of a program's JSON, the points that packets passed.
    """
    listed = unreachable()
    found = []
    for program in PROGRAMS:
        pipeline = load_pipeline(program)
        cannot, reached = set(listed.get(program, ())), _reached(pipeline, seen)
        found.append(_coverage(program, points(pipeline), cannot, reached))
    return found


def unreachable() -> dict[str, dict[str, str]]:
    """Of each program the points that no packet can pass, with the reasons."""
    return {
        program: {name: group["reason"] for group in groups for name in group["points"]}
        for program, groups in tomllib.loads(UNREACHABLE.read_text()).items()
    }


def read(files: Iterable[Path]) -> dict[str, set[str]]:
    """What several switches wrote, together."""
    together: dict[str, set[str]] = {}
    for file in files:
        for program, names in json.loads(file.read_text()).items():
            together.setdefault(program, set()).update(names)
    return together


def _reached(pipeline: Pipeline, seen: Mapping[str, Iterable[str]]) -> set[str]:
    assert pipeline.blob is not None
    return set(seen.get(hashlib.sha256(pipeline.blob.read_bytes()).hexdigest(), ()))


def _coverage(program: str, names: Mapping[str, str], cannot: set[str], seen: set[str]) -> Coverage:
    every, reached = set(names.values()), {names[point] for point in seen if point in names}
    wrong = [f"{name!r} is reached, but listed as unreachable" for name in cannot & reached]
    wrong += [f"{name!r} is listed as unreachable, but is not there" for name in cannot - every]
    missing = every - reached - cannot
    return Coverage(program, len(every - cannot), tuple(sorted(missing)), tuple(sorted(wrong)))


def points(pipeline: Pipeline) -> dict[str, str]:
    """The points of a program as the softswitch names them, with their names here."""
    assert pipeline.blob is not None
    program = json.loads(pipeline.blob.read_text())
    named = [*_parser(program["parsers"][0]), *_pipelines(program, pipeline)]
    found: dict[str, str] = {}
    for names, keys in _told_apart(named):
        found |= dict.fromkeys(keys, names[0])
    return found


def _told_apart(named: list[Named]) -> list[Named]:
    """Each with the first of its names that no other has; at last with its place among them."""
    repeated = Counter(names[0] for names, _ in named)
    numbers: Counter[str] = Counter()
    apart: list[Named] = []
    for names, keys in named:
        if repeated[names[0]] == 1:
            apart.append(([names[0]], keys))
        elif len(names) > 1:
            apart.append((names[1:], keys))
        else:
            numbers[names[0]] += 1
            apart.append(([f"{names[0]} #{numbers[names[0]]}"], keys))
    again = any(len(names) > 1 for names, _ in apart) or len({n[0] for n, _ in apart}) < len(apart)
    return _told_apart(apart) if again else apart


def _parser(parser: Json) -> Iterator[Named]:
    """States, and transitions where there are several."""
    for state in parser["parse_states"]:
        name, transitions = state["name"], state["transitions"]
        yield [f"state {name}"], [f"parser/{name}"]
        for number, each in enumerate(transitions if len(transitions) > 1 else ()):
            value = "default" if each["value"] is None else each["value"]
            if each["mask"] is not None:
                value += f" &&& {each['mask']}"
            after = each["next_state"] or "end"
            yield [f"state {name}: {value} to {after}"], [f"parser/{name}/{number}"]


def _pipelines(program: Json, pipeline: Pipeline) -> Iterator[Named]:
    actions = {action["id"]: action for action in program["actions"]}
    info = pipeline.schema.p4info
    of_number = {action.preamble.id: action.preamble.name for action in info.actions}
    scopes = {
        table.preamble.name: {of_number[ref.id]: ref.scope for ref in table.action_refs}
        for table in info.tables
    }
    for part in program["pipelines"]:
        nodes = {each["name"]: each for each in part["conditionals"]}
        nodes |= {each["name"]: actions[each["action_id"]] for each in part["action_calls"]}
        for each in part["conditionals"]:
            exact = _condition(each, _what(each["true_next"], nodes))
            for side in ("true", "false"):
                key = f"{part['name']}/{each['name']}/{side}"
                yield [f"{name}: {side}" for name in exact], [key]
        for call in part["action_calls"]:
            exact = _statements(nodes[call["name"]], _what(call["next_node"], nodes))
            yield exact, [f"{part['name']}/{call['name']}"]
        for table in part["tables"]:
            yield from _table(part["name"], table, scopes.get(table["name"], {}))


def _table(pipeline: str, table: Json, scopes: Mapping[str, int]) -> Iterator[Named]:
    """Actions by a hit, and a miss; of a table without a key, the actions that can be its own."""
    name, key = table["name"], f"{pipeline}/{table['name']}"
    entries = {entry["action_entry"]["action_id"] for entry in table.get("entries", ())}
    for number, action in zip(table["action_ids"], table["actions"], strict=True):
        short = action.rpartition(".")[2]
        if not table["key"]:
            if scopes.get(action) != p4i.ActionRef.TABLE_ONLY:
                yield [f"table {name}: {short}"], [f"{key}/miss/{action}"]
        elif scopes.get(action) != p4i.ActionRef.DEFAULT_ONLY and (
            not entries or number in entries
        ):
            yield [f"table {name}: {short}"], [f"{key}/hit/{action}"]
    if table["key"]:
        # "" where the table has no default action
        yield (
            [f"table {name}: miss"],
            [f"{key}/miss/{action}" for action in (*table["actions"], "")],
        )


def _condition(part: Json, then: str) -> list[str]:
    """File and text. Of what is an argument where the control is called p4c keeps the argument's
    text, which says nothing: then the expression."""
    file, text = _source(part)
    expression = _expression(part["expression"])
    plain = text if " " in text or "(" in text else expression
    exact = f"{file}: {plain} [{expression}]"
    return [f"{file}: {plain}", exact, f"{exact} before {then}"]


def _statements(action: Json, then: str) -> list[str]:
    """An action that has a name; else file and text of its longest whole statement, or if there is
    none the first one of the JSON."""
    if "." in action["name"]:
        return [action["name"], f"{action['name']} before {then}"]
    sources = [_source(step) for step in action["primitives"] if step.get("source_info")]
    whole = [(file, text) for file, text in sources if WHOLE.fullmatch(text)]
    first = f"[{_first(action)}]"
    if not whole:
        return [first, f"{first} before {then}"]
    file, text = max(whole, key=lambda source: len(source[1]))
    return [f"{file}: {text}", f"{file}: {text} {first}", f"{file}: {text} {first} before {then}"]


def _first(action: Json) -> str:
    """The first statement of an action. p4c's names of locals have their controls in front."""
    if not action["primitives"]:
        return "nothing"
    step = action["primitives"][0]
    return " ".join([step["op"], *map(_expression, step["parameters"])])


def _what(name: str | None, nodes: Mapping[str, Json]) -> str:
    """A part of a pipeline, by words that do not depend on its place."""
    if name is None:
        return "the end"
    node = nodes.get(name)
    if node is None:
        return f"table {name}"
    if "true_next" in node:
        return _what(node["true_next"], nodes)
    return str(node["name"]) if "." in node["name"] else _first(node)


def _source(part: Json) -> tuple[str, str]:
    source = part["source_info"]
    file = posixpath.normpath(source["filename"])
    return file, " ".join(source["source_fragment"].split())


def _expression(part: Json) -> str:
    """An expression of the JSON; p4c's numbers of headers and fields are left out."""
    if isinstance(part, dict) and "op" in part:
        sides = [_expression(part[side]) for side in ("left", "right") if part.get(side)]
        if part["op"] in ("d2b", "b2d"):
            return sides[0]
        return f"({sides[0]} {part['op']} {sides[1]})" if sides[1:] else f"{part['op']} {sides[0]}"
    if isinstance(part, dict):
        return _expression(part["value"])
    if isinstance(part, list):
        words = part[part[0] in ("scalars", "locals") :]
        return ".".join(re.sub(r"^(\w+\.)?_|_?\d+$", "", word) for word in words)
    return str(part)


def main() -> None:
    """Print the share of each program, and what is missing or wrongly listed."""
    for coverage in measure(read(map(Path, sys.argv[1:]))):
        print(coverage)
        for name in (*coverage.missing, *coverage.wrong):
            print(f"  {name}")


if __name__ == "__main__":
    main()
