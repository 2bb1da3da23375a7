"""What happens during a run: links that fail, a controller that is away, thresholds that change."""

from typing import Any

import pandas as pd
from small import small

from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan, make_scenario

MILLISECOND = 1_000_000
MIDDLE = ("p1", "p2", "p3", "p4")


def ladder(*events: dict[str, Any]) -> Plan:
    """Eight connections over a network with two paths at every hop."""
    return make_scenario(
        {
            "network": "ladder",
            "hosts_per_data_centre": 8,
            "duration": "6ms",
            "links": {
                "core": {"buffer": 4000},
                "hosts": {"rate": "10 Gb/s"},
                "only": [
                    {"between": [a, b], "delay": "10 km"} for a in MIDDLE[:2] for b in MIDDLE[2:]
                ],
            },
            "hosts": {"mtu": 4096, "timeout": "1ms"},
            "traffic": [
                {"pattern": "permutation", "from": ["gw1"], "to": ["gw2"], "size": "10MB"}
            ],
            "events": list(events),
        },
        "ladder",
    )  # fmt: skip


def of(table: pd.DataFrame, node: str, towards: str) -> pd.DataFrame:
    """The rows of a direction."""
    return table[(table["node"] == node) & (table["towards"] == towards)]


def test_what_goes_over_a_link_that_is_down_is_lost_and_sent_again() -> None:
    """From 2 to 4 ms; the other flows go on, as those do that another link carries."""
    result = run_scenario(
        ladder(
            {"at": "2ms", "link": ["p1", "p3"], "state": "down"},
            {"at": "4ms", "link": ["p1", "p3"], "state": "up"},
        )
    )
    assert [event.text for event in result.about.events] == ["link p1-p3 down", "link p1-p3 up"]
    lost = of(result.links, "p1", "p3")[["time_ns", "cut"]]
    since = lost[lost["cut"] > 0]["time_ns"]
    assert 2 * MILLISECOND <= since.min() < 2.1 * MILLISECOND
    at_end = lost["cut"].max()
    assert lost[lost["time_ns"] <= 4 * MILLISECOND]["cut"].max() == at_end
    hit = result.connections[result.connections["retransmitted"] > 0]
    assert 0 < len(hit) < len(result.connections)
    rates = result.rates.merge(hit[["host", "connection"]])
    before = rates[rates["time_ns"] <= 4 * MILLISECOND].groupby("host")["acknowledged"].max()
    assert (rates.groupby("host")["acknowledged"].max() > before).all(), "they go on"
    assert set(result.connections["state"]) == {"connected"}
    whole = run_scenario(ladder())
    assert whole.connections["retransmitted"].sum() == whole.links["cut"].max() == 0


def test_thresholds_change_when_the_controller_has_told_the_switch() -> None:
    """1 ms later, at 1.5 ms: no more marks at the bottleneck."""
    queue = {"node": "p2", "towards": "pe2", "depths": [3999]}
    plan = small(mode="ecn", events=[{"at": "500us", "thresholds": queue}])
    result = run_scenario(plan)
    writes = result.controller[result.controller["what"] == "Write"]
    assert set(writes[writes["time_ns"] > 0]["node"]) == {"p2"}
    assert abs(writes["time_ns"].max() - 1_500_000) <= 1
    assert result.about.events[0].text == "thresholds p2-pe2 3999"
    marks = of(result.crossings, "p2", "pe2")["time_ns"]
    assert marks.min() < 1_500_000
    assert marks.max() <= 1_500_000


def test_what_the_controller_says_waits_while_it_is_away() -> None:
    queue = {"node": "p2", "towards": "pe2", "depths": [3999]}
    plan = small(
        mode="ecn",
        events=[
            {"at": "400us", "controller": "away", "node": "p2"},
            {"at": "500us", "thresholds": queue},
            {"at": "2ms", "controller": "back", "node": "p2"},
        ],
        duration="4ms",
    )
    result = run_scenario(plan)
    writes = result.controller[result.controller["what"] == "Write"]
    assert abs(writes["time_ns"].max() - 3_000_000) <= 1
    assert [event.text for event in result.about.events] == [
        "controller away p2", "thresholds p2-pe2 3999", "controller back p2",
    ]  # fmt: skip


def test_a_capture_has_every_frame_of_the_link() -> None:
    measure = {"pcap": [["p2", "pe2"]], "snap": 100}
    result = run_scenario(small(duration="1500us", measure=measure))
    capture = result.captures["p2-to-pe2"]
    delivered = of(result.links, "p2", "pe2")["frames"].max()
    # 24 octets of header, 16 more of each record; what is on the link has not arrived yet.
    in_flight = delivered - (len(capture) - 24) / (16 + 100)
    assert 0 < in_flight < 80e9 / 8 / 4000 * 250e-6 * 1.1
