"""What needs no zeros is not cleared for every packet."""

import json
from typing import Any

import pytest

from fcn.softswitch.engine.loader import build_model
from tools.p4.assigned import read_before_written
from tools.p4.programs import COMPILED
from tools.p4.unreset import HEADER, flat, locals_of, unreset


def program() -> dict[str, Any]:
    """BMv2 JSON with a local, a temporary and a field of the user's metadata."""
    scalars = [["tmp", 3, False], ["sum_0", 16, False], ["meta_t._port0", 9, False]]
    scalars.append(["_padding_0", 4, False])
    source = {"type": "field", "value": ["scalars", "meta_t._port0"]}
    target = {"type": "field", "value": ["scalars", "tmp"]}
    return {
        "header_types": [{"name": "scalars_0", "id": 0, "fields": scalars}],
        "headers": [{"name": "scalars", "id": 4, "header_type": "scalars_0", "metadata": True}],
        "parsers": [
            {
                "init_state": "start",
                "parse_states": [
                    {"name": "next", "parser_ops": []},
                    {"name": "start", "parser_ops": [{"op": "extract", "parameters": []}]},
                ],
            }
        ],
        "actions": [{"primitives": [{"op": "assign", "parameters": [target, source]}]}],
        "pipelines": [{"tables": [{"key": [{"target": ["scalars", "sum_0"]}]}]}],
    }


def test_locals_are_fields_of_a_header_of_their_own() -> None:
    before = program()
    after = unreset(before, locals_of(before))
    scalars, own = after["header_types"]
    assert [field[:2] for field in scalars["fields"]] == [["meta_t._port0", 9], ["_padding_0", 7]]
    assert [field[:2] for field in own["fields"]] == [["tmp", 3], ["sum_0", 16], ["_padding_0", 5]]
    (header,) = (each for each in after["headers"] if each["name"] == HEADER)
    assert (header["id"], header["header_type"], header["metadata"]) == (5, own["name"], False)
    target, source = after["actions"][0]["primitives"][0]["parameters"]
    assert (target["value"], source["value"]) == ([HEADER, "tmp"], ["scalars", "meta_t._port0"])
    assert after["pipelines"][0]["tables"][0]["key"][0]["target"] == [HEADER, "sum_0"]
    assert before == program(), "the argument is left alone"


def test_fields_of_a_local_struct_are_locals() -> None:
    before = program()
    budget = [["cell", 32, False], ["due", 1, False], ["_padding", 7, False]]
    before["header_types"].insert(0, {"name": "budget_t", "id": 1, "fields": budget})
    for number, name in enumerate(("tell", "arrive")):
        header = {"name": name, "id": number, "header_type": "budget_t", "metadata": True}
        before["headers"].insert(number, header)
    condition = {"expression": {"type": "field", "value": ["arrive", "due"]}}
    before["pipelines"][0]["conditionals"] = [condition]
    after = flat(before)
    assert [(each["name"], each["id"]) for each in after["headers"]] == [("scalars", 0)]
    assert locals_of(after) - locals_of(before) == {
        "tell_cell",
        "tell_due",
        "arrive_cell",
        "arrive_due",
    }
    assert after["header_types"][1]["fields"][-1] == ["_padding_0", 2, False]
    (moved,) = after["pipelines"][0]["conditionals"]
    assert moved["expression"]["value"] == ["scalars", "arrive_due"]


def test_the_parser_makes_the_header_valid_first() -> None:
    _, start = unreset(program(), {"tmp"})["parsers"][0]["parse_states"]
    assert [each["op"] for each in start["parser_ops"]] == ["primitive", "extract"]
    (add,) = start["parser_ops"][0]["parameters"]
    assert add == {"op": "add_header_fast", "parameters": [{"type": "header", "value": HEADER}]}


def test_a_program_without_such_names_stays_as_it_is() -> None:
    plain = program()
    assert unreset(plain, {"other"}) is plain


@pytest.mark.parametrize("name", ["pe", "p"])
def test_committed_programs_clear_what_needs_zeros_only(name: str) -> None:
    committed = json.loads((COMPILED / f"{name}.json").read_text())
    assert not locals_of(committed)
    cleared = [header["name"] for header in committed["headers"] if header["metadata"]]
    assert cleared == ["scalars", "standard_metadata"]
    assert not read_before_written(committed)
    assert HEADER not in committed["deparsers"][0]["order"]
    build_model(committed)
