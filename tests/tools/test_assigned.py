"""No local variable is read before it is written, and programs where one would be are found.

Every write of a local in the compiled programs is removed, one at a time. What the proof has to say
of each such mutant is computed another way: does a path from the start lead to a read of the local
by statements none of which writes it?
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tools.p4.assigned import Read, UnknownError, read_before_written, uncleared
from tools.p4.programs import COMPILED, PROGRAMS
from tools.p4.unreset import HEADER, Json

TARGETS = {
    "assign": 0,
    "set": 0,
    "register_read": 0,
    "execute_meter": 2,
    "modify_field_with_hash_based_offset": 0,
    "modify_field_rng_uniform": 0,
}
"""The operand a statement writes, of those that write one."""
LISTS = {
    "modify_field_with_hash_based_offset": ("calculations", "name", "input"),
    "generate_digest": ("learn_lists", "id", "elements"),
}
SAMPLE = 5
NOTHING = {"op": "truncate", "parameters": [{"type": "hexstr", "value": "0x0"}]}


@dataclass
class Statement:
    """A statement, or a choice between what may follow."""

    reads: set[str]
    writes: set[str]
    next: list["Statement"]


def choice(reads: object = None) -> Statement:
    """A statement after which one of several follows."""
    return Statement(named(reads), set(), [])


def named(part: object) -> set[str]:
    """The locals whose names are in a part of a program."""
    return {text.split('"')[0] for text in json.dumps(part).split(f'["{HEADER}", "')[1:]}


class Paths:
    """The statements of a program, each with those that may follow; of tables with any action."""

    def __init__(self, program: Json) -> None:
        self.starts: list[Statement] = []
        self.program = program
        self.actions = {a["id"]: a for a in program["actions"]}
        for parser in program["parsers"]:
            states = {s["name"]: s for s in parser["parse_states"]}
            entries = {name: choice() for name in states}
            for name, state in states.items():
                last = choice(state["transition_key"])
                last.next = [
                    entries[t["next_state"]] for t in state["transitions"] if t["next_state"]
                ]
                entries[name].next = [self.chain(state["parser_ops"], last)]
            self.starts.append(entries[parser["init_state"]])
        for pipeline in program["pipelines"]:
            parts = [*pipeline["tables"], *pipeline["conditionals"], *pipeline["action_calls"]]
            nodes = {None: choice()} | {p["name"]: choice() for p in parts}
            for part in parts:
                self.connect(part, nodes)
            self.starts.append(nodes[pipeline["init_table"]])

    def connect(self, part: Json, nodes: dict[str | None, Statement]) -> None:
        """Read what a condition, a call or a table reads, and let follow what may."""
        node = nodes[part["name"]]
        if "expression" in part:
            node.reads = named(part["expression"])
            node.next = [nodes[part["true_next"]], nodes[part["false_next"]]]
        elif "action_id" in part:
            node.next = [self.called(part["action_id"], [nodes[part["next_node"]]])]
        else:
            node.reads = named(part["key"])
            after, default = part["next_tables"], part.get("default_entry")
            for number in part["action_ids"]:
                ends = {after.get(self.actions[number]["name"], after.get("__HIT__"))}
                if default is None or number == default["action_id"] or not default["action_const"]:
                    ends.add(after.get("__MISS__", next(iter(ends))))
                node.next.append(self.called(number, [nodes[end] for end in ends]))
            if default is None:
                node.next.append(nodes[part["base_default_next"]])

    def called(self, number: int, ends: list[Statement]) -> Statement:
        """The first statement of an action."""
        return self.chain(self.actions[number]["primitives"], Statement(set(), set(), ends))

    def chain(self, steps: list[Json], end: Statement) -> Statement:
        """The first of statements that follow one another."""
        for outer in reversed(steps):
            step = outer["parameters"][0] if outer["op"] == "primitive" else outer
            operands: list[Any] = list(step["parameters"])
            written = named(operands.pop(TARGETS[step["op"]])) if step["op"] in TARGETS else set()
            if step["op"] in LISTS:
                operands += [self.listed(*LISTS[step["op"]], operand) for operand in operands]
            end = Statement(named(operands), written, [] if step["op"] == "exit" else [end])
        return end

    def listed(self, lists: str, key: str, content: str, operand: Json) -> object:
        """What a list contains that an operand names."""
        value = operand["value"] if key == "name" else int(operand["value"], 16)
        return [each[content] for each in self.program[lists] if each[key] == value]

    def read_unwritten(self, local: str) -> bool:
        """Whether a path leads to a read of the local by statements none of which writes it."""
        seen: set[int] = set()
        waiting = list(self.starts)
        while waiting:
            node = waiting.pop()
            if local in node.reads:
                return True
            if id(node) not in seen and local not in node.writes:
                waiting += node.next
            seen.add(id(node))
        return False


def load(name: str) -> Json:
    """A committed program."""
    return json.loads((COMPILED / f"{name}.json").read_text())


def writes(program: Json) -> Iterator[tuple[str, list[Json], int]]:
    """Every statement that writes a local: the local, the list the statement is in, and where."""
    bodies = [action["primitives"] for action in program["actions"]]
    bodies += [state["parser_ops"] for p in program["parsers"] for state in p["parse_states"]]
    for body in bodies:
        for index, step in enumerate(body):
            if step["op"] in TARGETS:
                for local in named(step["parameters"][TARGETS[step["op"]]]):
                    yield local, body, index


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_programs_write_every_local_first(name: str) -> None:
    assert read_before_written(load(name)) == []


@pytest.mark.parametrize("step", [40 * SAMPLE, pytest.param(SAMPLE, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_of_each_write_that_is_removed_the_proof_says_whether_it_was_needed(
    name: str, step: int
) -> None:
    program = load(name)
    mutants = list(writes(program))[::step]
    needed = 0
    for local, body, index in mutants:
        removed, body[index] = body[index], NOTHING
        expected = {local} if Paths(program).read_unwritten(local) else set()
        assert {read.local for read in read_before_written(program)} == expected, removed
        body[index] = removed
        needed += bool(expected)
    assert needed > len(mutants) / 4, "many writes are the only ones before a read"


def local(name: str) -> Json:
    """A local as an operand."""
    return {"type": "field", "value": [HEADER, name]}


def hexstr(value: int) -> Json:
    """A constant as an operand."""
    return {"type": "hexstr", "value": hex(value)}


def do(op: str, *parameters: Json) -> Json:
    """A statement."""
    return {
        "op": op,
        "parameters": list(parameters),
        "source_info": {"filename": "x.p4", "line": 3},
    }


def small(*statements: Json, **changes: object) -> Json:
    """A program whose ingress does these statements, then reads `read`; locals have 8 bits."""
    names = ("read", "other")
    read = do("truncate", local("read"))
    return {
        "header_types": [{"name": "locals_t", "fields": [[name, 8, False] for name in names]}],
        "headers": [{"name": HEADER, "header_type": "locals_t"}],
        "register_arrays": [{"name": "cells", "size": 100}],
        "meter_arrays": [{"name": "limit", "size": 256}],
        "calculations": [{"name": "calc", "input": [local("other")]}],
        "learn_lists": [{"id": 1, "elements": [local("other")]}],
        "field_lists": [{"id": 1, "elements": [local("other")]}],
        "parsers": [],
        "checksums": [],
        "actions": [
            {"id": 0, "name": "act", "primitives": list(statements)},
            {"id": 1, "name": "last", "primitives": [read]},
        ],
        "pipelines": [
            {
                "name": "ingress",
                "init_table": "first",
                "tables": [],
                "action_profiles": [{"name": "group", "selector": {"input": [local("other")]}}],
                "conditionals": [],
                "action_calls": [
                    {"name": "first", "action_id": 0, "next_node": "second"},
                    {"name": "second", "action_id": 1, "next_node": None},
                ],
            }
        ],
    } | changes


def cells(index: Json) -> Json:
    """A read of a register with 100 cells."""
    return do("register_read", local("read"), {"type": "register_array", "value": "cells"}, index)


SET = do("assign", local("read"), hexstr(1))
RNG = "modify_field_rng_uniform"
LOCALS = {"type": "header", "value": HEADER}
CALC = {"type": "calculation", "value": "calc"}
METER = {"type": "meter_array", "value": "limit"}
ONE = hexstr(1)


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        ([], ["read"]),
        ([SET], []),
        ([do("assign", local("read"), local("read"))], ["read"]),
        ([do("assign", local("read"), local("other"))], ["other"]),
        ([do("exit")], []),
        ([cells(hexstr(99))], []),
        ([cells(hexstr(100))], ["read"]),
        ([do("assign", local("other"), ONE), cells(local("other"))], ["read"]),
        ([do("execute_meter", METER, local("other"), local("read"))], ["other"]),
        ([do(RNG, local("read"), ONE, hexstr(1))], []),
        ([do(RNG, local("read"), ONE, hexstr(0))], ["read"]),
        ([do("modify_field_with_hash_based_offset", local("read"), ONE, CALC, ONE)], ["other"]),
        ([SET, do("generate_digest", ONE, ONE)], ["other"]),
        ([SET, do("clone_egress_pkt_to_egress", ONE, ONE)], []),
        ([SET, do("add_header_fast", LOCALS)], []),
        ([do("_jump", hexstr(2)), SET], ["read"]),
        ([do("_jump_if_zero", local("other"), hexstr(2)), SET], ["other", "read"]),
        ([do("_jump_if_zero", ONE, hexstr(3)), SET, do("_jump", hexstr(4)), SET], []),
    ],
)
def test_statements(statements: list[Json], found: list[str]) -> None:
    assert [read.local for read in read_before_written(small(*statements))] == found


def test_what_of_the_users_metadata_needs_no_zeros() -> None:
    """`m.kept` is written before it is read; `m.early` is not, nor the local, which is an error."""

    def field(name: str) -> Json:
        return {"type": "field", "value": ["scalars", name]}

    write = do("assign", field("m.kept"), ONE)
    reads = [do("truncate", field(name)) for name in ("m.kept", "m.early", "local")]
    program = small(write, *reads)
    program["actions"][1]["primitives"] = []
    names = ("m.kept", "m.early", "local")
    program["header_types"] = [
        {"name": "scalars_0", "id": 0, "fields": [[name, 8, False] for name in names]}
    ]
    program["headers"] = [{"name": "scalars", "id": 0, "header_type": "scalars_0"}]
    scalars, own = uncleared(program)["header_types"]
    assert [name for name, *_ in scalars["fields"]] == ["m.early"]
    assert [name for name, *_ in own["fields"]] == ["m.kept", "local"]
    assert [read.local for read in read_before_written(uncleared(program))] == ["local"]


def table(**changes: object) -> Json:
    """A pipeline with one table before the last call: act (0) or last (1), by default act."""
    pipeline = small()["pipelines"][0]
    made = {
        "name": "choose",
        "key": [],
        "action_ids": [0],
        "default_entry": {"action_id": 0, "action_const": True},
        "next_tables": {"act": "second", "last": None},
        "base_default_next": "second",
    }
    return [pipeline | {"init_table": "choose", "tables": [made | changes]}]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"key": [{"target": [HEADER, "other"]}]}, ["other"]),
        ({"action_profile": "group"}, ["other"]),
        ({"action_ids": [0, 1]}, ["read"]),
        ({"default_entry": None}, ["read"]),
        ({"action_ids": [0, 2], "next_tables": {"act": "second", "none": "second"}}, ["read"]),
        ({"action_ids": [0, 2], "next_tables": {"act": "second", "none": None}}, []),
        ({"action_ids": [0, 2], "next_tables": {"__HIT__": "second", "__MISS__": None}}, ["read"]),
        ({"action_ids": [0, 2], "next_tables": {"__HIT__": None, "__MISS__": "second"}}, []),
    ],
)
def test_any_action_of_a_table_may_follow(changes: dict[str, object], found: list[str]) -> None:
    program = small(SET, pipelines=table(**changes))
    program["actions"].append({"id": 2, "name": "none", "primitives": []})
    assert [read.local for read in read_before_written(program)] == found


def test_conditions_parsers_and_checksums() -> None:
    program = small(SET)
    condition = {"name": "if", "expression": local("other"), "true_next": "first"}
    (pipeline,) = program["pipelines"]
    pipeline["conditionals"] = [condition | {"false_next": "second"}]
    pipeline["init_table"] = "if"
    steps: list[Json] = []
    state = {"name": "start", "transition_key": [local("read")], "transitions": []}
    parser = {"name": "parser", "init_state": "start"}
    program["parsers"] = [parser | {"parse_states": [state | {"parser_ops": steps}]}]
    program["checksums"] = [{"name": "sum", "calculation": "calc"}]
    assert read_before_written(program) == [
        Read("other", "checksum sum"),
        Read("other", "ingress, condition"),
        Read("read", "ingress, action last, x.p4:3"),
        Read("read", "parser, state start, transition"),
    ]
    steps.append(do("primitive", SET))
    assert "parser" not in {read.where.split(",")[0] for read in read_before_written(program)}


@pytest.mark.parametrize(
    "statement", [do("pop", ONE), do("assign", ONE), do("remove_header", LOCALS)]
)
def test_what_it_does_not_know_is_an_error(statement: Json) -> None:
    with pytest.raises(UnknownError, match="ingress, action act"):
        read_before_written(small(statement))
