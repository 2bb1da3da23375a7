"""The laboratory beside HPCC's simulator, for the first two milliseconds of two flows."""

import statistics

import pytest

from fcn.bench.hpcc.__main__ import EVERY_NS, curves_of, of_simulator, plan_of
from fcn.lab.run.runner import run_scenario

MILLISECOND = 1_000_000


def test_queue_and_rates_are_those_of_hpccs_simulator() -> None:
    """The burst of the first round trip, the cuts that follow, and the way back up."""
    theirs = next(each for each in of_simulator() if each.flows == 2)
    ours = curves_of(run_scenario(plan_of(2), until_ns=2 * MILLISECOND))
    count = 2 * MILLISECOND // EVERY_NS
    assert ours.peak_octets == pytest.approx(theirs.peak_octets, rel=0.05)
    queues = [statistics.mean(each.queue_octets[:count]) for each in (theirs, ours)]
    assert queues[1] == pytest.approx(queues[0], rel=0.3)
    after = slice(3, count)  # the first cuts fall at other times within a tenth of a millisecond
    rates = [statistics.mean(each.rates[after]) for each in (theirs, ours)]
    assert rates[1] == pytest.approx(rates[0], rel=0.05)
    assert rates[0] < 0.9, "both flows have been cut below the link"
