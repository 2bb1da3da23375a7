"""Names of the contract exist in every program, through what its target calls them."""

import pytest

from fcn.contract.constants import compiled_programs
from fcn.contract.names import (
    CM_DIGESTS,
    COUNTER_ENUMS,
    FLOW_TABLES,
    LABEL_TABLES,
    NEW_FLOW_DIGESTS,
    PORT_COUNTERS,
    ROUTE_TABLES,
)
from fcn.contract.pipeline import Pipeline, load_pipeline
from fcn.contract.targets import TOFINO1, V1MODEL

TNA = compiled_programs() / "tna"
PIPELINES = [load_pipeline("pe"), load_pipeline("pe", TNA, binary=False)]


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: p.target.name)
def test_names_are_in_the_program(pipeline: Pipeline) -> None:
    tables = {table.alias for table in pipeline.schema.tables}
    assert {*FLOW_TABLES.values(), *LABEL_TABLES.values(), *ROUTE_TABLES.values()} <= tables
    digests = {digest.alias for digest in pipeline.schema.digests}
    assert {*NEW_FLOW_DIGESTS.values(), *CM_DIGESTS.values()} == digests
    parts = [pipeline.counter_parts(name) for name in (*COUNTER_ENUMS, *PORT_COUNTERS)]
    assert all(parts)
    assert {part for each in parts for part in each} == pipeline.counters
    for enum in COUNTER_ENUMS.values():
        assert pipeline.enum(enum)["NONE"] == 0


def test_actions_are_named_by_table() -> None:
    for table, name in (("flow_ipv6", "set_flow_label_ipv6"), ("flow_ipv4", "set_flow_label")):
        assert TOFINO1.names.action(table, "set_flow_label") == name
        assert V1MODEL.names.action(table, "set_flow_label") == "set_flow_label"
