"""Who may import whom below the controller's services: arrows go downwards only."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def imported(package: str) -> set[str]:
    """Modules of the project that the files of a package import."""
    found: set[str] = set()
    for file in (ROOT / package).glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                found.add(node.module or "")
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
    return {module for module in found if module.split(".")[0] == "fcn"}


@pytest.mark.parametrize(
    ("package", "below"),
    [
        ("contract", ("fcn.contract",)),
        ("packets", ("fcn.packets",)),
        ("controller/config", ("fcn.contract", "fcn.packets.wire", "fcn.controller.config")),
        ("controller/owners", ("fcn.contract", "fcn.controller.config", "fcn.controller.owners")),
    ],
)
def test_imports_go_downwards(package: str, below: tuple[str, ...]) -> None:
    found = imported(package)
    assert found
    assert {module for module in found if not module.startswith(below)} == set()
