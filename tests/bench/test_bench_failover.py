"""The benchmark of failures: what it measures in a short run, and what it writes."""

import json
import sys
from pathlib import Path

import pytest

from fcn.bench import failover
from fcn.bench.harness import BenchError
from fcn.lab.run.runner import run_scenario


@pytest.mark.exhaustive
def test_results_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = tmp_path / "results.json"
    options = ["--seeds", "1", "--intervals", "1ms", "--scales", "1", "--results", str(results)]
    monkeypatch.setattr(sys, "argv", ["failover", *options])
    monkeypatch.setattr(failover, "WAYS", {"data-plane": "data plane", "igp": "routing"})
    monkeypatch.setattr(failover, "LASTS_NS", 300_000_000)
    monkeypatch.setattr(failover, "SIZE", "15MB")
    failover.main()
    first, second = json.loads(results.read_text())
    assert (first["by"], second["by"], first["interval"]) == ("data-plane", "igp", "1ms")
    assert 1 <= first["ratio"] <= failover.GOAL
    assert first["lost"] < second["lost"]
    assert results.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_a_run_without_a_failure_is_an_error() -> None:
    plan = failover.scenario("data-plane", "1ms", 1, 1)
    result = run_scenario(plan, until_ns=1_000_000)
    with pytest.raises(BenchError, match="not detected"):
        failover.measured(plan, "data-plane", "1ms", 1, result)
