"""Programs outside the subset are rejected by name of construct, invalid JSON with the reason."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine_scenarios import PROGRAMS

from fcn.softswitch.engine import ProgramError, UnsupportedError, load_program
from fcn.softswitch.engine.codegen.unit import generate
from fcn.softswitch.engine.loader import parse_json
from fcn.softswitch.engine.model import Vector

Json = dict[str, Any]
UNIONS: Json = json.loads((PROGRAMS / "unions.json").read_text())
KITCHEN: Json = json.loads((PROGRAMS / "kitchen.json").read_text())


def _table(j: Json) -> Json:
    table: Json = next(t for t in j["pipelines"][0]["tables"] if t["key"])
    return table


def _primitive(j: Json) -> Json:
    primitive: Json = next(p for a in j["actions"] for p in a["primitives"])
    return primitive


def _add(key: str, value: Json) -> Callable[[Json], None]:
    return lambda j: j[key].append(value)


CASES: list[tuple[str, Callable[[Json], None], str]] = [
    ("extern", _add("extern_instances", {"name": "ext"}), "extern instances: 'ext'"),
    ("hash", lambda j: j["calculations"][0].update(algo="xxh64"), "'xxh64'"),
    ("primitive", lambda j: _primitive(j).update(op="teleport"), "primitive 'teleport'"),
    (
        "match kind",
        lambda j: _table(j)["key"][0].update(match_type="magic"),
        "match_type: match kind 'magic'",
    ),
    ("two parsers", lambda j: j["parsers"].append(j["parsers"][0]), "one parser"),
    ("pipelines", lambda j: j["pipelines"][1].update(name="main"), "'ingress', 'main'"),
    ("version", lambda j: j["__meta__"].update(version=[3, 0]), "version 3"),
    (
        "register width",
        lambda j: j["register_arrays"][0].update(bitwidth=256),
        r"register_arrays\[\d\]: register I.seen of 256 bits",
    ),
    (
        "parser operation",
        lambda j: j["parsers"][0]["parse_states"][0]["parser_ops"][0].update(op="warp"),
        "parser operation 'warp'",
    ),
    (
        "deparser",
        lambda j: j["deparsers"][0]["primitives"].append({"op": "assign_header"}),
        "'assign_header' in the deparser",
    ),
]


def test_a_text_alone_is_logged(tmp_path: Path) -> None:
    """`log_msg("text")` as p4c's ExternConverter_log_msg writes it."""
    j = copy.deepcopy(KITCHEN)
    action = next(a for a in j["actions"] if a["primitives"])
    vector = {"type": "parameters_vector", "value": {}}
    text = {"type": "string", "value": "text"}
    action["primitives"].append({"op": "log_msg", "parameters": [text, vector]})
    path = tmp_path / "program.json"
    path.write_text(json.dumps(j))
    model = parse_json(path.read_bytes())
    assert model.actions[action["id"]].primitives[-1].params[-1] == Vector(())
    assert generate(model)


@pytest.mark.parametrize(("change", "words"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_refused_by_name(change: Callable[[Json], None], words: str, tmp_path: Path) -> None:
    j = copy.deepcopy(KITCHEN)
    change(j)
    path = tmp_path / "program.json"
    path.write_text(json.dumps(j))
    with pytest.raises(UnsupportedError, match=words):
        load_program(path)


def _vset_transition(j: Json) -> Json:
    states = j["parsers"][0]["parse_states"]
    found: Json = next(t for s in states for t in s["transitions"] if t["type"] == "parse_vset")
    return found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda j: _vset_transition(j).update(value="none"), "there is no value set 'none'"),
        (lambda j: _vset_transition(j).update(value=None), "there is no value set None"),
        (lambda j: _vset_transition(j).update(value="0x1"), "there is no value set 1"),
        (lambda j: _vset_transition(j).update(type="hexstr"), "a transition needs a value"),
        (lambda j: _vset_transition(j).update(mask="0xff"), "a mask on the parser value set"),
        (
            lambda j: _vset_transition(j).update(value="P.pairs"),
            "16 bits for the value set P.pairs",
        ),
        (lambda j: j["parse_vsets"].append(j["parse_vsets"][0]), "is there twice"),
        (lambda j: j["parse_vsets"][0].update(compressed_bitwidth=0), "greater than or equal to 1"),
        (lambda j: j["parse_vsets"][0].update(max_size=1 << 40), "less than or equal to"),
    ],
)
def test_value_sets_that_contradict(change: Callable[[Json], object], words: str) -> None:
    j = json.loads((PROGRAMS / "valuesets.json").read_text())
    change(j)
    with pytest.raises(ProgramError, match=words):
        generate(parse_json(json.dumps(j).encode()))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda j: j["header_unions"][0].update(union_type="w"),
            r"header_unions\[0\]: .* type 'w'",
        ),
        (lambda j: j["header_unions"][0]["header_ids"].pop(), "not the headers of u_t"),
        (lambda j: j["header_unions"][0]["header_ids"].reverse(), "not the headers of u_t"),
        (lambda j: j["header_unions"][0].update(header_ids=[0, 99, 1]), "not the headers of u_t"),
        (lambda j: j["header_unions"][0].update(j["header_unions"][1]), "'v' is there twice"),
        (
            lambda j: j["header_unions"][0].update(header_ids=j["header_unions"][1]["header_ids"]),
            "header_unions and header_stacks, header_ids: 7 is there twice",
        ),
        (lambda j: j["header_union_stacks"][0]["header_union_ids"].append(99), "99 is no union"),
        (lambda j: j["header_union_stacks"][0]["header_union_ids"].append(3), "3 is there twice"),
        (lambda j: j["header_union_stacks"][0].update(header_union_ids=[]), "at least 1 item"),
        (lambda j: j["header_union_stacks"][0].update(name="x"), "stack of header unions 'us'"),
        (lambda j: j["header_union_types"][0]["headers"][0].__setitem__(0, "z"), "no header 'a'"),
    ],
)
def test_unions_that_contradict(change: Callable[[Json], object], words: str) -> None:
    j = copy.deepcopy(UNIONS)
    change(j)
    with pytest.raises(ProgramError, match=words):
        parse_json(json.dumps(j).encode())


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "not JSON"), ("[]", "no 'pipelines'"), ('{"pipelines": []}', "malformed BMv2 JSON")],
)
def test_not_a_program(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    path.write_text(text)
    with pytest.raises(ProgramError, match=words):
        load_program(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="cannot read"):
        load_program(tmp_path / "none.json")


def test_unknown_field_is_an_error(tmp_path: Path) -> None:
    j = copy.deepcopy(KITCHEN)
    _table(j)["key"][0]["target"] = ["eth", "colour"]
    path = tmp_path / "program.json"
    path.write_text(json.dumps(j))
    with pytest.raises(ProgramError, match=r"unknown field eth\.colour"):
        load_program(path)


def test_the_library_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = load_program(PROGRAMS / "queueing.json").library
    built = first.stat().st_ino
    assert first.is_relative_to(tmp_path / "fcn" / "softswitch")
    again = load_program(PROGRAMS / "queueing.json").library
    assert (again, again.stat().st_ino) == (first, built)
