"""The controller of topology `wan` in virtual time. Run as a program it prints everything the
controller writes to the switches while it learns flows and loses them, and when."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from worlds import Box, Engines

from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac
from fcn.lab.control.loop import run
from fcn.lab.control.plane import NodeControl, controlled
from fcn.lab.control.switch import ControlledSwitch, Request
from fcn.packets.cm import CmAttribute
from fcn.ptf_tests.lib.cm import cm_message
from fcn.ptf_tests.lib.packets import ethernet, roce
from fcn.topologies.catalog import network as topology_of
from fcn.topologies.controller_config import FcnSettings, controller_yaml
from fcn.topologies.model import Topology

T = TypeVar("T")

DELAY_NS = {"pe1": 1_000_000, "p1": 2_000_000, "p2": 4_000_001, "pe2": 9_000_000}
"""Of the control channels, one way."""

HOST_MAC = "02:00:00:00:00:01"
WAIT, LOOK = 120.0, 0.01
"""Timeout of conditions, and between two looks; seconds of virtual time."""


@dataclass
class Wan:
    """The network while it runs; `requests` are those of the controller, as they arrived."""

    topology: Topology
    config: Config
    world: Engines
    requests: list[Request] = field(default_factory=list)
    plane: ControlPlane = field(init=False)
    switches: dict[str, ControlledSwitch] = field(init=False)

    @property
    def writes(self) -> list[Request]:
        """Requests that change switches."""
        return [each for each in self.requests if each.method == "Write"]

    def up(self) -> bool:
        """Whether all nodes are."""
        return all(node.is_up for node in self.plane.nodes.values())

    def address(self, host: str) -> str:
        """The IPv4 address of a host."""
        return str(self.topology.addresses(host).ipv4.ip)

    def send(self, host: str, datagram: bytes) -> None:
        """Let a host send a packet now."""
        port = next(each for each in self.topology.ports if each.peer == host)
        node = self.config.nodes[port.node]
        own = node.port(port.number)
        assert own is not None
        mac = format_mac(port_mac(port.node, node, own))
        frame = ethernet(datagram, src=HOST_MAC, dst=mac)
        self.world.engines[port.node].inject(port.number, frame)

    def send_roce(self, source: str, target: str, dest_qp: int) -> None:
        """Let a host send a RoCE packet to another's queue pair."""
        self.send(source, roce(self.address(source), self.address(target), dest_qp))

    def send_cm(
        self, source: str, target: str, kind: CmAttribute, own_id: int, their_id: int, qpn: int
    ) -> None:
        """Let a host send a message of the connection manager."""
        message = cm_message(
            self.address(source),
            self.address(target),
            kind,
            local_comm_id=own_id,
            remote_comm_id=their_id,
            qpn=qpn,
        )
        self.send(source, message)


async def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition."""
    try:
        async with asyncio.timeout(WAIT):
            while not condition():  # noqa: ASYNC110 - the network changes it, without an event
                await asyncio.sleep(LOOK)
    except TimeoutError:
        raise AssertionError(f"gave up waiting for {what}") from None


def run_wan(main: Callable[[Wan], Awaitable[T]], *, seed: int = 1, flow_timeout: str = "60s") -> T:
    """Run this beside the controller; both begin at once."""
    topology, world = topology_of("wan"), Engines()
    settings = FcnSettings(flow_timeout=flow_timeout)
    network = Wan(topology, parse_config(controller_yaml(topology, settings)), world)
    nodes = {name: NodeControl(Box(name, world), DELAY_NS[name]) for name in network.config.nodes}

    async def both() -> T:
        async with controlled(
            network.config, nodes, world, seed=seed, observer=network.requests.append
        ) as running:
            network.plane, network.switches = running.plane, dict(running.switches)
            return await main(network)

    return run(world, both())


async def learn_and_forget(network: Wan) -> list[str]:
    """The writes while flows are learned between all hosts, one with a handshake, and watched for
    their sources in turn, and until one that is not watched is idle."""
    await until(network.up, "all switches to be up")
    for source, target in (("h1", "h3"), ("h2", "h4"), ("h3", "h1"), ("h4", "h2"), ("h1", "h4")):
        for dest_qp in range(0x21, 0x29):
            network.send_roce(source, target, dest_qp)
    network.send_cm("h1", "h3", CmAttribute.REQ, 0xA1, 0, 0x11)
    network.send_cm("h3", "h1", CmAttribute.REP, 0xB1, 0xA1, 0x21)
    await until(lambda: len(network.plane.flows.all()) == 41, "the flows")
    await until(lambda: len(network.plane.flows.all()) < 41, "silence")
    await asyncio.sleep(1.0)
    return [
        f"{each.time_ns} {each.node} {each.message.SerializeToString(deterministic=True).hex()}"
        for each in network.writes
    ]


if __name__ == "__main__":
    print("\n".join(run_wan(learn_and_forget, seed=int(sys.argv[1]), flow_timeout="12s")))
