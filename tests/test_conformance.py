"""docs/conformance.md names code and tests that exist, and leaves no requirement out."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| ((?:FCN|SRF|PEC|FAN|ALL)-\d+) \|(.*)\|$", re.MULTILINE)
ROWS = {
    name: [cell.strip() for cell in cells.split("|")]
    for name, cells in ROW.findall((ROOT / "docs" / "conformance.md").read_text())
}
LAST = {"FCN": 18, "SRF": 11, "PEC": 6, "FAN": 8, "ALL": 4}
"""Highest number of each draft's requirements."""


def names_in(file: Path) -> set[str]:
    """Classes and functions a Python file defines at its top."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.parse(file.read_text()).body if isinstance(node, kinds)}


def test_every_requirement_has_a_row() -> None:
    assert set(ROWS) == {f"{draft}-{n + 1}" for draft, last in LAST.items() for n in range(last)}


@pytest.mark.parametrize("requirement", ROWS)
def test_row_is_open_or_names_what_exists(requirement: str) -> None:
    _, code, tests, state = ROWS[requirement]
    assert state in {"done", "open"}
    if state == "open":
        return
    paths = re.findall(r"`([^`]+)`", code)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
    references = tests.split(", ")
    for reference in references:
        if reference.startswith("ptf:"):
            module, name = reference.removeprefix("ptf:").split(".")
            file = ROOT / "ptf_tests" / "tests" / f"{module}.py"
        else:
            path, name = reference.split("::")
            file = ROOT / path
        assert file.is_file(), reference
        assert name in names_in(file), reference
