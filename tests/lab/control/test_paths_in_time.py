"""A path fails in the data plane, the controller being away or not, in virtual time (FAN-4, FAN-5).

What tells the PE is put into its engine, past the controller.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import yaml
from wan_network import HOST_MAC, until
from worlds import Box, Engines

from fcn.contract.paths import PATH_REPORTS
from fcn.contract.targets import V1MODEL
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.types import format_mac
from fcn.controller.events import Event, Kind
from fcn.controller.node.paths import PathState
from fcn.lab.control.loop import run
from fcn.lab.control.plane import NodeControl, controlled
from fcn.lab.control.switch import ControlledSwitch, Request
from fcn.ptf_tests.lib.packets import ethernet, udp
from fcn.topologies.catalog import network as topology_of
from fcn.topologies.controller_config import FcnSettings, controller_config
from fcn.topologies.model import Topology

FLOWS = 256
CHANNEL_NS = 2_000_000
NORTH, SOUTH = 0, 1
NUMBERS = (17, 18)
"""IDs of both paths."""


@dataclass
class Ladder:
    """Topology `ladder` with a policy of two paths from pe1 to pe2, while it runs."""

    topology: Topology
    config: Config
    world: Engines
    requests: list[Request] = field(default_factory=list)
    plane: ControlPlane = field(init=False)
    pe1: ControlledSwitch = field(init=False)

    def send(self) -> None:
        """A packet of each flow, from pe1's first host to pe2's."""
        source, target = (
            next(host.name for host in self.topology.hosts if host.pe == pe)
            for pe in ("pe1", "pe2")
        )
        port = next(each for each in self.topology.ports_of("pe1") if each.peer == source)
        own = self.config.nodes["pe1"].port(port.number)
        assert own is not None
        mac = format_mac(port_mac("pe1", self.config.nodes["pe1"], own))
        addresses = [str(self.topology.addresses(name).ipv4.ip) for name in (source, target)]
        for number in range(FLOWS):
            datagram = udp(addresses[0], addresses[1], 1000 + number, 53)
            frame = ethernet(datagram, src=HOST_MAC, dst=mac)
            self.world.engines["pe1"].inject(port.number, frame)

    def say(self, report: str, slot: int) -> None:
        """Tell the data plane of pe1 of a path."""
        header = V1MODEL.ports.cpu.to_bytes(2, "big")
        message = NUMBERS[slot].to_bytes(4, "big") + bytes([PATH_REPORTS[report]])
        self.world.engines["pe1"].packet_out(header + message)

    def state(self, slot: int) -> PathState:
        """A path as the controller saw it last."""
        found = self.plane.nodes["pe1"].paths.state("both", slot)
        assert found is not None
        return found

    async def carried(self) -> tuple[int, int]:
        """What both paths carry of a packet of each flow."""
        paths = self.plane.nodes["pe1"].paths
        await paths.look()
        before = [self.state(slot).packets for slot in (NORTH, SOUTH)]
        self.send()
        await asyncio.sleep(0.001)
        await paths.look()
        north, south = (self.state(slot).packets - before[slot] for slot in (NORTH, SOUTH))
        return north, south

    async def up(self) -> None:
        """Wait for all switches."""
        await until(lambda: all(node.is_up for node in self.plane.nodes.values()), "the switches")


async def kind_of_next(events: AsyncIterator[Event]) -> Kind:
    """The kind of the next event, which comes at once."""
    async with asyncio.timeout(1.0):
        return (await anext(events)).kind


def run_ladder(main: Callable[[Ladder], Awaitable[None]]) -> None:
    """Run this beside the controller."""
    topology, world = topology_of("ladder", 1), Engines()
    data = controller_config(topology, FcnSettings())
    pe1 = data["nodes"]["pe1"]
    pe1["tunnels"] = {
        "north": {"type": "srv6", "to": "pe2", "via": ["p1", "p3"]},
        "south": {"type": "srv6", "to": "pe2", "via": ["p2", "p4"]},
    }
    paths = [
        {"tunnel": name, "id": number} for name, number in zip(pe1["tunnels"], NUMBERS, strict=True)
    ]
    pe1["policies"] = {"both": {"to": "pe2", "paths": paths, "hold_down": "1s"}}
    for vrf in pe1["vrfs"].values():
        for route in vrf["routes"]:
            if route.pop("tunnel", None):
                route["policy"] = "both"
    found = Ladder(topology, parse_config(yaml.safe_dump(data)), world)
    nodes = {name: NodeControl(Box(name, world), CHANNEL_NS) for name in found.config.nodes}

    async def both() -> None:
        async with controlled(
            found.config, nodes, world, seed=1, observer=found.requests.append
        ) as running:
            found.plane, found.pe1 = running.plane, running.switches["pe1"]
            await found.up()
            await main(found)

    run(world, both())


def test_traffic_leaves_a_failed_path_and_comes_back_after_the_hold_down() -> None:
    async def main(ladder: Ladder) -> None:
        north, south = await ladder.carried()
        assert north + south == FLOWS
        assert min(north, south) > FLOWS // 3
        with ladder.plane.bus.watch() as events:
            ladder.say("FAILED", NORTH)
            assert await ladder.carried() == (0, FLOWS)
            assert await kind_of_next(events) is Kind.PATH_FAILED
            assert ladder.state(NORTH).failed
            ladder.say("WELL", NORTH)
            assert await ladder.carried() == (0, FLOWS), "the hold-down"
            assert not ladder.state(NORTH).failed
            await asyncio.sleep(1.0)
            assert await ladder.carried() == (north, south), "every flow is on its path again"
            assert await kind_of_next(events) is Kind.PATH_WELL

    run_ladder(main)


def test_a_controller_that_comes_back_agrees_with_the_data_plane() -> None:
    async def main(ladder: Ladder) -> None:
        await ladder.carried()
        ladder.pe1.link.cut()
        await until(lambda: not ladder.plane.nodes["pe1"].is_up, "the controller to notice")
        ladder.say("FAILED", SOUTH)
        ladder.send()
        done = len(ladder.requests)
        ladder.pe1.link.restore()
        await ladder.up()
        await ladder.plane.nodes["pe1"].paths.look()
        assert ladder.state(SOUTH).failed
        assert await ladder.carried() == (FLOWS, 0)
        writes = [each for each in ladder.requests[done:] if each.method == "Write"]
        tables = ladder.plane.nodes["pe1"].provision.pipeline.schema.tables
        ids = {tables[name].id for name in ("policy", "path", "path_by_id", "tunnel")}
        written = {
            update.entity.table_entry.table_id
            for each in writes
            if each.node == "pe1"
            for update in each.message.updates
        }
        assert not written & ids

    run_ladder(main)
