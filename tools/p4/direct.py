"""Calls actions directly where p4c puts a table without keys around them.

p4c's BMv2 back end makes a hidden table of every statement outside of tables and conditions, which
simple_switch locks, looks up and counts for every packet. A call of the action does the same
without. No P4Info names a hidden table.
"""

from typing import Any

from tools.p4.unreset import Json

HIDDEN = "tbl_"
"""What p4c's names of hidden tables begin with; a `@name` of a P4 table here begins otherwise."""


def direct(program: Json) -> Json:
    """The program with action calls in place of hidden tables with one action.

    program: parsed BMv2 JSON as written by p4c.
    """
    return program | {"pipelines": [_calling(pipeline) for pipeline in program["pipelines"]]}


def _calling(pipeline: Json) -> Json:
    hidden = [table for table in pipeline["tables"] if _only_calls(table)]
    calls = [_call(table, number) for number, table in enumerate(hidden)]
    tables = [table for table in pipeline["tables"] if table not in hidden]
    return pipeline | {
        "tables": tables,
        "action_calls": [*pipeline.get("action_calls", []), *calls],
    }


def _only_calls(table: dict[str, Any]) -> bool:
    return (
        str(table["name"]).startswith(HIDDEN)
        and not table["key"]
        and len(table["action_ids"]) == 1
        and table["default_entry"]["action_const"]
        and not table["default_entry"]["action_data"]
    )


def _call(table: dict[str, Any], number: int) -> Json:
    (next_node,) = table["next_tables"].values()
    return {
        "name": table["name"],
        "id": number,
        "action_id": table["action_ids"][0],
        "next_node": next_node,
    }
