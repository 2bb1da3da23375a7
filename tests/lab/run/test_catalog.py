"""Every scenario that comes with fcn becomes ready, and its hosts send."""

import pytest

from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import EXAMPLE, catalog, load_scenario

EVERYDAY = ("all-reduce", "core-failure", "incast", str(EXAMPLE))
"""A job, a failure, a pattern, and the one with every key; all are read in test_load.py."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in EVERYDAY else pytest.mark.exhaustive)
        for name in (*catalog(), str(EXAMPLE))
    ],
)
def test_a_scenario_runs(name: str) -> None:
    plan = load_scenario(name)
    result = run_scenario(plan, until_ns=2 * plan.scenario.measure.interval)
    assert set(result.connections["state"]) == {"connected"}
    of_patterns = result.messages["message"] < len(plan.traffic.sends)
    assert of_patterns.sum() == len(plan.traffic.sends)
    sent = result.rates.groupby("host")["octets"].max()
    starts = [send.start_ns for send in plan.traffic.sends]
    starts += [job.start + job.compute for job in plan.scenario.jobs]
    assert min(starts) >= result.about.reached_ns or sent.max() > 0
