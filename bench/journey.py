"""The way of a customer's packet through PE and P, counted: nodes, files, jumps between files.

`python -m fcn.bench.journey` puts one labelled packet of bench/forwarding.py through each compiled
program in the softswitch's engine. Nodes are what ingress and egress of the compiled program have
on its way: tables, conditions, and calls of actions, which are the statements between them. Each is
in the file of its source. A jump leads from one file to another, a jump back to one in which the
packet has been. `--nodes` lists them; `--compiled FOLDER` reads other programs than those of
p4src/compiled (`pe.json`, `pe.p4info.txtpb`, `p.json`, …).
"""

import json
import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from finsy.p4entity import P4UpdateList, encode_updates
from finsy.proto import p4r

from fcn.bench.forwarding import configure_p, configure_pe, p_frames, pe_frames
from fcn.bench.harness import options_of
from fcn.contract.pipeline import Pipeline, load_pipeline
from fcn.contract.profiles import FULL, LEAST
from fcn.lab.entries import open_pipeline
from fcn.ptf_tests.coverage import WHOLE
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.softswitch.engine import MemoryEngine, make_program

# Of each role the entries, and frames of which the second is a labelled IPv4 packet.
ROLES = {"pe": (configure_pe, pe_frames), "p": (configure_p, p_frames)}
# p4c's name of a call of statements that are not in an action.
STATEMENT = re.compile(r"tbl_(\w+?)\d+(_\d+)?")
# A program in BMv2's JSON format, or a part of one.
Json = Any


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a compiled program: its name there, and the file of p4src its source is in."""

    name: str
    file: str


@dataclass(frozen=True, slots=True)
class Journey:
    """The nodes that a packet passes, in its order."""

    nodes: tuple[Node, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """Their files, in the order in which the packet comes to each for the first time."""
        return tuple(dict.fromkeys(node.file for node in self.nodes))

    @property
    def jumps(self) -> int:
        """How often the next node is in another file."""
        return sum(node.file != after.file for node, after in pairwise(self.nodes))

    @property
    def back(self) -> int:
        """How many of these jumps lead to a file in which the packet has been."""
        return self.jumps - (len(self.files) - 1)

    def row(self, name: str) -> str:
        return f"| {name} | {len(self.nodes)} | {len(self.files)} | {self.jumps} | {self.back} |"


class _Writer:
    """Writes entries straight into an engine; a `Writer` of ptf_tests/lib/entries.py."""

    def __init__(self, pipeline: Pipeline, engine: MemoryEngine) -> None:
        self.pipeline = pipeline
        self._entities = open_pipeline(pipeline, engine)

    def write(self, *entities: P4UpdateList) -> None:
        for update in encode_updates(entities, self.pipeline.schema):
            assert isinstance(update, p4r.Update)
            self._entities.write(update, "")


def journey(role: str, pipeline: Pipeline) -> Journey:
    """The way of a labelled IPv4 packet through the program of a role (`pe` or `p`)."""
    assert pipeline.blob is not None
    blob = pipeline.blob.read_bytes()
    program = make_program(blob, points=True)
    engine = MemoryEngine(program)
    configure, frames = ROLES[role]
    try:
        configure(_Writer(pipeline, engine))
        engine.inject(DC_PORT, frames()[1])
        engine.advance(1_000_000)
        assert [output.port for output in engine.outputs()] == [CORE_PORT]
    finally:
        engine.close()
    return Journey(tuple(_passed(json.loads(blob), frozenset(program.reached()))))


def _passed(program: Json, reached: Collection[str]) -> Iterator[Node]:
    """The nodes between which the points are that one packet reached."""
    actions = {action["id"]: action for action in program["actions"]}
    files = _files(program)
    for pipeline in program["pipelines"]:
        parts = [*pipeline["tables"], *pipeline["conditionals"], *pipeline["action_calls"]]
        nodes = {part["name"]: part for part in parts}
        name, file = pipeline["init_table"], ""
        while name is not None:
            part, key = nodes[name], f"{pipeline['name']}/{name}"
            called = actions[part["action_id"]]["primitives"] if "action_id" in part else ()
            file = _file(part, called, files) or file
            yield Node(name, file)
            name = _next(part, key, reached)


def _file(part: Json, called: Sequence[Json], files: Mapping[str, str]) -> str:
    """Where a node has its source, "" where p4c does not say, which is where the node before is.

    p4c names a statement by file and line; a constant that is assigned has the place of its
    declaration, and an argument that is a condition that of the call.
    """
    named = STATEMENT.fullmatch(part["name"])
    if named and named[1] in files:
        return files[named[1]]
    sources = [each["source_info"] for each in (part, *called) if "source_info" in each]
    if "expression" in part:
        sources = [each for each in sources if re.search(r"[ (]", each["source_fragment"])]
    whole = [each for each in sources if WHOLE.fullmatch(each["source_fragment"])]
    return posixpath.normpath((whole or sources)[0]["filename"]) if sources else ""


def _files(program: Json) -> dict[str, str]:
    """Sources of the program by name without folder, where that is one's alone."""
    names = {posixpath.normpath(each) for each in _sources(program)}
    found = [(posixpath.basename(name).removesuffix(".p4"), name) for name in names]
    times = Counter(stem for stem, _ in found)
    return {stem: name for stem, name in found if times[stem] == 1}


def _sources(part: Json) -> Iterator[str]:
    """Names of files in a part of a program."""
    if isinstance(part, dict):
        if "filename" in part:
            yield part["filename"]
        part = list(part.values())
    for each in part if isinstance(part, list) else ():
        yield from _sources(each)


def _next(part: Json, key: str, reached: Collection[str]) -> Json:
    """The name of the next node, None at the end. key: what the names of its points begin with."""
    if "action_id" in part:
        return part["next_node"]
    (outcome,) = (name[len(key) + 1 :] for name in reached if name.startswith(f"{key}/"))
    if "true_next" in part:
        return part[f"{outcome}_next"]
    found, _, action = outcome.partition("/")
    nexts = part["next_tables"]
    return nexts.get(action, nexts.get(f"__{found.upper()}__", part["base_default_next"]))


def measured(profile: str) -> dict[str, Journey]:
    """By program of a profile, as docs/architecture.md calls it."""
    return {
        f"{role.upper()}, profile `{profile}`": journey(role, load_pipeline(role, profile=profile))
        for role in ROLES
    }


def main() -> None:
    parser = options_of("journey", __doc__, results=False)
    parser.add_argument("--nodes", action="store_true", help="list them, with their files")
    parser.add_argument("--compiled", type=Path, metavar="FOLDER", help="read the programs there")
    options = parser.parse_args()
    if options.compiled:
        found = {role: journey(role, load_pipeline(role, options.compiled)) for role in ROLES}
    else:
        found = measured(LEAST) | measured(FULL)
    print("| program | nodes | files | jumps between files | back |\n|---|---|---|---|---|")
    for name, passed in found.items():
        print(passed.row(name))
    for name, passed in found.items() if options.nodes else ():
        print(f"\n{name}")
        for node in passed.nodes:
            print(f"  {node.file:45} {node.name}")


if __name__ == "__main__":
    main()
