"""The benchmark of reactions: what it measures at a short distance, and what it writes."""

import json
import sys
from pathlib import Path

import pytest

from fcn.bench import reaction
from fcn.bench.harness import BenchError
from fcn.lab.run.runner import run_scenario
from fcn.topologies.units import NS_PER_KM

ACCESS_NS = 500


@pytest.mark.exhaustive
def test_results_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 20 km: FCN and END.CON after the way from the queue to the sender, with end-to-end ECN
    after the way by the receiver, three times as long; all to a few packets' time."""
    results = tmp_path / "results.json"
    monkeypatch.setattr(reaction, "SENDERS", ((2, "8MB"),))
    monkeypatch.setattr(sys, "argv", ["reaction", "--km", "20", "--results", str(results)])
    reaction.main()
    fcn, end_con, ecn = json.loads(results.read_text())
    assert (fcn["mode"], fcn["by"], ecn["mode"], ecn["by"]) == (
        "fcn", "ingress PE", "ecn", "receiver"
    )  # fmt: skip
    assert fcn["bound_ns"] == 20 * NS_PER_KM + ACCESS_NS
    there = (20 + reaction.LAST_KM) * NS_PER_KM + ACCESS_NS
    back = (20 + 20 + reaction.LAST_KM) * NS_PER_KM + 2 * ACCESS_NS
    assert ecn["bound_ns"] == there + back
    assert 0 < fcn["reaction_ns"] - fcn["bound_ns"] < 100
    assert (end_con["mode"], end_con["by"]) == ("end-con", "ingress PE")
    assert end_con["bound_ns"] == fcn["bound_ns"]
    # A CNP to END.CON is longer than a Fast CNP.
    assert 0 <= end_con["reaction_ns"] - fcn["reaction_ns"] < 100
    assert 0 < ecn["reaction_ns"] - ecn["bound_ns"] < 2_000
    assert fcn["ratio"] == fcn["reaction_ns"] / fcn["bound_ns"] <= reaction.GOAL
    for row in (fcn, end_con, ecn):
        assert (row["congestions"], row["answered"]) == (1, 1.0)
        assert 0 < row["random_answered"] <= 1
    assert fcn["random_ratio"] > 1.5


def test_a_run_without_reaction_is_an_error() -> None:
    plan = reaction.scenario(20, 1, "4kB")
    with pytest.raises(BenchError, match="no congestion"):
        reaction.measured(20, 1, run_scenario(plan))
