"""Selective repeat beside every mode of the laboratory."""

import pytest
from every_mode import modes
from small import HOLDING, small

from fcn.lab.result.analysis import drops
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan


def plan(mode: str, retransmission: str) -> Plan:
    """Queues of 60 packets overflow in the first burst; 20 ms are enough to send all again."""
    core = {"rate": "400 Gb/s", "buffer": 60}
    hosts = {"rate": "100 Gb/s", "delay": "500ns", "buffer": 4000}
    only = [
        {"between": ["pe1", "p1"], "delay": "10 km"},
        {"between": ["p1", "p2"], "delay": "20 km"},
        {"between": ["p2", "pe2"], "delay": "50 km", "rate": "80 Gb/s"},
    ]
    return small(
        mode=mode,
        duration="20ms",
        links={"core": core, "hosts": hosts, "only": only},
        hosts={"mtu": 4096, "timeout": "3ms", "retransmission": retransmission},
        controller={"holding": HOLDING, "failure_detection": {"interval": "1ms"}},
        traffic=[{"pattern": "messages", "from": ["h1", "h2"], "to": ["h3", "h4"], "size": "1MB"}],
    )


@pytest.mark.parametrize("mode", modes("none", "fcn", "service"))
def test_only_what_was_lost_is_sent_again(mode: str) -> None:
    result = run_scenario(plan(mode, "selective-repeat"))
    flows = result.connections
    assert result.messages["completed_ns"].notna().all()
    assert (flows["beyond_gap"] == 0).all()
    dropped = drops(result)
    lost = dropped[dropped["lost"]]["frames"].sum()
    assert (flows["retransmitted"] - flows["repeated"]).sum() == lost > 0


def test_go_back_n_sends_more_again() -> None:
    again = {
        name: run_scenario(plan("none", name)).connections["retransmitted"].sum()
        for name in ("go-back-n", "selective-repeat")
    }
    assert again["go-back-n"] > 1.5 * again["selective-repeat"] > 0
