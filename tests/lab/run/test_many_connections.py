"""A dual data centre of 64 + 64 hosts with 1,024 connections: all are learned and watched."""

from fcn.lab.result.deadlock import deadlocks
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import make_scenario

HOSTS, QPS, DIRECTIONS = 64, 8, 2
CONNECTIONS = HOSTS * QPS * DIRECTIONS
DURATION_NS = 400_000


def test_every_connection_of_many_is_learned_at_both_ends_and_sends() -> None:
    result = run_scenario(
        make_scenario(
            {
                "network": "dual-dc",
                "hosts_per_data_centre": HOSTS,
                "duration": f"{DURATION_NS}ns",
                "links": {
                    "core": {"rate": "400 Gb/s", "delay": "1 km", "buffer": 8000},
                    "hosts": {"rate": "100 Gb/s", "delay": "500ns"},
                },
                "hosts": {"mtu": 4096},
                "traffic": [
                    {"pattern": "permutation", "from": [a], "to": [b], "size": "100kB",
                     "count": 100, "qps": QPS}
                    for a, b in (("gw1", "gw2"), ("gw2", "gw1"))
                ],
                "measure": {"interval": "50us", "crossings": []},
            }
        )
    )  # fmt: skip
    connections = result.connections
    assert len(connections) == CONNECTIONS
    assert set(connections["state"]) == {"connected"}
    assert (connections["payload"] > 0).all()
    assert connections["cuts"].sum() > 0
    seen = result.controller
    for what in ("flows", "senders"):
        assert seen[seen["what"] == what]["count"].tolist() == [2 * CONNECTIONS]
    told = result.notices[(result.notices["what"] == "cnp") & (result.notices["by_switch"] == 1)]
    assert set(told["host"].str[:2]) == {"d1", "d2"}
    assert deadlocks(result) == []
    assert result.about.finished
