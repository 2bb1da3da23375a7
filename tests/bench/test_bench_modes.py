"""The modes beside each other in the laboratory: a short run, and what is written."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fcn.bench import modes
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan, load_scenario, make_scenario
from fcn.topologies.demo.comparison import Figures

ACCESS_NS = 500
TO_QUEUE_NS = 250_000
"""Between the ingress PE and the queue, 50 km."""

ROUND_ABOUT_NS = 5 * 250_000
"""A packet waits this long at most at a queue that is told of within half a millisecond."""


def short(name: str = "modes-100-km") -> Plan:
    """The same for 24 ms, the second sender from 6 ms on."""
    data: dict[str, Any] = yaml.safe_load(load_scenario(name).text)
    data["duration"] = "24ms"
    data["traffic"][1]["start"] = "6ms"
    return make_scenario(data, name)


def run(mode: Any) -> Figures:  # noqa: ANN401 - a mode of the laboratory
    plan = short().using(mode=mode)
    return modes.figures(plan, run_scenario(plan))


def test_with_fcn_the_queue_is_small_and_other_traffic_hardly_waits() -> None:
    found = run("fcn")
    assert found.reaction_ns == pytest.approx(TO_QUEUE_NS + ACCESS_NS, abs=100)
    assert found.dropped == 0
    assert 30e9 < sum(found.goodput_bps.values()) < 100e9
    assert set(found.goodput_bps) == {"h1", "h2"}
    assert found.fairness is not None
    assert found.fairness > 0.9
    queued, beside = found.others
    assert (queued.lost, beside.lost) == (0, 0)
    assert queued.delay_ns is not None
    assert beside.delay_ns is not None
    assert beside.delay_ns < 5_000 < queued.delay_ns < ROUND_ABOUT_NS


def test_with_messages_about_paths_senders_hear_as_soon() -> None:
    found = run("fantel")
    assert found.reaction_ns == pytest.approx(TO_QUEUE_NS + ACCESS_NS, abs=100)
    assert found.dropped == 0, "nor are messages that were taken"
    queued, beside = found.others
    assert queued.delay_ns is not None
    assert beside.delay_ns is not None
    assert beside.delay_ns < 5_000 < queued.delay_ns < ROUND_ABOUT_NS


def test_without_marks_the_queue_overflows_and_other_traffic_waits_behind_it() -> None:
    found = run("none")
    assert found.reaction_ns is None
    assert found.dropped > 0
    queued, beside = found.others
    assert queued.delay_ns is not None
    assert beside.delay_ns is not None
    assert beside.delay_ns < 5_000
    # All 128 MB of the queue at 100 Gb/s take 10 ms.
    assert queued.delay_ns > 5e6


def test_tables_plots_and_figures_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(modes, "load_scenario", short)
    chosen = ["--scenario", "modes-100-km", "--mode", "ecn", "fcn"]
    monkeypatch.setattr(sys, "argv", ["modes", *chosen, "--results", str(tmp_path)])
    modes.main()
    written = json.loads((tmp_path / "modes.json").read_text())["modes-100-km"]
    assert list(written) == ["ecn", "fcn"]
    assert written["fcn"]["reaction_ns"] < written["ecn"]["reaction_ns"]
    assert written["fcn"]["peak_queue"] < written["ecn"]["peak_queue"]
    assert (tmp_path / "modes-100-km.png").stat().st_size > 10_000
    shown = capsys.readouterr().out
    assert "250.5" in shown
    assert "Jain's index" in shown
