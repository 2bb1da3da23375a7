"""Large parsers, control blocks and deparsers become several functions of bounded length."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from engine_fcn_scenarios import FCN_SCENARIOS
from engine_scenarios import PROGRAMS, SCENARIOS, Scenario

from fcn.softswitch.engine import MemoryEngine, load_program
from fcn.softswitch.engine.codegen import blocks, parser
from fcn.softswitch.engine.codegen.unit import generate
from fcn.softswitch.engine.loader import parse_json
from fcn.softswitch.engine.program import make_program

Json = dict[str, Any]
LARGE = 2000
FUNCTION = re.compile(r"^(?:static|SW_OWN) [^\n=]*\)\n{\n.*?^}$", re.DOTALL | re.MULTILINE)
QUICK = ("stacks", "kitchen")
SCENARIO = {s.name: s for s in (*SCENARIOS, *FCN_SCENARIOS)}


def _root(program: str) -> Json:
    root: Json = json.loads((PROGRAMS / f"{program}.json").read_text())
    return root


def _states() -> Json:
    """Each extracts a header of its own and goes on to the next or to one that is later."""
    root = _root("arith")
    ethernet = next(h for h in root["headers"] if h["name"] == "eth")
    first = 1 + max(h["id"] for h in root["headers"])
    states = root["parsers"][0]["parse_states"]
    key = {"type": "field", "value": ["eth", "type"]}
    for i in range(LARGE):
        root["headers"].append({**ethernet, "id": first + i, "name": f"x{i}"})
        root["deparsers"][0]["order"].append(f"x{i}")
        following = [f"s{n}" if n < LARGE else None for n in (i + 1, i * 7 % LARGE)]
        states.append({
            "name": f"s{i}",
            "id": i + 1,
            "parser_ops": [
                {"op": "extract", "parameters": [{"type": "regular", "value": f"x{i}"}]}
            ],
            "transition_key": [key],
            "transitions": [
                {"type": "hexstr", "value": "0x0800", "mask": None, "next_state": following[1]},
                {"type": "default", "value": None, "mask": None, "next_state": following[0]},
            ],
        })  # fmt: skip
    states[0]["transitions"][0]["next_state"] = "s0"
    return root


def _tables() -> Json:
    root = _root("match")
    ingress = next(p for p in root["pipelines"] if p["name"] == "ingress")
    template = next(t for t in ingress["tables"] if t["name"] == "I.exact_t")
    first = 1 + max(t["id"] for p in root["pipelines"] for t in p["tables"])
    for i in range(LARGE):
        following = f"t{i + 1}" if i + 1 < LARGE else ingress["init_table"]
        ingress["tables"].append({
            **template,
            "name": f"t{i}",
            "id": first + i,
            "base_default_next": following,
            "next_tables": dict.fromkeys(template["actions"], following),
        })  # fmt: skip
    ingress["init_table"] = "t0"
    return root


@pytest.mark.parametrize("program", [_states, _tables])
def test_no_function_grows_with_the_program(program: Callable[[], Json]) -> None:
    """A compiler's time for one function grows faster than the function."""
    functions = FUNCTION.findall(generate(parse_json(json.dumps(program()).encode())))
    assert sum(map(len, functions)) > 2 * blocks.WHOLE
    assert max(map(len, functions)) < blocks.WHOLE / 4


@pytest.mark.parametrize("program", ["pe", "p"])
def test_the_projects_own_programs_are_not_divided(program: str) -> None:
    code = generate(
        parse_json((PROGRAMS.parents[2] / f"p4src/compiled/{program}.json").read_bytes())
    )
    assert "prog_ingress_0(" in code
    assert "prog_ingress_1(" not in code
    assert "prog_parse_1(" not in code
    assert "prog_put_1(" not in code


def _passed(scenario: Scenario, engine: MemoryEngine) -> object:
    try:
        scenario.setup(engine)
        for port, data in scenario.packets(3, 2000):
            engine.inject(port, data)
        engine.advance(1_000_000_000)
        return engine.outputs()
    finally:
        engine.close()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.exhaustive)
        for name in SCENARIO
    ],
)
def test_a_divided_program_does_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here with a function for each block, and parsers that go from one to another and back."""
    scenario = SCENARIO[name]
    whole = _passed(scenario, MemoryEngine(load_program(scenario.path)))
    monkeypatch.setattr(blocks, "WHOLE", 0)
    monkeypatch.setattr(blocks, "PART", 1)
    monkeypatch.setattr(parser, "DEPARSED", 1)
    # With a space more, the program is not the one that was read before.
    divided = make_program(scenario.path.read_bytes() + b" ")
    assert whole
    assert _passed(scenario, MemoryEngine(divided)) == whole
