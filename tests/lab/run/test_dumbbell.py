"""The shipped dumbbell converges, with end-to-end ECN and with FCN."""

import pytest

from fcn.lab.modes import Mode
from fcn.lab.report.remarks import goodput_bps, remarks
from fcn.lab.result.convergence import long_connections
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import load_scenario

CORE_BPS = 10**11


@pytest.mark.parametrize("mode", ["ecn", "fcn"])
def test_rates_settle_and_use_the_link(mode: Mode) -> None:
    result = run_scenario(load_scenario("dumbbell").using(mode=mode))
    found = long_connections(result)
    assert len(found) == 4
    assert all(each.settled for each in found), found
    assert remarks({"run": result}) == []
    assert goodput_bps(result) > 0.75 * CORE_BPS


@pytest.mark.parametrize("name", ["dumbbell", "parking-lot"])
def test_a_flow_is_cut_again_before_it_is_raised(name: str) -> None:
    hosts = load_scenario(name).scenario.hosts
    assert hosts.dcqcn.cut_interval < hosts.dcqcn.increase_period
