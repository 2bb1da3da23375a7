"""Fields that one side of the queues has for itself are not in packets that wait."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_scenarios import PROGRAMS

from fcn.contract.constants import compiled_programs
from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.codegen.layout import Layout
from fcn.softswitch.engine.codegen.points import Notes
from fcn.softswitch.engine.codegen.sides import Side, one_sided
from fcn.softswitch.engine.loader import parse_json

COMPILED = [compiled_programs() / each for each in ("pe.json", "fcn/pe.json", "fcn/p.json")]
KITCHEN = PROGRAMS / "kitchen.json"
FILES = [pytest.param(each, id=f"{each.parent.name}-{each.stem}") for each in (*COMPILED, KITCHEN)]


def fields_of(part: object) -> Iterator[m.FieldRef]:
    """The fields that a part of a JSON names."""
    if isinstance(part, dict):
        if part.get("type") == "field":
            yield m.FieldRef(*part["value"])
        for each in part.values():
            yield from fields_of(each)
    elif isinstance(part, list):
        for each in part:
            yield from fields_of(each)


def parts_of(root: dict[str, Any], side: Side) -> Iterator[object]:
    name = {Side.INGRESS: "ingress", Side.EGRESS: "egress"}[side]
    pipeline = next(each for each in root["pipelines"] if each["name"] == name)
    numbers = {number for table in pipeline["tables"] for number in table["action_ids"]}
    numbers |= {call["action_id"] for call in pipeline.get("action_calls", [])}
    yield pipeline
    yield [{"type": "field", "value": k["target"]} for t in pipeline["tables"] for k in t["key"]]
    actions = [action for action in root["actions"] if action["id"] in numbers]
    yield actions
    called = json.dumps(actions)
    yield [each for each in root["calculations"] if json.dumps(each["name"]) in called]
    if side is Side.INGRESS:
        yield root["parsers"]


@pytest.mark.parametrize("file", FILES)
def test_the_other_side_does_not_name_them_nor_does_a_list(file: Path) -> None:
    data = file.read_bytes()
    root = json.loads(data)
    named = {side: set(fields_of(list(parts_of(root, side)))) for side in Side}
    lists = set(fields_of([root["field_lists"], root["learn_lists"], root["checksums"]]))
    found = one_sided(parse_json(data))
    assert found
    for ref, side in found.items():
        (other,) = set(Side) - {side}
        assert ref in named[side]
        assert ref not in named[other]
        assert ref not in lists


def test_of_the_local_variables_of_fcn_hardly_any_is_in_packets() -> None:
    for file in COMPILED:
        model = parse_json(file.read_bytes())
        apart = {ref.field for ref in one_sided(model) if ref.header == "locals"}
        lists = [each.fields for each in model.field_lists.values()]
        lists += [each.fields for each in model.learn_lists.values()]
        kept = {ref for each in lists for ref in each if isinstance(ref, m.FieldRef)}
        names = {each.name for each in model.headers["locals"].type.fields}
        inside = names - apart - {ref.field for ref in kept}
        assert len(inside) < len(names) / 20, sorted(inside)


def test_headers_of_packets_and_standard_metadata_stay() -> None:
    model = parse_json(KITCHEN.read_bytes())
    apart = {ref.header for ref in one_sided(model)}
    assert "standard_metadata" not in apart
    assert not apart & set(model.deparse_order)


@pytest.mark.parametrize("file", FILES)
def test_code_that_tells_stories_goes_on_with_packets_of_the_other(file: Path) -> None:
    model = parse_json(file.read_bytes())
    assert Layout(model).definitions() == Layout(model, Notes.STORIES).definitions()
