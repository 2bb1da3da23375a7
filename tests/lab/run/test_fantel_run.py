"""Nodes tell ingress PEs of congested paths, in virtual time: senders hear of it, traffic leaves
the path, and upstream neighbours slow it down where the domain has flow control, too (FAN-6)."""

from typing import Any

import pytest
import yaml
from small import HOLDING, small, total

from fcn.controller.config.modes import Notification
from fcn.lab.result.analysis import drops
from fcn.lab.result.model import Result
from fcn.lab.result.reaction import BY_PE, caused, reactions
from fcn.lab.result.tables import PATH
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import catalog, load_scenario, make_scenario

DETECTION = {"interval": "1ms", "multiplier": 3}


def lost(result: Result) -> int:
    """Frames."""
    found = drops(result)
    return int(found.loc[found["lost"], "frames"].sum())


def told(**changes: Any) -> Result:  # noqa: ANN401 - whatever YAML holds
    """The small scenario in this mode."""
    controller = {"failure_detection": DETECTION} | changes.pop("controller", {})
    return run_scenario(small(mode="fantel", controller=controller, **changes))


@pytest.mark.parametrize("name", catalog())
def test_every_scenario_has_policies_in_this_mode(name: str) -> None:
    config = load_scenario(name).using(mode="fantel").config
    assert config.notification is Notification.FANTEL
    assert config.failure_detection is not None
    for node in config.nodes.values():
        for vrf in node.vrfs.values():
            assert all(route.tunnel is None for route in vrf.routes)
            assert all(route.policy is not None or route.via is not None for route in vrf.routes)


def test_detection_is_the_scenario_s_before_the_network_s() -> None:
    data = yaml.safe_load(load_scenario("failover").text)
    del data["controller"]["configuration"]["failure_detection"]
    plain = make_scenario(data, "plain").using(mode="fantel").config.failure_detection
    assert plain is not None
    assert (plain.interval, plain.relief) == (100_000, 10_000), "the network's, and the mode's"
    data["controller"]["failure_detection"] = {"interval": "2ms"}
    own = make_scenario(data, "own").using(mode="fantel").config.failure_detection
    assert own is not None
    assert (own.interval, own.multiplier) == (2_000, 3)
    fcn = make_scenario(data, "fcn").using(mode="fcn").config.failure_detection
    assert fcn is not None
    assert (fcn.interval, fcn.relief) == (100_000, 100_000), "the section is for this mode only"


def test_with_one_path_senders_hear_from_the_ingress_pe() -> None:
    """10 and 20 km of fibre back from the queue: 150 us, and the queues of its ports."""
    result = told()
    found = reactions(result)
    assert found["by"].iloc[0] == BY_PE
    assert found["ratio"].iloc[0] < 1.05
    assert total(result, "FANTEL_SENT")["p2"] > 0
    assert total(result, "FANTEL_RECEIVED")["pe1"] > 0
    assert set(total(result, "PATH_NONE_LEFT")) >= {"pe1"}
    cut = caused(result, "cut")
    assert cut.loc[cut["by"] == BY_PE, "host"].nunique() == 2, "each flow of the path, not one"
    assert not {name for name in result.counters["name"] if name.startswith("FAST_CNP")}
    assert lost(result) == 0


def two_ways() -> dict[str, Any]:
    """Both senders together are more than the first way carries, and less than the other."""
    data: dict[str, Any] = yaml.safe_load(load_scenario("failover").text)
    data["controller"] = {"failure_detection": DETECTION}
    data["links"]["only"] = [{"between": ["r1", "r3"], "rate": "1 Gb/s"}]
    data["traffic"][0]["size"] = "8MB"
    return data | {"mode": "fantel", "duration": "40ms", "events": []}


def test_traffic_leaves_a_congested_path_and_no_sender_is_told() -> None:
    """The policy's first path is congested, and after a notification all takes the backup."""
    result = run_scenario(make_scenario(two_ways(), "ways"))
    assert total(result, "FANTEL_RECEIVED")["pe1"] > 0
    assert "pe1" not in total(result, "CNP_SENT")
    paths = result.counters[(result.counters["kind"] == PATH) & (result.counters["node"] == "pe1")]
    last = paths.groupby("name")["value"].max()
    first, backup = last["to-pe2: to-pe2-1"], last["to-pe2: to-pe2-2"]
    assert first > 0
    assert backup > 2 * first
    assert lost(result) == 0


def congested(**configuration: object) -> Result:
    """A bottleneck whose queue holds what comes until the next node hears, not until senders do."""
    links: dict[str, Any] = {
        "core": {"rate": "400 Gb/s", "buffer": 4000},
        "hosts": {"rate": "100 Gb/s", "delay": "500ns", "buffer": 4000},
        "only": [
            {"between": ["pe1", "p1"], "delay": "50 km"},
            {"between": ["p1", "p2"], "delay": "2 km"},
            {"between": ["p2", "pe2"], "delay": "50 km", "rate": "80 Gb/s", "buffer": 280},
        ],
    }
    return told(links=links, controller={"configuration": configuration})


@pytest.fixture(scope="module")
def runs() -> dict[str, Result]:
    """Without flow control, and with each kind of it."""
    held = {kind: {"flow_control": kind, "holding": HOLDING} for kind in KINDS}
    return {"off": congested()} | {kind: congested(**given) for kind, given in held.items()}


KINDS = ("service", "flow", "priority")


@pytest.mark.parametrize("kind", KINDS)
def test_the_pe_is_told_and_the_upstream_neighbour_holds(
    runs: dict[str, Result], kind: str
) -> None:
    result = runs[kind]
    assert total(result, "FANTEL_SENT")["p2"] > 0
    assert total(result, "FANTEL_RECEIVED")["pe1"] > 0
    assert total(result, "CNP_SENT")["pe1"] > 0
    assert total(result, "ARN_SENT")["p2"] > 0
    assert total(result, "ARN_RECEIVED")["p1"] > 0
    assert total(result, "HOLD_PARKED")["p1"] > 0
    assert total(result, "HOLD_LEFT")["p1"] > 0
    assert "HOLD_SKIPPED" not in set(result.counters["name"])


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_where_a_notification_alone_is_too_late(
    runs: dict[str, Result], kind: str
) -> None:
    assert lost(runs["off"]) > 0
    assert lost(runs[kind]) == 0
    assert runs[kind].connections["retransmitted"].sum() == 0
