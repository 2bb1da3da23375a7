"""Hidden tables become action calls; others stay."""

import json
from typing import Any

from tools.p4.direct import direct
from tools.p4.programs import COMPILED


def table(name: str, **changes: object) -> dict[str, Any]:
    """A table without keys that always does action 7."""
    entry = {"action_id": 7, "action_const": True, "action_data": [], "action_entry_const": True}
    made = {"name": name, "key": [], "action_ids": [7], "next_tables": {"act": "node_3"}}
    return made | {"default_entry": entry} | changes


def pipeline(*tables: dict[str, Any]) -> dict[str, Any]:
    """BMv2 JSON with one pipeline of these tables."""
    return {"pipelines": [{"name": "ingress", "init_table": "tbl_act", "tables": list(tables)}]}


def test_a_hidden_table_becomes_a_call_of_its_action() -> None:
    before = pipeline(table("tbl_act"), table("tbl_act_0"))
    (after,) = direct(before)["pipelines"]
    assert after["tables"] == []
    assert after["init_table"] == "tbl_act"
    assert after["action_calls"] == [
        {"name": "tbl_act", "id": 0, "action_id": 7, "next_node": "node_3"},
        {"name": "tbl_act_0", "id": 1, "action_id": 7, "next_node": "node_3"},
    ]
    assert before == pipeline(table("tbl_act"), table("tbl_act_0")), "the argument is left alone"


def test_what_the_controller_can_set_stays_a_table() -> None:
    data = {"action_id": 7, "action_const": False, "action_data": ["0x1"]}
    kept = [
        table("domain_mode", default_entry=data),
        table("underlay"),
        table("tbl_key", key=[{"target": ["scalars", "port"]}]),
        table("tbl_two", action_ids=[7, 8]),
        table("tbl_data", default_entry=data),
    ]
    (after,) = direct(pipeline(*kept))["pipelines"]
    assert (after["tables"], after["action_calls"]) == (kept, [])


def test_the_compiled_programs_have_no_hidden_tables() -> None:
    for program in ("pe", "p"):
        compiled = json.loads((COMPILED / f"{program}.json").read_text())
        for part in compiled["pipelines"]:
            assert not [t["name"] for t in part["tables"] if t["name"].startswith("tbl_")]
            assert part["action_calls"]
