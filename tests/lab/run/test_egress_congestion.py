"""The egress PE's port to a data centre is the bottleneck, in virtual time: senders hear of it
after the way back by their PE, not after a round trip (FCN-18)."""

import pytest
from small import small, total

from fcn.lab.result.reaction import BY_PE, BY_RECEIVER, reactions
from fcn.lab.run.runner import run_scenario

SENT = {"fcn": "FAST_CNP", "end-con": "END_CON_CNP"}
CORE = [["pe1", "p1"], ["p1", "p2"], ["p2", "pe2"]]
LINKS = {
    "hosts": {"rate": "100 Gb/s", "delay": "500ns", "buffer": 4000},
    "only": [
        {"between": ends, "delay": "20 km", "rate": "400 Gb/s", "buffer": 4000} for ends in CORE
    ],
}
TRAFFIC = [{"pattern": "messages", "from": ["h1", "h2"], "to": ["h3"], "size": "2MB", "count": 20}]
CONTROLLER = {"queues": [{"node": "pe2", "towards": "h3", "depths": [8, 16, 24, 32, 40, 48, 56]}]}
MEASURE = {"interval": "50us", "crossings": [["pe2", "h3"]]}


@pytest.mark.parametrize("mode", ["fcn", "end-con", "ecn"])
def test_senders_hear_of_the_egress_pe_s_queue(mode: str) -> None:
    """Two hosts send 100 Gb/s each over 60 km to one that has 100 Gb/s: 300 us by the PE."""
    plan = small(mode=mode, links=LINKS, traffic=TRAFFIC, measure=MEASURE, controller=CONTROLLER)
    result = run_scenario(plan)
    found = reactions(result)
    if mode not in SENT:
        assert set(found["by"]) == {BY_RECEIVER}
        return
    kind = SENT[mode]
    sent, received = total(result, f"{kind}_SENT"), total(result, f"{kind}_RECEIVED")
    assert (set(sent), set(received)) == ({"pe2"}, {"pe1"})
    assert received["pe1"] > 0.9 * sent["pe2"]
    assert found["by"].iloc[0] == BY_PE
    assert 1 <= found["ratio"].iloc[0] < 1.05


def test_both_thresholds_are_said() -> None:
    """PEC-2: light congestion of the port to its PE, heavy congestion to the senders besides."""
    plan = small(mode="two-threshold")
    port = plan.wiring.topology.port("pe2", "h3").number
    queue = {"port": port, "queue": 0, "depths": [16, 48, 128]}
    result = run_scenario(
        small(
            mode="two-threshold",
            links=LINKS,
            traffic=TRAFFIC,
            controller={"configuration": {"nodes": {"pe2": {"thresholds": [queue]}}}},
        )
    )
    assert set(total(result, "FAST_CNP_SENT")) == {"pe2"}
    assert total(result, "LIGHT_CONGESTION")["pe1"] > 0
    assert total(result, "CNP_SENT")["pe1"] > 0
    assert result.connections["cuts"].min() > 0
