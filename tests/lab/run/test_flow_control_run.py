"""Flow control by priority in scenarios."""

from pathlib import Path
from typing import Any

import yaml

from fcn.lab.result.deadlock import deadlocks
from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import make_scenario

PFC = {"priorities": [3], "xoff": "100kB", "xon": "50kB"}


def incast(memory: str | None = None, **hosts: Any) -> Result:  # noqa: ANN401 - any YAML
    """Four hosts send 400 kB each to a fifth at once; nothing is marked."""
    return run_scenario(
        make_scenario(
            {
                "network": "dual-dc",
                "hosts_per_data_centre": 8,
                "mode": "none",
                "duration": "1ms",
                "links": {
                    "core": {"rate": "400 Gb/s"},
                    "hosts": {"rate": "100 Gb/s", "delay": "500ns", **hosts},
                },
                "switches": {} if memory is None else {"only": {"gw1": memory}},
                "hosts": {"mtu": 4096},
                "traffic": [
                    {"pattern": "incast", "from": ["d1h[1-4]"], "to": ["d1h5"], "size": "400kB"}
                ],
                "measure": {"queues": [["gw1", "d1h5"]]},
            }
        )
    )


def drops(result: Result) -> int:
    """Frames that queues dropped."""
    counters = result.counters
    full = counters[counters["name"].str.endswith("_FULL")]
    return int(full.groupby(["node", "name"])["value"].max().sum())


def test_flow_control_of_host_links_keeps_an_incast_from_losing_packets() -> None:
    lossy = incast(buffer="500kB")
    assert drops(lossy) > 0
    assert lossy.connections["retransmitted"].sum() > 0
    assert lossy.pauses.empty
    lossless = incast(buffer="500kB", pfc=PFC)
    assert drops(lossless) == 0
    assert lossless.connections["retransmitted"].sum() == 0
    assert lossless.messages["completed_ns"].notna().all()
    assert set(lossless.pauses["node"]) == {"d1h1", "d1h2", "d1h3", "d1h4"}
    assert set(lossless.pauses["towards"]) == {"gw1"}
    assert set(lossless.pauses["priority"]) == {3}
    assert lossless.queues["octets"].max() > 300_000


def test_queues_share_the_memory_of_their_switch() -> None:
    """Less than the queue alone may hold."""
    whole = incast(buffer="2MB")
    assert drops(whole) == 0
    assert whole.queues["octets"].max() > 600_000
    little = incast(buffer="2MB", memory="600kB")
    assert drops(little) > 0
    assert 500_000 < little.queues["octets"].max() <= 600_000


def test_a_deadlock_of_flow_control_ends_the_traffic_and_is_reported(tmp_path: Path) -> None:
    """Five nodes in a ring, hosts that send to the next but one, all the same way round. Without
    flow control some packets are lost and the others arrive."""
    numbers = range(1, 6)
    nodes = [f"p{n}" for n in numbers]
    ring = [list(ends) for ends in zip(nodes, nodes[1:] + nodes[:1], strict=True)]
    network = {
        "nodes": {f"{role}{n}": {"role": role} for n in numbers for role in ("pe", "p")},
        "links": [{"between": ends} for ends in (*ring, *([f"pe{n}", f"p{n}"] for n in numbers))],
        "hosts": {f"h{n}": {"pe": f"pe{n}"} for n in numbers},
    }
    (tmp_path / "ring.yaml").write_text(yaml.safe_dump(network))

    def ring_run(**links: Any) -> Result:  # noqa: ANN401 - any YAML
        link = {"rate": "100 Gb/s", "delay": "1us", "buffer": "4MB", **links}
        scenario = {
            "network": "ring.yaml",
            "mode": "none",
            "duration": "1ms",
            "links": {"core": link, "hosts": link},
            "hosts": {"mtu": 4096},
            "traffic": [
                {"pattern": "messages", "from": [f"h{n}"], "to": [f"h{(n + 1) % 5 + 1}"],
                 "size": "1MB", "count": 20}
                for n in numbers
            ],
            "measure": {"interval": "50us"},
        }  # fmt: skip
        return run_scenario(make_scenario(scenario, folder=tmp_path))

    whole = ring_run()
    assert whole.connections["payload"].sum() > 10_000_000
    assert deadlocks(whole) == []
    stuck = ring_run(pfc={"priorities": [0, 3], "xoff": "100kB", "xon": "60kB"})
    assert (stuck.about.finished, drops(stuck)) == (True, 0)
    assert stuck.connections["payload"].sum() < 1_500_000
    (found,) = deadlocks(stuck)
    assert found.nodes in {tuple(nodes), (nodes[0], *reversed(nodes[1:]))}
    assert found.since_ns < 100_000
    later = stuck.links[stuck.links["time_ns"] > 100_000]
    assert not {tuple(ends) for ends in ring} & set(
        later[["node", "towards"]].itertuples(index=False, name=None)
    )
