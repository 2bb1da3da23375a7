"""Topology `ladder` with a policy, its controller and data planes, in virtual time.

What tells the PE of a path is put into its engine, past the controller.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import yaml
from wan_network import HOST_MAC, until
from worlds import Box, Engines

from fcn.contract.paths import path_report
from fcn.contract.targets import V1MODEL
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac
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
HOLD_DOWN_US = 50_000
WAYS = (("p1", "p3"), ("p2", "p4"), ("p1", "p4"), ("p2", "p3"))
"""Nodes of the paths."""
FIRST_NUMBER = 17
"""The path of slot 0; the others follow."""


@dataclass
class Ladder:
    """The network while it runs; pe1 has the policy `both` to pe2."""

    topology: Topology
    config: Config
    world: Engines
    requests: list[Request] = field(default_factory=list)
    plane: ControlPlane = field(init=False)
    pe1: ControlledSwitch = field(init=False)

    def send(self, flows: int = FLOWS) -> None:
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
        for number in range(flows):
            datagram = udp(addresses[0], addresses[1], 1000 + number, 53)
            frame = ethernet(datagram, src=HOST_MAC, dst=mac)
            self.world.engines["pe1"].inject(port.number, frame)

    def say(self, report: str, slot: int) -> None:
        """Tell the data plane of pe1 of a path by hand."""
        header = V1MODEL.ports.cpu.to_bytes(2, "big")
        self.world.engines["pe1"].packet_out(header + path_report(FIRST_NUMBER + slot, report))

    def state(self, slot: int) -> PathState:
        """A path as the controller saw it last."""
        found = self.plane.nodes["pe1"].paths.state("both", slot)
        assert found is not None
        return found

    async def look(self) -> None:
        """Let the controller see what pe1 counts of paths."""
        pe1 = self.plane.nodes["pe1"]
        await pe1.counters.poll(pe1.paths)

    async def carried(self) -> tuple[int, ...]:
        """What each path carries of a packet of each flow."""
        slots = range(len(self.plane.nodes["pe1"].paths.plans[0].paths))
        await self.look()
        before = [self.state(slot).packets for slot in slots]
        self.send()
        await asyncio.sleep(0.001)
        await self.look()
        return tuple(self.state(slot).packets - before[slot] for slot in slots)

    async def up(self) -> None:
        """Wait for all switches."""
        await until(lambda: all(node.is_up for node in self.plane.nodes.values()), "the switches")


def run_ladder(main: Callable[[Ladder], Awaitable[None]], paths: int = 2, backups: int = 0) -> None:
    """Run this beside the controller; the policy has so many paths, and backups behind them."""
    topology, world = topology_of("ladder", 1), Engines()
    data = controller_config(topology, FcnSettings())
    pe1 = data["nodes"]["pe1"]
    used = [
        {"tunnel": f"by-{'-'.join(via)}", "id": FIRST_NUMBER + slot}
        for slot, via in enumerate(WAYS[: paths + backups])
    ]
    pe1["tunnels"] = {
        path["tunnel"]: {"type": "srv6", "to": "pe2", "via": list(via)}
        for path, via in zip(used, WAYS, strict=False)
    }
    policy = {"to": "pe2", "paths": used[:paths], "backup": used[paths:]}
    pe1["policies"] = {"both": {**policy, "hold_down": f"{HOLD_DOWN_US}us"}}
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
