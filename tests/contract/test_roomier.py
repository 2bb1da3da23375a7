"""Programs with larger flow tables."""

import json
from pathlib import Path

import pytest

from fcn.contract.constants import PipelineError, compiled_programs
from fcn.contract.pipeline import load_pipeline
from fcn.contract.roomier import TABLES, with_flow_tables


def test_only_the_flow_tables_are_larger(tmp_path: Path) -> None:
    with_flow_tables(load_pipeline("pe"), 512_000, tmp_path)
    before, after = load_pipeline("pe"), load_pipeline("pe", tmp_path)
    grown = {
        table.alias for table in after.schema.tables if table.size != before.table_size(table.alias)
    }
    assert grown == TABLES
    assert {after.table_size(name) for name in TABLES} == {512_000}
    assert before.blob is not None
    assert after.blob is not None
    told = {
        table["name"]: table["max_size"]
        for pipeline in json.loads(after.blob.read_text())["pipelines"]
        for table in pipeline["tables"]
    }
    assert {name for name, size in told.items() if size == 512_000} == TABLES


def test_the_tables_of_a_chip_are_where_they_fit(tmp_path: Path) -> None:
    chip = load_pipeline("pe", compiled_programs() / "tna", binary=False)
    with pytest.raises(PipelineError, match="of a chip"):
        with_flow_tables(chip, 512_000, tmp_path)
