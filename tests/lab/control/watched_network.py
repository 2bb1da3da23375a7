"""Topology `ladder` whose links are watched, with a policy, in virtual time: switches and links are
those of the laboratory, the controller runs beside them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from wan_network import HOST_MAC, until

from fcn.contract.depth import Depth
from fcn.contract.link_clock import clock_rate
from fcn.contract.targets import V1MODEL
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac
from fcn.controller.config.watching import Watching
from fcn.controller.node.paths import PathState
from fcn.lab.control.loop import run
from fcn.lab.control.plane import Controlled, NodeControl, controlled
from fcn.lab.core import Link, PortSettings, Simulation
from fcn.lab.hosts import HostNode
from fcn.ptf_tests.lib.packets import ethernet, roce, udp
from fcn.softswitch.api import PortQueue
from fcn.topologies.catalog import network as topology_of
from fcn.topologies.controller_config import FcnSettings, controller_config
from fcn.topologies.model import Topology

CHANNEL_NS, LINK_NS = 1_000_000, 10_000
RATE_BPS = 10 * 10**9
FLOWS = 64
INTERVAL_US, MULTIPLIER = 10_000, 3
HOLD_DOWN_S = 0.1
WAYS = {"north": ("p1", "p3"), "south": ("p2", "p4")}
TOKEN = "clock_token"
"""Register of the youngest clock packet."""
NUMBERS = {"north": 17, "south": 18}


def ladder_config(topology: Topology, sections: Mapping[str, Any]) -> dict[str, Any]:
    """pe1 has the policy `both` to pe2, with a path on each side."""
    data = controller_config(topology, FcnSettings(sections=sections))
    data["failure_detection"] = {"interval": f"{INTERVAL_US}us", "multiplier": MULTIPLIER}
    for host in topology.hosts:
        (port,) = (each for each in data["nodes"][host.pe]["ports"] if each["role"] == "dc")
        port["hosts"] = {str(topology.addresses(host.name).ipv4.ip): HOST_MAC}
    pe1 = data["nodes"]["pe1"]
    pe1["tunnels"] = {
        name: {"type": "srv6", "to": "pe2", "via": list(via)} for name, via in WAYS.items()
    }
    paths = [{"tunnel": name, "id": number} for name, number in NUMBERS.items()]
    hold_down = f"{round(HOLD_DOWN_S * 1000)}ms"
    pe1["policies"] = {"both": {"to": "pe2", "paths": paths, "hold_down": hold_down}}
    for vrf in pe1["vrfs"].values():
        for route in vrf["routes"]:
            if route.pop("tunnel", None) or route.get("policy"):
                route["policy"] = "both"
    return data


@dataclass
class Watched:
    """The network while it runs."""

    topology: Topology
    config: Config
    simulation: Simulation
    links: dict[frozenset[str], Link] = field(default_factory=dict)
    running: Controlled = field(init=False)
    hosts: dict[str, HostNode] = field(default_factory=dict)
    """By their PE."""
    cables: dict[str, Link] = field(default_factory=dict)
    """From a PE to its host."""

    @property
    def plane(self) -> ControlPlane:
        """The controller."""
        return self.running.plane

    def link(self, a: str, b: str) -> Link:
        """The link between two nodes."""
        return self.links[frozenset((a, b))]

    def set_rate(self, name: str, times: int = 1) -> None:
        """Give a clock its rate, or so many times that."""
        slots = Watching(self.config).slots(name)
        queue = PortQueue(depth=64, rate_pps=times * clock_rate(len(slots), INTERVAL_US))
        clock = V1MODEL.ports.clock
        self.simulation.switches[name].set_port(clock, PortSettings(queue, overhead=0))

    def stop_clock(self, name: str) -> None:
        """Let the clock be lost: it takes another packet for younger, and ends."""
        engine = self.simulation.switches[name].engine
        engine.register_write(TOKEN, 0, engine.register_read(TOKEN, 0) + 1_000)

    def rounds(self, name: str) -> int:
        """Rounds of a clock."""
        return self.simulation.switches[name].engine.counter_read("clock_rounds", 0).packets

    def controller_leaves(self) -> None:
        """No switch reaches the controller."""
        for switch in self.running.switches.values():
            switch.link.cut()

    async def controller_returns(self) -> None:
        """All do."""
        for switch in self.running.switches.values():
            switch.link.restore()
        planes = self.plane.nodes.values()
        await until(lambda: all(node.is_up for node in planes), "the switches")

    def state(self, path: str) -> PathState:
        """A path as the controller saw it last."""
        state = self.plane.nodes["pe1"].paths.state("both", list(WAYS).index(path))
        assert state is not None
        return state

    def wire(self) -> None:
        """Connect switches and hosts."""
        line = {"rate_bps": RATE_BPS, "delay_ns": LINK_NS}
        switches = self.simulation.switches
        for (a, a_port), (b, b_port) in self.config.link_ends():
            self.links[frozenset((a, b))] = self.simulation.connect(
                switches[a], a_port, switches[b], b_port, **line
            )
        for host in self.topology.hosts:
            port = next(each for each in self.topology.ports_of(host.pe) if each.peer == host.name)
            node = self.simulation.add_host(host.name)
            link = self.simulation.connect(switches[host.pe], port.number, node, 0, **line)
            self.hosts[host.pe], self.cables[host.pe] = node, link

    def frames(self, source: str = "pe1", *, roce_flows: bool = False) -> list[bytes]:
        """A packet of each flow, from the host of this PE to that of the other."""
        target = "pe2" if source == "pe1" else "pe1"
        names = {host.pe: host.name for host in self.topology.hosts}
        ports = self.topology.ports_of(source)
        port = next(each for each in ports if each.peer == names[source])
        own = self.config.nodes[source].port(port.number)
        assert own is not None
        mac = format_mac(port_mac(source, self.config.nodes[source], own))
        near, far = (str(self.topology.addresses(names[pe]).ipv4.ip) for pe in (source, target))
        datagrams = [
            roce(near, far, 0x100 + number) if roce_flows else udp(near, far, 1000 + number, 53)
            for number in range(FLOWS)
        ]
        return [ethernet(datagram, src=HOST_MAC, dst=mac) for datagram in datagrams]

    def send(self, source: str = "pe1", *, roce_flows: bool = False) -> None:
        """Send them now."""
        for frame in self.frames(source, roce_flows=roce_flows):
            self.hosts[source].send(frame)

    def stream(
        self, per_second: int, count: int | None = None, *, roce_flows: bool = False
    ) -> None:
        """Send them in turn, so many in all."""
        frames = self.frames(roce_flows=roce_flows)
        now = self.simulation.now_ns
        self.hosts["pe1"].send_series(frames, per_second=per_second, count=count, start_ns=now)

    async def arrived(self, source: str = "pe1") -> int:
        """How many of a packet of each flow arrive at the other PE's host."""
        cable = self.cables["pe2" if source == "pe1" else "pe1"]
        before = cable.counters(0).delivered
        self.send(source)
        await asyncio.sleep(0.002)
        return cable.counters(0).delivered - before

    async def congest(self, name: str, port: int, seconds: float) -> None:
        """Let labelled flows fill a queue that has level 1 from a few packets on."""
        node = self.plane.nodes[name]
        node.set_thresholds(port, 0, (Depth(4),))
        assert await node.settled()
        self.send(roce_flows=True)
        await until(lambda: len(self.plane.flows.all()) == FLOWS, "the labels")
        assert await self.plane.nodes["pe1"].settled()
        queue = PortQueue(rate_bps=RATE_BPS // 1000)
        self.simulation.switches[name].set_port(port, PortSettings(queue))
        per_second = 50_000
        self.stream(per_second, round(per_second * seconds), roce_flows=True)

    async def look(self) -> None:
        """Let the controller see what pe1 counts of paths."""
        pe1 = self.plane.nodes["pe1"]
        await pe1.counters.poll(pe1.paths)

    async def carried(self) -> dict[str, int]:
        """What each path takes of a packet of each flow, as pe1 counts."""
        await self.look()
        before = {name: self.state(name).packets for name in WAYS}
        self.send()
        await asyncio.sleep(0.002)
        await self.look()
        return {name: self.state(name).packets - before[name] for name in WAYS}


def run_watched(main: Callable[[Watched], Awaitable[None]], **sections: object) -> None:
    """Run this beside the controller, once all links are up. sections: of the configuration."""
    topology = topology_of("ladder", 1)
    config = parse_config(yaml.safe_dump(ladder_config(topology, sections)))
    with Simulation(seed=1) as simulation:
        nodes = {
            name: NodeControl(simulation.add_switch(name), CHANNEL_NS) for name in config.nodes
        }
        found = Watched(topology, config, simulation)
        for name in nodes:
            found.set_rate(name)
        found.wire()

        async def both() -> None:
            async with controlled(config, nodes, simulation, seed=1) as running:
                found.running = running
                planes = running.plane.nodes.values()
                await until(lambda: all(node.is_up for node in planes), "the switches")
                await until(lambda: all_links_up(found), "the links")
                await main(found)

        run(simulation, both())


def all_links_up(found: Watched) -> bool:
    """Whether both ends of every link say so."""
    return all(
        (state := node.links.state(link.port)) is not None and state.state == "up"
        for node in found.plane.nodes.values()
        for link in node.links.links
    )
