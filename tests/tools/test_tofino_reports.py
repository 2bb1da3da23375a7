"""What the Tofino tools report, read from small samples, and what is written of it."""

import json
from pathlib import Path

import pytest

from fcn.bench.harness import BenchError
from tools.p4 import tofino_record
from tools.p4.tofino_build import CHIPS, ToolError, run
from tools.p4.tofino_record import replace_between, report_table
from tools.p4.tofino_reports import Usage, usage


def stage(number: int, *, tables: int, srams: int = 0, tcams: int = 0, units: int = 0) -> object:
    return {
        "stage_number": number,
        "logical_tables": {"ids": list(range(tables))},
        "rams": {"srams": [{}] * srams},
        "tcams": {"tcams": [{}] * tcams},
        "hash_distribution_units": {"units": [{}] * units},
    }


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """A program in stages 0 and 2 of four."""
    stages = [
        stage(0, tables=2, srams=3, tcams=1),
        stage(1, tables=0),
        stage(2, tables=1, srams=4, units=2),
        stage(3, tables=0),
    ]
    parsers = [{"gress": "ingress", "states": [{}] * 5}, {"gress": "egress", "states": [{}] * 2}]
    resources = {"resources": {"mau": {"mau_stages": stages}, "parser": {"parsers": parsers}}}
    slices = [(1, 0, 7), (1, 4, 11), (2, 0, 15)]
    containers = [
        {"phv_number": number, "slices": [{"slice_info": {"lsb": low, "msb": high}}]}
        for number, low, high in slices
    ]
    logs = tmp_path / "pipe" / "logs"
    logs.mkdir(parents=True)
    (logs / "resources.json").write_text(json.dumps(resources))
    (logs / "phv.json").write_text(json.dumps({"containers": containers}))
    return tmp_path


def test_usage_is_counted(reports: Path) -> None:
    assert usage("pe", CHIPS[0], reports, assembled=True) == Usage(
        program="pe",
        chip="Tofino 1",
        stages=3,
        srams=7,
        tcams=1,
        # Bits 4 to 7 of container 1 are shared.
        phv_bits=12 + 16,
        hash_units=2,
        parser_rows_ingress=5,
        parser_rows_egress=2,
        assembled=True,
    )


def test_usage_is_shown_against_the_chip(reports: Path) -> None:
    row = report_table([usage("pe", CHIPS[0], reports, assembled=False)]).splitlines()[-1]
    assert row == (
        "| pe | Tofino 1 | 3 of 12 | 7 of 960 | 1 of 288 | 28 | 2 of 72 | 5 / 2 of 256 each | no |"
    )


def test_only_the_named_part_of_the_document_is_replaced() -> None:
    marker = "written by tools/p4/tofino_record.py"
    text = f"a\n<!-- x: {marker} -->\nold\n<!-- end of x -->\nb\n<!-- y: {marker} -->\n"
    changed = text.replace("old", "new")
    assert replace_between(text, "x", "new") == changed
    with pytest.raises(BenchError, match="there is no <!-- y"):
        replace_between(text, "y", "new")


def test_the_document_has_all_markers() -> None:
    text = tofino_record.DOCUMENT.read_text()
    for name in ("resources", "compiler", "changed"):
        assert "replaced" in replace_between(text, name, "replaced")


def test_a_source_that_is_gone_is_named_without_a_path() -> None:
    text = tofino_record.changed_text(["base/types.p4", "base/gone.p4"])
    assert text.endswith("**not placed again**: `p4src/base/types.p4`; removed: base/gone.p4.")


def test_a_tool_that_fails_is_quoted(tmp_path: Path) -> None:
    command = ["sh", "-c", "echo fine; echo 'x.p4(3): error: no such thing' >&2; exit 1"]
    with pytest.raises(ToolError, match=r"^sh: x\.p4\(3\): error: no such thing$"):
        run(command, tmp_path / "log")
    assert (tmp_path / "log").read_text().startswith("fine")
