"""The way of a customer's packet through the programs, counted: as docs/architecture.md says."""

from functools import cache
from pathlib import Path

import pytest

from fcn.bench.journey import Journey, Node, measured
from fcn.contract.profiles import FULL, LEAST

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
LIMITS = {"PE, profile `fcn`": (60, 15, 5), "P, profile `fcn`": (60, 15, 5)}
"""Nodes, files and jumps back. The goals are 60, 15 and 5, which both meet."""


@cache
def journeys_of(profile: str) -> dict[str, Journey]:
    """By program."""
    return measured(profile)


@pytest.fixture
def journeys() -> dict[str, Journey]:
    """Of the profile without modes."""
    return journeys_of(LEAST)


def test_jumps_and_jumps_back_are_counted() -> None:
    files = ["a", "a", "b", "a", "c", "c", "b"]
    passed = Journey(tuple(Node(str(number), file) for number, file in enumerate(files)))
    assert passed.row("x") == "| x | 7 | 3 | 4 | 2 |"


@pytest.mark.parametrize("profile", [LEAST, pytest.param(FULL, marks=pytest.mark.exhaustive)])
def test_the_page_says_how_long_the_way_is(profile: str) -> None:
    """`python -m fcn.bench.journey` prints the rows."""
    rows = [each.row(name) for name, each in journeys_of(profile).items()]
    page = PAGE.read_text("utf-8")
    assert [row for row in rows if row not in page] == []


@pytest.mark.parametrize("program", LIMITS)
def test_the_way_does_not_grow(program: str, journeys: dict[str, Journey]) -> None:
    passed = journeys[program]
    found = len(passed.nodes), len(passed.files), passed.back
    assert all(count <= limit for count, limit in zip(found, LIMITS[program], strict=True))


def test_tables_on_the_way_are_in_their_files(journeys: dict[str, Journey]) -> None:
    """What a reader meets first and last in the journey of docs/architecture.md."""
    files = {node.name: node.file for node in journeys["PE, profile `fcn`"].nodes}
    assert files["port_role"] == "forwarding/port_role.p4"
    assert files["flow_ipv4"] == "learning/flow_table.p4"
    assert files["queue_level"] == "fast_cnp/queue_level.p4"
