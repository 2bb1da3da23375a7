"""Lightly congested flows in virtual time (PEC-3): the treatment begins and ends, but is never
switched faster than its hold, and so not faster than the round trip."""

from itertools import pairwise
from pathlib import Path

import pytest

from fcn.bench.two_threshold import HOLD_ROUND_TRIPS, light_scenario, round_trip_ns, switch_times
from fcn.lab.run.runner import run_scenario


@pytest.mark.parametrize("kilometres", [100, pytest.param(1000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("treatment", ["slow", "reroute"])
def test_the_treatment_is_not_switched_faster_than_the_round_trip(
    kilometres: int, treatment: str, tmp_path: Path
) -> None:
    """Flows are treated and recover, several times; of each, switches are at least a hold apart."""
    result = run_scenario(light_scenario(kilometres, treatment, tmp_path))
    flows = [times for times in switch_times(result, treatment) if times]
    assert flows
    for times in flows:
        assert len(times) >= 2, "it began and ended"
        apart = [later - earlier for earlier, later in pairwise(times)]
        assert min(apart) >= HOLD_ROUND_TRIPS * round_trip_ns(kilometres)


def test_light_congestion_is_kept_from_the_sender(tmp_path: Path) -> None:
    """PEC-3: in a run in which the queue stays between T1 and T2, no host gets a CNP and no
    customer's packet is marked, though notifications come."""
    result = run_scenario(light_scenario(100, "slow", tmp_path))
    counters = result.counters
    assert result.connections["cnps"].sum() == 0
    assert result.connections["marked"].sum() == 0
    light = counters[(counters["node"] == "pe1") & (counters["name"] == "LIGHT_CONGESTION")]
    assert light["value"].max() > 0
    far = counters[(counters["node"] == "pe2") & (counters["name"] == "LIGHT_CE")]
    assert far["value"].max() > 0


def test_heavy_congestion_reaches_the_sender(tmp_path: Path) -> None:
    """PEC-4: where nothing is done at light congestion, senders get CNPs of the ingress PE, and
    marks reach the receivers."""
    result = run_scenario(light_scenario(100, "none", tmp_path))
    counters = result.counters
    assert not {"SLOWED", "REROUTED"} & set(counters["name"])
    sent = counters[(counters["node"] == "pe1") & (counters["name"] == "CNP_SENT")]
    assert sent["value"].max() > 0
    assert result.connections["cnps"].sum() > 0
    assert result.connections["marked"].sum() > 0


def test_other_modes_treat_nothing(tmp_path: Path) -> None:
    """In mode fcn the same scenario has no light congestion, and no ECT(1) mark."""
    result = run_scenario(light_scenario(100, "reroute", tmp_path, mode="fcn"))
    names = set(result.counters["name"])
    assert "FAST_CNP_RECEIVED" in names
    assert not names & {"LIGHT_CONGESTION", "LIGHT_CE", "REROUTED", "SLOWED", "ECT1_MARKED"}
