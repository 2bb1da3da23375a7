"""The whole controller in virtual time on topology `wan`."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from wan_network import DELAY_NS, Wan, run_wan, until
from worlds import Box, Engines

from fcn.controller.config import parse_config
from fcn.controller.config.tls import HostAgents
from fcn.controller.flows.provenance import Origin
from fcn.controller.node.connection import State
from fcn.controller.node.session import BEGIN_TIMEOUT, LAST_RETRY, PROBE_INTERVAL
from fcn.controller.owners.digests import MAX_DELAY_NS
from fcn.lab.control.loop import NS, run
from fcn.lab.control.plane import ControlError, NodeControl, controlled
from fcn.packets.cm import CmAttribute
from fcn.topologies.catalog import network
from fcn.topologies.controller_config import FcnSettings, controller_yaml

ANSWER_TIMEOUT = 10.0
"""Seconds finsy waits for the answer to a request."""

PROGRAM = Path(__file__).parent / "wan_network.py"


def test_every_switch_is_provisioned() -> None:
    async def main(network: Wan) -> None:
        await until(network.up, "all switches to be up")
        assert {each.node for each in network.writes} == DELAY_NS.keys()
        for node in network.plane.nodes.values():
            assert await node.settled()
            assert node.refused == 0

    run_wan(main)


def test_a_switch_is_up_after_as_many_delays_as_messages_were_exchanged() -> None:
    async def main(network: Wan) -> dict[str, int]:
        await until(network.up, "all switches to be up")
        return {name: round(node.status.since * NS) for name, node in network.plane.nodes.items()}

    since = run_wan(main)
    # The controller hears all switches before it asks to be primary on one.
    all_heard = 2 * max(DELAY_NS.values())
    rounds = {name: (since[name] - all_heard) / (2 * DELAY_NS[name]) for name in since}
    assert rounds["pe1"] == rounds["pe2"] == round(rounds["pe1"])
    assert rounds["p1"] == rounds["p2"] == round(rounds["p1"])


def test_a_flow_is_labelled_after_the_delay_of_its_digest_and_of_the_channel() -> None:
    async def main(network: Wan) -> None:
        await until(network.up, "all switches to be up")
        done, sent = len(network.writes), network.world.now_ns
        network.send_roce("h3", "h1", 0x21)
        await until(lambda: len(network.writes) > done, "the label")
        (flow,) = network.plane.flows.all()
        (write,) = network.writes[done:]
        assert (flow.node, flow.key.dest_qp, flow.source_qp) == ("pe2", 0x21, None)
        told = sent + MAX_DELAY_NS + DELAY_NS["pe2"]
        assert flow.since == told / NS
        assert (write.node, write.time_ns) == ("pe2", told + DELAY_NS["pe2"])

    run_wan(main)


def test_a_handshake_seen_at_two_nodes_tells_both_sources() -> None:
    async def main(network: Wan) -> None:
        await until(network.up, "all switches to be up")
        network.send_cm("h1", "h3", CmAttribute.REQ, 0xA1, 0, 0x11)
        network.send_cm("h3", "h1", CmAttribute.REP, 0xB1, 0xA1, 0x21)
        await until(lambda: len(network.plane.flows.all()) == 2, "the flows")
        found = {(f.node, f.key.dest_qp, f.source_qp, f.origin) for f in network.plane.flows.all()}
        assert found == {("pe1", 0x21, 0x11, Origin.CM), ("pe2", 0x11, 0x21, Origin.CM)}

    run_wan(main)


def test_flows_age_in_virtual_time() -> None:
    """In a small part of that of wall time."""

    async def main(network: Wan) -> float:
        await until(network.up, "all switches to be up")
        network.send_roce("h1", "h3", 0x21)
        await until(lambda: bool(network.plane.flows.all()), "the flow")
        learned, begun = network.world.now_ns, time.monotonic()
        await until(lambda: not network.plane.flows.all(), "silence")
        silent = (network.world.now_ns - learned) / NS
        assert 5 <= silent < 5.5
        return (time.monotonic() - begun) / silent

    assert run_wan(main, flow_timeout="5s") < 1


def test_a_controller_that_was_away_goes_on() -> None:
    """The switch is given up when it answers no probe, and synchronized once it is back. What was
    learned meanwhile at others is told."""

    async def main(network: Wan) -> None:
        await until(network.up, "all switches to be up")
        node, link = network.plane.nodes["pe1"], network.switches["pe1"].link
        cut = network.world.now_ns / NS
        link.cut()
        network.send_roce("h1", "h3", 0x21)
        network.send_roce("h3", "h1", 0x21)
        await until(lambda: not node.is_up, "pe1 to be given up")
        gone = node.status.since - cut
        assert gone <= PROBE_INTERVAL + ANSWER_TIMEOUT + 0.1
        assert [flow.node for flow in network.plane.flows.all()] == ["pe2"]
        await asyncio.sleep(100)
        assert node.status.state is State.AWAY
        link.restore()
        back = network.world.now_ns / NS
        await until(lambda: node.is_up, "pe1 to be back")
        assert node.status.since - back < BEGIN_TIMEOUT + LAST_RETRY
        network.send_roce("h1", "h3", 0x22)
        await until(
            lambda: "pe1" in {flow.node for flow in network.plane.flows.all()}, "the flow at pe1"
        )

    run_wan(main)


def test_a_switch_that_was_off_is_provisioned_anew() -> None:
    async def main(network: Wan) -> None:
        await until(network.up, "all switches to be up")
        node, switch = network.plane.nodes["p1"], network.switches["p1"]
        await switch.stop()
        await until(lambda: not node.is_up, "p1 to be given up")
        assert "lost the connection" in node.status.detail
        await until(lambda: "Connection refused" in node.status.detail, "an attempt")
        done = len(network.writes)
        switch.start()
        await until(lambda: node.is_up, "p1 to be back")
        assert {write.node for write in network.writes[done:]} == {"p1"}

    run_wan(main)


def test_labels_are_those_of_the_seed() -> None:
    async def main(network: Wan) -> list[int]:
        await until(network.up, "all switches to be up")
        network.send_roce("h1", "h3", 0x21)
        await until(lambda: bool(network.plane.flows.all()), "the flow")
        return [flow.label for flow in network.plane.flows.all()]

    first, second, other = (run_wan(main, seed=seed) for seed in (1, 1, 2))
    assert first == second != other


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Beside processes that leave no core idle."""
    with ExitStack() as stack:
        for _ in range(processes):
            process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def written(hash_seed: int) -> list[str]:
    """All that one run writes to the switches: time, switch and octets of each request."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "1"],
        env=os.environ | {"PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.exhaustive
@pytest.mark.parametrize("beside", [0, os.cpu_count()])
def test_runs_with_one_seed_write_the_same_at_the_same_times(beside: int) -> None:
    """Whatever the order of sets and however busy the machine."""
    first = written(1)
    with busy(beside):
        assert written(2) == first
    assert len(first) > 10


AGENTS: dict[str, Any] = {
    "listen": "127.0.0.1:0",
    "certificate": "c.pem",
    "key": "k.pem",
    "ca": "ca.pem",
    "hosts": {"h1": {"vrf": "blue", "addresses": ["10.1.1.10"]}},
}


@pytest.mark.parametrize(
    ("changes", "names", "message"),
    [
        ({}, {"pe1", "p1", "p2"}, "pe2 of the configuration is not in the network"),
        ({"host_agents": HostAgents(**AGENTS)}, DELAY_NS.keys(), "host agents cannot be simulated"),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    changes: dict[str, Any], names: set[str], message: str
) -> None:
    config = parse_config(controller_yaml(network("wan"), FcnSettings())).model_copy(update=changes)
    world = Engines()
    nodes = {name: NodeControl(Box(name, world), 0) for name in names}

    async def begin() -> None:
        async with controlled(config, nodes, world, seed=1):
            raise AssertionError("it began")

    with pytest.raises(ControlError, match=message):
        run(world, begin())


def test_metrics_of_the_configuration_are_not_served() -> None:
    """Their server would be real, and two runs side by side would share a port."""
    settings = FcnSettings(sections={"metrics": "127.0.0.1:1"})
    config = parse_config(controller_yaml(network("wan"), settings))
    world = Engines()
    nodes = {name: NodeControl(Box(name, world), 0) for name in DELAY_NS}

    async def begin() -> None:
        async with controlled(config, nodes, world, seed=1) as running:
            await until(
                lambda: all(node.is_up for node in running.plane.nodes.values()), "the switches"
            )

    run(world, begin())
