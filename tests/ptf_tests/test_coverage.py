"""The share of the programs that the packet tests reach: what counts, and what fails."""

import hashlib
import json
from pathlib import Path

import pytest

from fcn.contract.pipeline import load_pipeline
from fcn.ptf_tests import coverage, runner
from fcn.ptf_tests.coverage import FLOOR, PROGRAMS, measure, points, read
from fcn.ptf_tests.runner import Totals
from fcn.softswitch.engine.codegen.unit import generate_with_points
from fcn.softswitch.engine.loader import parse_json


def digest(name: str) -> str:
    """What a program is called in a switch's file."""
    blob = load_pipeline(name).blob
    assert blob is not None
    return hashlib.sha256(blob.read_bytes()).hexdigest()


@pytest.fixture
def every() -> dict[str, dict[str, str]]:
    """All points of the programs."""
    return {name: points(load_pipeline(name)) for name in PROGRAMS}


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list of what is unreachable in place of the committed one, empty at first."""
    file = tmp_path / "unreachable.toml"
    file.write_text("")
    monkeypatch.setattr(coverage, "UNREACHABLE", file)
    return file


def all_but(names: dict[str, dict[str, str]], missing: int) -> dict[str, set[str]]:
    """What switches saw when they missed that many points of P."""
    seen = {digest("pe"): set(names["pe"])}
    kept = sorted(set(names["p"].values()))[missing:]
    return seen | {digest("p"): {point for point, name in names["p"].items() if name in kept}}


@pytest.mark.parametrize("name", PROGRAMS)
def test_points_are_those_of_the_softswitch(name: str, every: dict[str, dict[str, str]]) -> None:
    blob = load_pipeline(name).blob
    assert blob is not None
    _, known = generate_with_points(parse_json(blob.read_bytes()))
    assert set(every[name]) <= set(known)
    assert len(set(every[name].values())) > len(known) / 2


def test_what_is_listed_is_there_with_a_reason(every: dict[str, dict[str, str]]) -> None:
    lists = coverage.unreachable()
    assert set(lists) <= set(PROGRAMS)
    for name, reasons in lists.items():
        assert set(reasons) <= set(every[name].values())
        assert all(reasons.values())


@pytest.mark.usefixtures("listed")
def test_less_than_the_floor_fails(every: dict[str, dict[str, str]]) -> None:
    total = len(set(every["p"].values()))
    enough = int(total * (1 - FLOOR))
    pe, p = measure(all_but(every, enough))
    assert (pe.green, p.green, p.reached, len(p.missing)) == (True, True, total - enough, enough)
    assert [each.green for each in measure(all_but(every, enough + 1))] == [True, False]
    assert [each.reached for each in measure({})] == [0, 0]


def test_what_cannot_be_reached_does_not_count(
    listed: Path, every: dict[str, dict[str, str]]
) -> None:
    first, *others = sorted(set(every["p"].values()))
    listed.write_text(f"[[p]]\nreason = 'because'\npoints = ['''{first}''']\n")
    _, p = measure(all_but(every, 1))
    assert (p.reachable, p.missing, p.wrong) == (len(others), (), ())


def test_what_is_reached_after_all_or_is_not_there_fails(
    listed: Path, every: dict[str, dict[str, str]]
) -> None:
    first = min(every["p"].values())
    listed.write_text(f"[[p]]\nreason = 'because'\npoints = ['''{first}''', 'state nowhere']\n")
    _, p = measure(all_but(every, 0))
    assert not p.green
    assert p.wrong == (
        f"{first!r} is reached, but listed as unreachable",
        "'state nowhere' is listed as unreachable, but is not there",
    )


def test_files_of_switches_are_put_together(tmp_path: Path) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    files[0].write_text(json.dumps({"a": ["x"]}))
    files[1].write_text(json.dumps({"a": ["y"], "b": []}))
    assert read(files) == {"a": {"x", "y"}, "b": set()}


@pytest.mark.usefixtures("listed")
def test_a_run_that_reaches_too_little_is_not_green(
    tmp_path: Path, every: dict[str, dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "coverage"
    seen = all_but(every, 0)
    file.write_text(json.dumps({name: sorted(found) for name, found in seen.items()}))
    assert runner.with_coverage(Totals(7, 0, 0), [file]) == Totals(7, 0, 0)
    assert "100.0 %" in capsys.readouterr().out
    file.write_text("{}")
    assert runner.with_coverage(Totals(7, 0, 0), [file]) == Totals(7, 1, 0)
    assert "  state start\n" in capsys.readouterr().out
