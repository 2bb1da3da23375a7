"""The laboratory as a library: a scenario made in code, run, and its tables."""

import subprocess
import sys
from pathlib import Path

import pytest

from fcn import lab


def test_a_scenario_is_made_run_and_analysed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plan = lab.make_scenario(
        {
            "network": "dumbbell",
            "duration": "20ms",
            "links": {
                "core": {"rate": "100 Gb/s"},
                "only": [
                    {"between": ["pe1", "p1"], "delay": "1us"},
                    {"between": ["p1", "p2"], "delay": "1us", "rate": "50 Gb/s"},
                    {"between": ["p2", "pe2"], "delay": "1us"},
                ],
            },
            "traffic": [{"pattern": "messages", "from": ["h1"], "to": ["h5"], "size": "300kB"}],
        },
        "own",
    )
    results = {mode: lab.run_scenario(plan.using(mode=mode)) for mode in ("none", "ecn")}
    took = {
        mode: int((each.messages["completed_ns"] - each.messages["start_ns"]).iloc[0])
        for mode, each in results.items()
    }
    at_full_rate = 3e5 / 1024 * (1024 + 44 + 14 + 40 + 24) * 8 / 50
    round_trip = 2 * 3 * 1000
    assert took["none"] == pytest.approx(at_full_rate + round_trip, rel=0.02)
    cuts = {mode: int(each.connections["cuts"].sum()) for mode, each in results.items()}
    assert cuts["none"] == 0 < cuts["ecn"]
    lab.save_result(results["ecn"], tmp_path / "own")
    assert lab.load_result(tmp_path / "own").about == results["ecn"].about
    assert not caplog.records, "a library does not complain where nothing is wrong"


def test_a_scenario_made_in_code_is_checked() -> None:
    with pytest.raises(lab.ScenarioError, match="own:1: duration: is missing"):
        lab.make_scenario({"network": "wan"}, "own")


def test_the_simulation_alone_needs_no_packages_of_results() -> None:
    code = "import sys, fcn.lab.core; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lab.nothing
