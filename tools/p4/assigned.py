"""Proves that a compiled program reads no local variable before it writes it, on any path.

What unreset.py leaves uncleared has the value of an earlier packet where it is read too early. A
local is written before a read when every path from the start of the parser or control to the read
writes it: a data flow problem, solved over the graph of the program's statements, where any action
of a table and either side of a condition may follow. What a field list keeps for a later pass is
no read: who reads it there has not written it.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from tools.p4.unreset import HEADER, Json, locals_of, scalars_of, unreset

PRIMITIVES = {
    "_jump": "r",
    "_jump_if_zero": "rr",
    "add_header": "h",
    "add_header_fast": "h",
    "assign": "wr",
    "assign_header": "hh",
    "clone_egress_pkt_to_egress": "rf",
    "clone_ingress_pkt_to_egress": "rf",
    "count": "ar",
    "execute_meter": "arw",
    "exit": "",
    "extract": "h",
    "generate_digest": "rd",
    "mark_to_drop": "h",
    "modify_field_rng_uniform": "wrr",
    "modify_field_with_hash_based_offset": "wrcr",
    "recirculate": "f",
    "register_read": "war",
    "register_write": "arr",
    "remove_header": "h",
    "resubmit": "f",
    "set": "wr",
    "truncate": "r",
}
"""Of each parameter: w is written; r, the input of calculation c and the elements of digest d are
read; a is an array, h a header, f a field list. Those of a parser's state are here, too."""

# A node by its place in the program; None is the end.
Key = tuple[object, ...] | None


class UnknownError(Exception):
    """The proof does not know what a statement does with its operands."""


@dataclass(frozen=True, order=True)
class Read:
    """A local that some path reads before it is written, and the statement that does."""

    local: str
    where: str


@dataclass(frozen=True)
class _Node:
    """A statement: it reads, then writes, then one of the next follows."""

    where: str
    reads: frozenset[str]
    writes: frozenset[str]
    next: tuple[Key, ...]


def read_before_written(program: Json) -> list[Read]:
    """What may be read before it is written. Raises UnknownError.

    program: BMv2 JSON with the locals in a header of their own (unreset.py).
    """
    graph = _Graph(program)
    found = set()
    for start in graph.starts:
        for key, written in _written_before(graph.nodes, start).items():
            node = graph.nodes[key]
            found |= {Read(local, node.where) for local in node.reads - written}
    return sorted(found)


def uncleared(program: Json) -> Json:
    """The program with what needs no clearing in a header of its own: all locals, which have to be
    proved, and what of the user's metadata can be. Raises UnknownError.

    program: parsed BMv2 JSON.
    """
    names = scalars_of(program)
    early = {read.local for read in read_before_written(unreset(program, names))}
    return unreset(program, locals_of(program) | (names - early))


def _written_before(nodes: Mapping[Key, _Node], start: Key) -> dict[Key, frozenset[str]]:
    """What every path from the start to a node writes, of each node there is a path to."""
    before: dict[Key, frozenset[str]] = {start: frozenset()}
    changed = deque([start])
    while changed:
        key = changed.popleft()
        after = before[key] | nodes[key].writes
        for following in nodes[key].next:
            if following is None:
                continue
            common = before.get(following, after) & after
            if common != before.get(following):
                before[following] = common
                changed.append(following)
    return before


