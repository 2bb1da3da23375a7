"""The figures of README.md, written of results."""

import json
from typing import Any

import pytest

from fcn.bench.harness import RESULTS, ROOT, BenchError, machine
from fcn.bench.readme import FILES, in_file, parts_of


@pytest.fixture
def results() -> dict[str, Any]:
    """Those that are kept, as if one commit had made them."""
    kept = {name: json.loads((RESULTS / f"{name}.json").read_text()) for name in FILES}
    for each in kept.values():
        each["machine"]["commit"] = "0123abcd"
    return kept


def test_every_part_has_its_place(results: dict[str, Any]) -> None:
    results["demo"]["runs"]["fcn, real time"]["reaction_ms"] = 7.77
    sweep = {
        "samples": [{"offered": 5e4, "delivered": 5e4}, {"offered": 6e4, "delivered": 5.1234e4}]
    }
    results["forwarding"]["sweeps"][0] |= sweep
    for file, parts in parts_of(results).items():
        text = in_file((ROOT / file).read_text(), parts)
        assert in_file(text, parts) == text
        assert all(part in text for part in parts.values())
        assert "at commit 0123abcd" in text
    readme = parts_of(results)["README.md"]
    assert "7.8 ms after" in readme["headline"]
    assert "| PE | 51,000 |" in readme["figures"]


def test_results_of_several_commits_are_refused(results: dict[str, Any]) -> None:
    results["demo"]["machine"]["commit"] = "89abcdef"
    with pytest.raises(BenchError, match=r"not of one commit.*demo of 89abcdef"):
        parts_of(results)


@pytest.mark.parametrize("commit", ["", "0123abcd changed"])
def test_results_of_what_nobody_has_are_refused(results: dict[str, Any], commit: str) -> None:
    for each in results.values():
        each["machine"]["commit"] = commit
    with pytest.raises(BenchError, match="not of one commit"):
        parts_of(results)


def test_a_switch_that_was_not_measured_is_named(results: dict[str, Any]) -> None:
    sweeps = results["forwarding"]["sweeps"]
    results["forwarding"]["sweeps"] = [each for each in sweeps if each["target"] != "bmv2"]
    with pytest.raises(BenchError, match="pe on bmv2, p on bmv2: not measured"):
        parts_of(results)


def test_results_say_which_commit_was_measured() -> None:
    assert machine()["commit"][:8].isalnum()
