"""Every requirement the packet tests are to show is named by one, and every test names one."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[2] / "ptf_tests" / "tests"
ID = re.compile(r"\b(?:FCN|SRF|PEC|FAN|ALL)-\d+\b")
SHOWN_BY_PTF = {f"FCN-{n}" for n in range(1, 18) if n != 14} | {"SRF-1", "SRF-2", "SRF-3"}
"""FCN-14 is the sender's reaction; the demo and the traffic generator's tests show it."""


def ptf_tests() -> Iterator[tuple[str, str]]:
    """(file.Class, docstring) of every PTF test."""
    for file in sorted(TESTS.glob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and any(
                isinstance(item, ast.FunctionDef) and item.name == "runTest" for item in node.body
            ):
                yield f"{file.stem}.{node.name}", ast.get_docstring(node) or ""


def test_every_ptf_test_names_its_requirement() -> None:
    assert [name for name, doc in ptf_tests() if not ID.search(doc)] == []


def test_every_requirement_has_a_ptf_test() -> None:
    tests = defaultdict(list)
    for name, doc in ptf_tests():
        for requirement in ID.findall(doc):
            tests[requirement].append(name)
    assert SHOWN_BY_PTF - tests.keys() == set()
