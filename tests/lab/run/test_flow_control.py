"""Flow control by priority in scenarios."""

from typing import Any

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
