"""Scenarios in mode ecn whose queues mark by random early detection."""

from typing import Any

from small import small

from fcn.lab.result.model import RedInfo, Result
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan, make_scenario


def with_red(red: dict[str, Any], **changes: Any) -> Plan:  # noqa: ANN401 - whatever YAML holds
    links = small().scenario.links
    core = {"rate": "400 Gb/s", "buffer": "200MB", "red": red}
    only = [
        {"between": list(link.between), "delay": f"{(link.delay or 0)}ns"}
        | ({} if link.rate is None else {"rate": f"{link.rate / 1e9:g} Gb/s"})
        for link in links.only
    ]
    hosts = {"rate": "100 Gb/s", "delay": "500ns", "buffer": 4000}
    return small(mode="ecn", links={"core": core, "hosts": hosts, "only": only}, **changes)


def marked(result: Result) -> int:
    return int(result.connections["marked"].sum())


def test_only_red_marks_where_a_queue_has_it() -> None:
    """The run without it marks from the first threshold on; with Kmin out of reach nothing does."""
    assert marked(run_scenario(small(mode="ecn"))) > 0
    beyond = run_scenario(with_red({"kmin": "100MB", "kmax": "160MB", "pmax": 1.0}))
    assert marked(beyond) == 0
    assert "cut" not in set(beyond.notices["what"])


def test_what_red_marks_reaches_receivers_and_their_senders() -> None:
    plan = with_red({"kmin": "20kB", "kmax": "200kB", "pmax": 0.1})
    result = run_scenario(plan)
    received = result.connections[["packets", "marked"]].sum()
    crossed = result.crossings[result.crossings["what"] == "ce"]
    assert 0 < received["marked"] < received["packets"]
    assert set(zip(crossed["node"], crossed["towards"], strict=True)) == {("p2", "pe2")}
    assert "cut" in set(result.notices["what"])
    queue = next(q for q in result.about.network.queues if (q.node, q.towards) == ("p2", "pe2"))
    assert queue.red == RedInfo(kmin=20_000, kmax=200_000, pmax=0.1)
    assert queue.thresholds == ()
    assert run_scenario(plan).about.digest == result.about.digest
    assert run_scenario(plan.using(seed=6)).about.digest != result.about.digest


def test_other_modes_mark_as_without_red() -> None:
    red = {"kmin": "20kB", "kmax": "200kB", "pmax": 0.1}
    asked = run_scenario(with_red(red).using(mode="fcn"))
    assert asked.about.digest == run_scenario(small()).about.digest


def test_queues_towards_hosts_of_a_data_centre_mark_too() -> None:
    """Packets of IPv4 and IPv6 as the hosts sent them: four hosts send to one behind the same
    gateway."""
    for version in (4, 6):
        plan = make_scenario(
            {
                "network": "dual-dc",
                "mode": "ecn",
                "duration": "1ms",
                "hosts_per_data_centre": 5,
                "links": {
                    "core": {"rate": "400 Gb/s", "delay": "10 km", "buffer": 4000},
                    "hosts": {
                        "rate": "100 Gb/s",
                        "buffer": 4000,
                        "red": {"kmin": "20kB", "kmax": "200kB", "pmax": 0.1},
                    },
                },
                "hosts": {"ip": version},
                "traffic": [
                    {
                        "pattern": "incast", "from": ["d1h[2-5]"], "to": ["d1h1"], "size": "1MB",
                        "count": 2,
                    }
                ],
                "measure": {"queues": [["gw1", "d1h1"]]},
            },
            "red",
        )  # fmt: skip
        result = run_scenario(plan)
        received = result.connections[["packets", "marked"]].sum()
        assert 0 < received["marked"] < received["packets"]
        assert not result.counters["name"].isin(["refused_bad_checksum"]).any()
