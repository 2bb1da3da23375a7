"""The points of a program that packets passed are noted where that is asked for, and only there."""

import json
from pathlib import Path

from engine_scenarios import MAC, PROGRAMS, ethernet
from engine_warnings import refuse_warnings

from fcn.softswitch.api import ActionCall, Exact
from fcn.softswitch.engine import MemoryEngine, make_program
from fcn.softswitch.engine.codegen.unit import generate, generate_with_points
from fcn.softswitch.engine.loader import parse_json

KITCHEN = (PROGRAMS / "kitchen.json").read_bytes()


def test_points_that_packets_passed() -> None:
    program = make_program(KITCHEN, points=True)
    assert program.reached() == []
    engine = MemoryEngine(program)
    engine.table_insert("I.l2", [Exact(MAC), Exact(1)], 0, ActionCall("I.forward", (2, 7)))
    try:
        engine.inject(1, ethernet(0x88B6))
        first = set(program.reached())
        assert "ingress/I.l2/hit/I.forward" in first
        assert not [name for name in first if name.startswith("ingress/I.l2/miss/")]
        engine.inject(2, ethernet(0x88B6))
        second = set(program.reached())
        assert [name for name in second - first if name.startswith("ingress/I.l2/miss/")]
        assert second > first
    finally:
        engine.close()
    assert set(program.reached()) == second, "they outlive the engine"


def test_every_state_condition_and_action_is_a_point_once() -> None:
    root = json.loads(KITCHEN)
    points = make_program(KITCHEN, points=True).points
    assert len(set(points)) == len(points)
    states = [state["name"] for state in root["parsers"][0]["parse_states"]]
    assert {f"parser/{name}" for name in states} < set(points)
    for pipeline in root["pipelines"]:
        for each in pipeline["conditionals"]:
            both = {f"{pipeline['name']}/{each['name']}/{side}" for side in ("true", "false")}
            assert both < set(points)
        keyed = [table for table in pipeline["tables"] if table["key"]]
        names = {
            f"{pipeline['name']}/{table['name']}/{what}/{action}"
            for table in keyed
            for what in ("hit", "miss")
            for action in table["actions"]
        }
        assert names < set(points)


def test_the_code_that_notes_them_has_no_warnings(tmp_path: Path) -> None:
    code, _ = generate_with_points(parse_json(KITCHEN))
    refuse_warnings(code, tmp_path)


def test_otherwise_there_is_nothing_of_it_in_the_code() -> None:
    assert "seen" not in generate(parse_json(KITCHEN))
    program = make_program(KITCHEN)
    assert (program.points, program.reached()) == ((), [])