class _Graph:
    """The statements of a program as nodes; parser, pipelines and each checksum begin anew."""

    def __init__(self, program: Json) -> None:
        self.nodes: dict[Key, _Node] = {}
        self.starts: list[Key] = []
        self._actions = {action["id"]: action for action in program["actions"]}
        self._lists = {
            "c": {c["name"]: frozenset(_locals(c["input"])) for c in program["calculations"]},
            "d": {d["id"]: frozenset(_locals(d["elements"])) for d in program["learn_lists"]},
        }
        self._selectors = {
            profile["name"]: frozenset(_locals(profile.get("selector")))
            for pipeline in program["pipelines"]
            for profile in pipeline["action_profiles"]
        }
        self._sizes = {
            array["name"]: int(array["size"])
            for array in (*program["register_arrays"], *program["meter_arrays"])
            if not array.get("is_direct")
        }
        fields = {each["name"]: each["fields"] for each in program["header_types"]}
        self._widths = {
            (header["name"], name): int(width)
            for header in program["headers"]
            for name, width, *_ in fields[header["header_type"]]
        }
        for parser in program["parsers"]:
            self._begin(parser["init_state"], parser["name"])
            for state in parser["parse_states"]:
                self._parse_state(parser["name"], state)
        for pipeline in program["pipelines"]:
            self._pipeline(pipeline)
        for number, checksum in enumerate(program["checksums"]):
            reads = self._lists["c"][checksum["calculation"]]
            condition = frozenset(_locals(checksum.get("if_cond")))
            where = f"checksum {checksum['name']}{_line(checksum)}"
            self._add(("checksum", number), where, reads | condition, next_=())
            self.starts.append(("checksum", number))

    def _begin(self, name: str | None, part: str) -> None:
        if name is not None:
            self.starts.append((part, name))

    def _add(
        self,
        key: Key,
        where: str,
        reads: Iterable[str] = (),
        writes: Iterable[str] = (),
        next_: Iterable[Key] = (),
    ) -> None:
        self.nodes[key] = _Node(where, frozenset(reads), frozenset(writes), tuple(next_))

    def _parse_state(self, parser: str, state: Json) -> None:
        where = f"{parser}, state {state['name']}"
        steps = [
            op["parameters"][0] | {"source_info": op.get("source_info")}
            if op["op"] == "primitive"
            else op
            for op in state["parser_ops"]
        ]
        key, choice = (parser, state["name"]), (parser, state["name"], "transition")
        self._statements(key, where, steps, choice)
        self._add(
            choice,
            f"{where}, transition",
            _locals(state["transition_key"]),
            next_=[_key(parser, each["next_state"]) for each in state["transitions"]],
        )

    def _pipeline(self, pipeline: Json) -> None:
        name = pipeline["name"]
        self._begin(pipeline["init_table"], name)
        for condition in pipeline["conditionals"]:
            self._add(
                (name, condition["name"]),
                f"{name}, condition{_line(condition)}",
                _locals(condition["expression"]),
                next_=[_key(name, condition["true_next"]), _key(name, condition["false_next"])],
            )
        for call in pipeline.get("action_calls", []):
            self._action(name, (name, call["name"]), name, call["action_id"], [call["next_node"]])
        for table in pipeline["tables"]:
            self._table(name, table)

    def _table(self, pipeline: str, table: Json) -> None:
        key, where = (pipeline, table["name"]), f"{pipeline}, table {table['name']}"
        ends, default = table["next_tables"], table.get("default_entry")
        following: list[Key] = []
        for number in table["action_ids"]:
            if "__HIT__" in ends:
                next_ = [ends["__HIT__"]]
                if not (default and default["action_const"]) or default["action_id"] == number:
                    next_.append(ends["__MISS__"])
            else:
                next_ = [ends[self._actions[number]["name"]]]
            following.append((*key, number))
            self._action(pipeline, following[-1], where, number, next_)
        if not default:
            # A miss does nothing.
            missed = ends.get("__MISS__", table.get("base_default_next"))
            following.append(_key(pipeline, missed))
        reads = {*_locals(table["key"]), *self._selectors.get(table.get("action_profile"), ())}
        self._add(key, f"{where}, key{_line(table)}", reads, next_=following)

    def _action(
        self, pipeline: str, key: Key, where: str, number: int, ends: Iterable[str | None]
    ) -> None:
        """The statements of an action, of which there is a copy for each place that calls it."""
        assert key is not None
        action = self._actions[number]
        end = (*key, "end")
        self._statements(key, f"{where}, action {action['name']}", action["primitives"], end)
        self._add(end, where, next_=[_key(pipeline, name) for name in ends])

    def _statements(self, key: Key, where: str, steps: list[Json], end: Key) -> None:
        """One node each; that of the first is `key`, and `end` comes after the last."""
        assert key is not None
        keys: list[Key] = [key, *((*key, "step", at) for at in range(1, len(steps))), end]
        if not steps:
            self._add(key, where, next_=[end])
        for at, step in enumerate(steps):
            following = [keys[at + 1]]
            if step["op"] in ("_jump", "_jump_if_zero"):
                target = keys[int(step["parameters"][-1]["value"], 16)]
                following = [target, *(following if step["op"] == "_jump_if_zero" else [])]
            elif step["op"] == "exit":
                following = [None]
            reads, writes = self._operands(where, step)
            self._add(keys[at], where + _line(step), reads, writes, following)

    def _operands(self, where: str, step: Json) -> tuple[set[str], set[str]]:
        """The locals that a statement reads and writes."""
        kinds, parameters = PRIMITIVES.get(step["op"]), step["parameters"]
        if kinds is None or len(kinds) != len(parameters):
            raise UnknownError(f"{where}: primitive {step['op']} with {len(parameters)} parameters")
        reads: set[str] = set()
        writes: set[str] = set()
        for kind, parameter in zip(kinds, parameters, strict=True):
            if kind == "w":
                writes |= set(_locals(parameter))
            elif kind == "r":
                reads |= set(_locals(parameter))
            elif kind == "c":
                reads |= self._lists["c"][parameter["value"]]
            elif kind == "d":
                reads |= self._lists["d"].get(int(parameter["value"], 16), frozenset())
            elif kind == "f":
                continue
            elif parameter["value"] == HEADER and step["op"] != "add_header_fast":
                raise UnknownError(f"{where}: {step['op']} of all locals")
        return reads, writes if self._certain(step) else set()

    def _certain(self, step: Json) -> bool:
        """Whether a statement always writes: not beyond an array's end, nor from an empty range."""
        if step["op"] in ("register_read", "execute_meter"):
            named = dict(zip(PRIMITIVES[step["op"]], step["parameters"], strict=True))
            return self._range(named["r"])[1] < self._sizes[named["a"]["value"]]
        if step["op"] == "modify_field_rng_uniform":
            _, low, high = step["parameters"]
            return self._range(low)[1] <= self._range(high)[0]
        return True

    def _range(self, operand: Json) -> tuple[float, float]:
        """The least and the greatest value an operand can have."""
        if operand["type"] == "hexstr":
            value = int(operand["value"], 16)
            return value, value
        if operand["type"] == "field":
            return 0, 2 ** self._widths[tuple(operand["value"])] - 1
        return -inf, inf


def _key(part: str, name: str | None) -> Key:
    return None if name is None else (part, name)


def _line(part: Mapping[str, Any]) -> str:
    source = part.get("source_info")
    return f", {source['filename']}:{source['line']}" if source else ""


def _locals(part: Json) -> Iterator[str]:
    """The locals that a part of the program names."""
    if isinstance(part, dict):
        for value in part.values():
            yield from _locals(value)
    elif isinstance(part, list):
        if len(part) == 2 and part[0] == HEADER and isinstance(part[1], str):
            yield part[1]
        else:
            for value in part:
                yield from _locals(value)
