"""No local variable is read before it is written, and programs where one would be are found."""

import json

import pytest

from tools.p4.assigned import Read, UnknownError, read_before_written, uncleared
from tools.p4.programs import COMPILED, PROGRAMS
from tools.p4.unreset import HEADER, Json


def load(name: str) -> Json:
    """A committed program."""
    return json.loads((COMPILED / f"{name}.json").read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_programs_write_every_local_first(name: str) -> None:
    assert read_before_written(load(name)) == []


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


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_programs_without_their_assignments_read_before(name: str) -> None:
    """Or the proof would be of nothing in them."""
    program = load(name)
    for action in program["actions"]:
        steps = action["primitives"]
        steps[:] = [do("truncate", ONE) if step["op"] == "assign" else step for step in steps]
    assert read_before_written(program)


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
