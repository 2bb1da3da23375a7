"""Precise flow control in virtual time, without any notification of senders (SRF-7)."""

from typing import Any

import pytest
from small import HOLDING, small, total

from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario


def congested(mode: str) -> Result:
    """A bottleneck behind p2 whose queue holds less than what is under way to it."""
    links: dict[str, Any] = {
        "core": {"rate": "400 Gb/s", "buffer": 4000},
        "hosts": {"rate": "100 Gb/s", "delay": "500ns", "buffer": 4000},
        "only": [
            {"between": ["pe1", "p1"], "delay": "1 km"},
            {"between": ["p1", "p2"], "delay": "2 km"},
            {"between": ["p2", "pe2"], "delay": "50 km", "rate": "80 Gb/s", "buffer": 500},
        ],
    }
    return run_scenario(small(mode=mode, links=links, controller={"holding": HOLDING}))


@pytest.fixture(scope="module")
def runs() -> dict[str, Result]:
    """Without and with."""
    return {mode: congested(mode) for mode in ("none", "service", "flow", "priority")}


@pytest.mark.parametrize("mode", ["service", "flow", "priority"])
def test_a_short_queue_loses_nothing_when_its_neighbours_hold(
    runs: dict[str, Result], mode: str
) -> None:
    free, held = runs["none"], runs[mode]
    assert sum(total(free, "QUEUE_FULL").values()) > 0
    assert free.connections["retransmitted"].sum() > 0
    assert sum(total(held, "QUEUE_FULL").values()) == 0
    assert held.connections["retransmitted"].sum() == 0


@pytest.mark.parametrize("mode", ["service", "flow", "priority"])
def test_the_neighbour_holds_and_lets_go(runs: dict[str, Result], mode: str) -> None:
    held = runs[mode]
    assert set(total(held, "ARN_SENT")) >= {"p2"}
    assert total(held, "HOLD_PARKED")["p1"] > 0
    assert total(held, "HOLD_LEFT")["p1"] > 0
    assert total(held, "HOLD_SKIPPED") == {}
    assert not {
        name for name in set(runs["none"].counters["name"]) if "ARN" in name or "HOLD" in name
    }
