"""Hostile pipelines: refused with the place named, or built with nothing of theirs in the C."""

import copy
import json
import os
import random
import re
import resource
from pathlib import Path
from typing import Any

import pytest
from engine_asan import Asan, SanitizerError
from engine_mutations import MARK, SMALL, Json, Run, outcome, programs, stripped
from engine_scenarios import PROGRAMS

from fcn.softswitch.engine import ProgramError, UnsupportedError
from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.codegen.unit import generate
from fcn.softswitch.engine.loader import build_model, parse_json

COUNT = int(os.environ.get("FCN_PIPELINES", "200"))
"""Mutated programs (docs/softswitch.md)."""
KITCHEN: Json = stripped(json.loads((PROGRAMS / "kitchen.json").read_bytes()))
STATE: Json = stripped(json.loads((PROGRAMS / "state.json").read_bytes()))
WORDS = ("type", "op", "match_type", "algo")
"""Members whose value selects a construct."""
OF_V1MODEL = re.compile(
    r"standard_metadata|intrinsic_metadata|queueing_metadata|scalars|ingress|egress|tbl_|\$|__"
)
NAMED = (
    "header_types", "headers", "header_stacks", "actions", "pipelines", "calculations",
    "counter_arrays", "meter_arrays", "register_arrays", "learn_lists", "parsers", "field_lists",
)  # fmt: skip


def _refusal(root: Json) -> str:
    with pytest.raises(ProgramError) as refused:
        parse_json(json.dumps(root).encode())
    return str(refused.value)


def _with(root: Json, path: tuple[int | str, ...], value: object) -> Json:
    out = copy.deepcopy(root)
    at: Any = out
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return out


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("pipelines", 0, "tables", 0, "name"), "pipelines[0].tables[0].name"),
        (("headers", 1, "name"), "headers[1].name"),
        (("header_types", 1, "fields", 0, 0), "header_types[1].fields[0][0]"),
        (("actions", 0, "name"), "actions[0].name"),
        (("calculations", 0, "name"), "calculations[0].name"),
        (("parsers", 0, "parse_states", 0, "name"), "parsers[0].parse_states[0].name"),
        (("pipelines", 0, "conditionals", 0, "name"), "pipelines[0].conditionals[0].name"),
    ],
)
def test_code_in_a_name_is_refused(path: tuple[int | str, ...], place: str) -> None:
    name = f'x", 0}}; void {MARK}(void) {{ system("id"); }} /*'
    message = _refusal(_with(KITCHEN, path, name))
    assert f"malformed BMv2 JSON: {place}: String should match pattern" in message


@pytest.mark.parametrize("mark", ["\n", "\x1b", "\x85", "\u2028", "\u202e", "`", "\\"])
def test_names_that_would_confuse_a_log_are_refused(mark: str) -> None:
    message = _refusal(_with(KITCHEN, ("actions", 0, "name"), f"a{mark}b"))
    assert "malformed BMv2 JSON: actions[0].name: String should match pattern" in message
    assert mark in "\\`" or mark not in message


@pytest.mark.parametrize("mark", list("!#%&'()*+-./:=?@{|}~\u25d5\U0001f600"))
def test_names_have_the_marks_that_annotations_give_them(mark: str) -> None:
    """@name of P4 takes any text, and p4c's own cases have some in theirs."""
    table = KITCHEN["pipelines"][0]["tables"][0]["name"]
    renamed = _renamed(KITCHEN, {table: f"{table} {mark} 2"})
    assert f"{table} {mark} 2" in {found.name for found in build_model(renamed).tables()}


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("actions", 0, "id"), 1 << 31, "actions[0].id: Input should be less than or equal to"),
        (("actions", 0, "id"), -1, "actions[0].id: Input should be greater than"),
        (("actions", 0, "id"), True, "actions[0].id: Input should be a valid integer"),
        (("learn_lists",), [{"id": 1 << 31}], "learn_lists[0].id: Input should be less"),
        (("register_arrays", 0, "size"), 1 << 40, "register_arrays[0].size: Input should be less"),
        (("counter_arrays", 0, "size"), -1, "counter_arrays[0].size: Input should be greater"),
        (("pipelines", 0, "tables", 0, "max_size"), 1 << 63, "tables[0].max_size: Input should"),
        (("register_arrays", 0, "bitwidth"), 0, "register_arrays[0].bitwidth: Input should be gr"),
        (("header_types", 1, "fields", 0, 1), 1 << 20, "header_types[1].fields[0][1]: Input"),
        (("actions", 0, "name"), "x" * (limits.NAME + 1), "actions[0].name: String should have at"),
        (("actions",), STATE["actions"][:1] * 4097, "actions: Tuple should have at most 4096"),
        (("pipelines", 0, "init_table"), "none", "pipelines[0].init_table: there is no node"),
        (
            ("headers", 1, "name"),
            "scalars",
            "headers and header_stacks, names: 'scalars' is there twice",
        ),
    ],
)
def test_a_value_out_of_its_range_is_refused(
    path: tuple[int | str, ...], value: object, words: str
) -> None:
    assert words in _refusal(_with(STATE, path, value))


