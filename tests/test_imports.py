"""Imports go downwards only: between modules, between the controller's rooms, between packages.

The graph is read from the sources, so an import inside a function or under TYPE_CHECKING counts.
"""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import fcn

ROOT = Path(fcn.__file__).parent

PACKAGES = (
    ("contract", "packets"),
    ("softswitch", "hosts", "controller"),
    ("topologies",),
    ("lab",),
    ("ptf_tests",),
    ("bench",),
)
"""Lowest first; those of one line know nothing of each other."""

ROOMS = (
    ("clock", "throttle", "finsy_adapter"),
    ("config", "events", "logs", "proto"),
    ("owners",),
    ("flows",),
    ("neighbors",),
    ("node",),
    ("hostagent",),
    ("northbound",),
    ("app",),
    ("cli",),
)
"""Packages and modules of `fcn.controller`, lowest first. Who emits events is above `events`."""

Graph = dict[str, set[str]]
"""What each module imports."""


def sources(folder: Path, name: str) -> dict[str, Path]:
    """The modules of a package by their full names. The links in fcn/ are followed."""
    found: dict[str, Path] = {}
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and (entry / "__init__.py").exists():
            found |= sources(entry, f"{name}.{entry.name}")
        elif entry.suffix == ".py":
            found[name if entry.stem == "__init__" else f"{name}.{entry.stem}"] = entry
    return found


def imported(tree: ast.AST, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules among `modules` that a source names in its imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not used here"
            assert node.module
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                if submodule in modules:
                    yield submodule
                elif node.module in modules:
                    yield node.module


def import_graph(folder: Path, name: str) -> Graph:
    """The imports between the modules of a package."""
    modules = sources(folder, name)
    return {
        module: set(imported(ast.parse(file.read_text("utf-8")), modules))
        for module, file in modules.items()
    }


def parts_of(graph: Graph, package: str) -> Graph:
    """The same between the parts of a package: `a.b.c` is of part `b` of `a`."""
    prefix = f"{package}."
    parts: Graph = {}
    for module, others in graph.items():
        if module.startswith(prefix):
            part = module.removeprefix(prefix).partition(".")[0]
            targets = (each.removeprefix(prefix) for each in others if each.startswith(prefix))
            parts.setdefault(part, set()).update(
                name for target in targets if (name := target.partition(".")[0]) != part
            )
    return parts


def cycle(graph: Graph) -> str:
    """A cycle as text, "" when there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # graphlib names predecessors first: each module is imported by the next.
        return " imports ".join(reversed(error.args[1]))
    return ""


def upward(parts: Graph, order: tuple[tuple[str, ...], ...]) -> list[str]:
    """Imports that do not go to a lower line of the order, and parts that are in no line."""
    level = {part: number for number, line in enumerate(order) for part in line}
    wrong = [f"{part} is not in the declared order" for part in parts if part not in level]
    wrong += [
        f"{part} imports {other}"
        for part, others in parts.items()
        for other in others
        if part in level and other in level and level[other] >= level[part]
    ]
    return sorted(wrong)


@pytest.fixture(scope="module")
def graph() -> Graph:
    found = import_graph(ROOT, "fcn")
    assert {"fcn.contract.targets", "fcn.controller.app", "fcn.bench.forwarding"} <= found.keys()
    return found


def test_no_module_imports_itself_by_way_of_others(graph: Graph) -> None:
    assert cycle(graph) == ""


def test_no_room_of_the_controller_imports_itself_by_way_of_others(graph: Graph) -> None:
    assert cycle(parts_of(graph, "fcn.controller")) == ""


def test_rooms_of_the_controller_import_lower_ones_only(graph: Graph) -> None:
    assert upward(parts_of(graph, "fcn.controller"), ROOMS) == []


def test_packages_import_lower_ones_only(graph: Graph) -> None:
    assert upward(parts_of(graph, "fcn"), PACKAGES) == []


def test_every_part_of_the_declared_orders_exists(graph: Graph) -> None:
    for package, order in (("fcn", PACKAGES), ("fcn.controller", ROOMS)):
        declared = {part for line in order for part in line}
        assert declared == parts_of(graph, package).keys(), package


def test_cycles_and_upward_imports_are_named(tmp_path: Path) -> None:
    """Of modules and of parts, through an import in a function too."""
    for name, text in {
        "__init__": "",
        "low/__init__": "",
        "low/a": "from house.low import b",
        "low/b": "def late():\n    import house.low.a\n",
        "low/c": "from house.high.d import D",
        "high/__init__": "from os import path",
        "high/d": "from house.low.a import late",
    }.items():
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    found = import_graph(tmp_path, "house")
    assert found["house.low.c"] == {"house.high.d"}
    assert cycle(found) in (
        "house.low.a imports house.low.b imports house.low.a",
        "house.low.b imports house.low.a imports house.low.b",
    )
    parts = parts_of(found, "house")
    assert cycle(parts) in ("low imports high imports low", "high imports low imports high")
    assert upward(parts, (("low",), ("high",))) == ["low imports high"]
    assert upward(parts, (("low",),)) == ["high is not in the declared order"]
