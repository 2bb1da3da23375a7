"""Scenarios whose hosts have DCQCN as it is published or delivered."""

from functools import cache
from typing import get_args

import pytest
from small import small

from fcn.lab.controls import Dcqcn
from fcn.lab.report.tables import details
from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.dcqcn import ProfileName

CUT_PERIOD = 4_000


@cache
def run_of(profile: ProfileName | None) -> Result:
    dcqcn = {} if profile is None else {"profile": profile}
    return run_scenario(small(mode="ecn", hosts={"mtu": 4096, "dcqcn": dcqcn}))


@pytest.mark.parametrize("profile", get_args(ProfileName))
def test_a_result_says_every_parameter(profile: ProfileName) -> None:
    result = run_of(profile)
    (group,) = result.about.network.dcqcn
    assert group.profile == profile
    assert set(group.hosts) == {"h1", "h2", "h3", "h4"}
    assert set(group.parameters) == set(Dcqcn.model_fields)
    assert group.parameters["clamp_target"] is (profile == "sigcomm2015")
    assert group.parameters["byte_counter"] == {"nic": 32_767, "hpcc-ns3": 0}.get(profile, 10**7)
    (table,) = (each for each in details(result) if each.title == "Congestion control")
    shown = {row[0]: row[1] for row in table.rows}
    assert shown["profile"] == profile
    assert shown["increase_period"] == ("55 µs" if profile == "sigcomm2015" else "300 µs")


@pytest.mark.parametrize("profile", ["nic", "hpcc-ns3"])
def test_cuts_are_at_the_ends_of_periods(profile: ProfileName) -> None:
    """Every cut is told of, when it is: a multiple of the period after a connection's first CNP,
    and one for all CNPs of a period."""
    notices = run_of(profile).notices
    told = notices[notices["what"] == "cnp"]
    cuts = notices[notices["what"] == "cut"]
    assert not cuts.empty
    connections = ["host", "connection"]
    cnps_of = dict(iter(told.groupby(connections)["time_ns"]))
    for connection, times in cuts.groupby(connections)["time_ns"]:
        cnps = cnps_of[connection]
        first = cnps.min()
        assert set((times - first) % CUT_PERIOD) == {0}
        last = run_of(profile).about.reached_ns
        ends = {first + ((at - first) // CUT_PERIOD + 1) * CUT_PERIOD for at in cnps}
        assert set(times) == {end for end in ends if end <= last}


def test_profiles_are_different_baselines() -> None:
    """The same network and traffic: none has the rates of another, nor of what has no name."""
    goodput = {
        name: int(run_of(name).connections["payload"].sum())
        for name in (None, *get_args(ProfileName))
    }
    assert len(set(goodput.values())) == len(goodput), goodput