def test_arrays_are_bounded_together() -> None:
    root = copy.deepcopy(STATE)
    one = {**root["register_arrays"][0], "size": limits.CELLS}
    root["register_arrays"] += [{**one, "name": f"many{i}"} for i in range(4)]
    assert "cells together" in _refusal(root)


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_depth_is_bounded(opening: bytes) -> None:
    """Far deeper than Python's recursion limit: a refusal, not a RecursionError."""
    with pytest.raises(ProgramError, match="too deep: more than 96"):
        parse_json(opening * 200_000)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_depth_cannot_be_hidden_in_another_encoding(encoding: str) -> None:
    """An octet of U+2241 is a quotation mark, and Python's decoder takes these encodings."""
    deep = '["\u2241",' + "[" * 100_000 + "]" * 100_000 + ',"\u2241"]'
    with pytest.raises(ProgramError, match="not JSON"):
        parse_json(deep.encode(encoding))


def test_strings_without_an_end_are_read_once() -> None:
    """Their search for an end, one by one, would take years."""
    with pytest.raises(ProgramError, match="not JSON"):
        parse_json(b'\\"' * (limits.TEXT_OCTETS // 2))


def test_many_wrong_values_cost_no_memory() -> None:
    """Millions of them: each was an error of half a kilobyte, and the process was killed."""
    action = {"id": 0, "name": "a", "runtime_data": [], "primitives": [0] * limits.OBJECTS}
    root = {**KITCHEN, "actions": [action] * 600}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "actions[0].primitives[0]: Input should be a" in _refusal(root)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 256 << 10, "KiB"


def test_brackets_in_strings_are_no_depth() -> None:
    root = {**KITCHEN, "program": '[{"\\' * 500}
    parse_json(json.dumps(root).encode())


def test_size_is_bounded() -> None:
    with pytest.raises(ProgramError, match="too large: 8388609 octets"):
        parse_json(b" " * (limits.TEXT_OCTETS + 1))


@pytest.mark.parametrize("op", ["sat_cast", "<<", "?", "*"])
def test_operations_that_repeat_their_operands_are_bounded(op: str) -> None:
    """Each of these multiplies the length of the C, or the time to write it, with every level."""
    value: Json = {"type": "field", "value": ["standard_metadata", "ingress_port"]}
    small = {"type": "hexstr", "value": "0x05"}
    for _ in range(40):
        value = {"op": op, "left": value, "right": small, "cond": {"type": "bool", "value": True}}
    condition = {"op": "==", "left": value, "right": small}
    root = _with(KITCHEN, ("pipelines", 0, "conditionals", 0, "expression"), condition)
    found = outcome(root)
    assert len(found.code) < limits.C_CHARACTERS
    assert found.kind in ("accepted", "UnsupportedError")


def test_much_c_of_little_json_is_refused() -> None:
    """The compiler's time and memory follow from its length."""
    root = copy.deepcopy(KITCHEN)
    action = max(root["actions"], key=lambda action: len(json.dumps(action["primitives"])))
    longest = max(action["primitives"], key=lambda primitive: len(json.dumps(primitive)))
    action["primitives"] = [longest] * limits.OBJECTS
    model = build_model(root)
    with pytest.raises(UnsupportedError, match="more than 4194304 characters of C"):
        generate(model)


def _renamed(value: Any, names: dict[str, str]) -> Any:  # noqa: ANN401 (JSON)
    if isinstance(value, dict):
        out = {k: v if k in WORDS else _renamed(v, names) for k, v in value.items()}
        if "next_tables" in out:
            out["next_tables"] = {names.get(k, k): v for k, v in out["next_tables"].items()}
        return out
    if isinstance(value, list):
        return [_renamed(v, names) for v in value]
    return names.get(value, value) if isinstance(value, str) else value


@pytest.mark.parametrize("path", sorted(SMALL.glob("*.json")), ids=lambda p: p.stem)
def test_no_name_reaches_c(path: Path) -> None:
    """A program whose names are all others is the same C."""
    root = stripped(json.loads(path.read_bytes()))
    objects = [x for key in NAMED for x in root[key]]
    objects += [s for p in root["parsers"] for s in p["parse_states"]]
    for p in root["pipelines"]:
        objects += [*p["tables"], *p["conditionals"], *p.get("action_profiles", [])]
    own = [t for t in root["header_types"] if not OF_V1MODEL.search(t["name"])]
    reserved = {f[0] for t in root["header_types"] if t not in own for f in t["fields"]}
    found = {x["name"] for x in objects} | {f[0] for t in own for f in t["fields"]}
    kept = {n for n in found if OF_V1MODEL.search(n)} | reserved
    names = {name: f"{MARK}{i}" for i, name in enumerate(sorted(found - kept))}
    assert len(names) > 5
    renamed = _renamed(root, names)
    code = generate(build_model(renamed))
    assert code == generate(build_model(root))
    assert MARK not in code


def test_an_unknown_field_of_a_stack_is_refused() -> None:
    """Found by mutation: the name was looked up without an end."""
    stacks = stripped(json.loads((PROGRAMS / "stacks.json").read_bytes()))
    stack = stacks["header_stacks"][0]["name"]
    last = {"type": "stack_field", "value": [stack, "colour"]}
    condition = {"op": "==", "left": last, "right": {"type": "hexstr", "value": "0x01"}}
    pipeline = next(i for i, p in enumerate(stacks["pipelines"]) if p["conditionals"])
    root = _with(stacks, ("pipelines", pipeline, "conditionals", 0, "expression"), condition)
    model = build_model(root)
    with pytest.raises(ProgramError, match=r"unknown field .*\.colour"):
        generate(model)


def test_a_field_in_place_of_a_header_is_refused() -> None:
    """Found by mutation: a list was looked up among names."""
    path = ("calculations", 0, "input")
    inputs = [{"type": "header", "value": ["standard_metadata", "ingress_port"]}]
    message = _refusal(_with(KITCHEN, path, inputs))
    assert "calculations[0].input[0].value: Input should be a valid string" in message


@pytest.mark.parametrize("width", [129, 256, 2048])
@pytest.mark.parametrize("name", ["egress_spec", "mcast_grp", "priority"])
def test_wide_standard_metadata_is_refused(name: str, width: int) -> None:
    """Found by mutation: the C compiler refused it instead."""
    root = copy.deepcopy(programs(PROGRAMS / "queueing.json")[0])
    fields = [f for t in root["header_types"] for f in t["fields"] if f[0] == name]
    assert fields
    for each in fields:
        each[1] = width
    assert outcome(root).kind == "UnsupportedError"


@pytest.mark.parametrize("count", [COUNT // 5, pytest.param(COUNT, marks=pytest.mark.exhaustive)])
def test_mutated_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Refused with a reason, or run under ASan; nothing put in gets into C; bounded memory."""
    monkeypatch.chdir(tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run = Run(seed=20, asan=Asan(tmp_path))
    run.mutate(count)
    assert run.defects == []
    assert set(run.kinds) == {"accepted", "ProgramError", "UnsupportedError"}
    assert run.sanitized >= count // 50
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 512 << 10, "KiB"


def test_a_defect_of_a_mutated_program_is_reported(tmp_path: Path) -> None:
    """Self-test: generated code that reads beyond an array ends with ASan's report."""
    root = programs(PROGRAMS / "queueing.json")[0]
    found = outcome(root)
    assert found.model is not None
    broken = re.sub(
        r"(static void prog_ingress\(sw_engine \*e, sw_pkt \*p\)\n\{\n)",
        r"\1    volatile char o[4]; volatile int i = 4 + (int)p->ingress_port; o[i] = 1;\n",
        found.code,
    )
    assert broken != found.code
    asan = Asan(tmp_path)
    asan.run("queueing", found.model, found.code, random.Random(1))
    with pytest.raises(SanitizerError, match="AddressSanitizer: stack-buffer-overflow"):
        asan.run("queueing", found.model, broken, random.Random(1))
