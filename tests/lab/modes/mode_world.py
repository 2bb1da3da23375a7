"""A network in some modes, the controller beside it, and all that its links carry (ALL-3)."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import yaml
from domain_modes import (
    DC_PORTS,
    HOST_MACS,
    LINK_RATE,
    PAUSED_PORT,
    Choice,
    completed,
    host_address,
    network,
)
from mode_frames import Carried, read_frame

from fcn.contract.link_clock import clock_rate
from fcn.contract.names import COUNTERS, named_cells
from fcn.contract.targets import V1MODEL
from fcn.controller.config import Config, parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac, parse_address
from fcn.controller.config.watching import Watching
from fcn.controller.flows.key import FlowKey
from fcn.lab.balance import balance
from fcn.lab.control.loop import NS, run
from fcn.lab.control.plane import Controlled, NodeControl, controlled
from fcn.lab.core import Link, Node, PortSettings, Simulation
from fcn.ptf_tests.lib.packets import Ecn, ethernet, roce, udp
from fcn.ptf_tests.lib.paused_dc import pause_frame
from fcn.softswitch.api import PortQueue

CHANNEL_NS, LINK_NS = 100_000, 10_000
BUFFER = 4_000
WAY = ("pe1", "p1", "p2", "pe2")
"""The shorter one."""
PAUSED_HOST = f"h2-{PAUSED_PORT}"
EGRESS, PAUSED = "pe2", PAUSED_HOST
"""Other places of a congestion: the queue before that host, and the host, which pauses its PE."""
BOTTLENECKS = {near: (near, far) for near, far in pairwise((*WAY, PAUSED_HOST))}
"""By the node with the queue."""
BOTTLENECK_BPS = 10**9
SHARED_BPS = 4 * 10**8
"""Where the half of the flows takes another way, or has another host."""
PAYLOAD = 960
MARK = b"\xfc\x0effcn"
"""Behind it in each packet are the number of its flow and its own."""
WAIT, LOOK = 20.0, 0.001
"""Timeout of conditions, and between two looks; seconds of virtual time."""
HOSTS = {4: 100_000, 5: 60_000}
"""Packets per second, by port."""
CONGESTED_S, REST_S = 0.01, 0.03
PAUSES_S = (0.002, 0.0015, 0.0015)
"""Until the first PAUSE frame, and the next; the last one ends it. Each says 3.4 ms."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Packets of one five-tuple from a host of pe1. source_qp: of RoCEv2, otherwise 0."""

    number: int
    port: int
    version: int
    source_qp: int

    @property
    def src(self) -> str:
        return host_address(1, self.port, self.version)

    @property
    def dst(self) -> str:
        return host_address(2, self.port, self.version)

    @property
    def dest_qp(self) -> int:
        return self.source_qp + 0x1000

    @property
    def ecn(self) -> Ecn:
        """Of what its host sends."""
        return Ecn.ECT0 if self.source_qp else Ecn.NOT_ECT

    def datagrams(self, count: int, first: int) -> Iterator[bytes]:
        """Its packets, which differ in PSN and payload alone; ICRC and UDP checksum are the first
        one's: no switch looks at them."""
        body = MARK + bytes([self.number]) + bytes(4) + bytes(PAYLOAD - len(MARK) - 5)
        if self.source_qp:
            whole = roce(self.src, self.dst, self.dest_qp, payload=body, psn=0)
            psn = whole.index(MARK) - 3
        else:
            whole = udp(self.src, self.dst, 1000 + self.number, 53, body)
            psn = -1
        at = whole.index(MARK) + len(MARK) + 1
        for number in range(first, first + count):
            octets = bytearray(whole)
            octets[at : at + 4] = number.to_bytes(4, "big")
            if psn > 0:
                octets[psn : psn + 3] = number.to_bytes(3, "big")
            yield bytes(octets)


STREAMS = [
    Stream(number, port, version, 0x100 + number if is_roce else 0)
    for number, (port, version, is_roce) in enumerate(
        (port, version, is_roce)
        for port in DC_PORTS
        for version in (4, 6)
        for is_roce in (True, True, True, False)
    )
]
"""Tagged and untagged, IPv4 and IPv6, RoCEv2 and other."""


@dataclass
class World:
    """The network while it runs. carried: by (from, to) of a link, what it has delivered."""

    modes: dict[str, str]
    config: Config
    simulation: Simulation
    place: str
    links: dict[frozenset[str], Link] = field(default_factory=dict)
    running: Controlled = field(init=False)
    carried: dict[tuple[str, str], list[Carried]] = field(default_factory=lambda: defaultdict(list))
    _sent: Counter[int] = field(default_factory=Counter)
    _ends: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)

    def wire(self) -> dict[str, NodeControl]:
        """Connect everything; every frame is copied. Returns the switches, for their controller."""
        nodes = {
            name: NodeControl(self.simulation.add_switch(name), CHANNEL_NS)
            for name in self.config.nodes
        }
        switches = self.simulation.switches
        for (a, a_port), (b, b_port) in self.config.link_ends():
            self._connect(switches[a], a_port, switches[b], b_port)
        for side in (1, 2):
            for port in DC_PORTS:
                host = self.simulation.add_host(f"h{side}-{port}")
                self._connect(switches[f"pe{side}"], port, host, 0)
        clock = V1MODEL.ports.clock
        detection = self.config.failure_detection
        for name, switch in switches.items() if detection is not None else ():
            slots = len(Watching(self.config).slots(name))
            assert detection is not None
            queue = PortQueue(depth=64, rate_pps=clock_rate(slots, detection.interval))
            switch.set_port(clock, PortSettings(queue, overhead=0))
        return nodes

    def _connect(self, a: Node, a_port: int, b: Node, b_port: int) -> None:
        halved = self.place == EGRESS or self.modes["way"] == "paths"
        is_slow = (a.name, b.name) == BOTTLENECKS.get(self.place)
        rate = (SHARED_BPS if halved else BOTTLENECK_BPS) if is_slow else LINK_RATE
        link = self.simulation.connect(
            a, a_port, b, b_port, rate_bps=rate, delay_ns=LINK_NS, buffer=BUFFER
        )
        self.links[frozenset((a.name, b.name))] = link
        for direction, ends in enumerate(((a.name, b.name), (b.name, a.name))):
            link.tap(direction, snap=320)
            self._ends[link.number, direction] = ends

    def collect(self) -> None:
        """Read what the links have carried."""
        for frame in self.simulation.tapped():
            where = self._ends[frame.link, frame.direction]
            self.carried[where].append(read_frame(frame.time_ns, frame.data, MARK))

    def send(self, seconds: float, part: float = 1.0) -> None:
        """Let the hosts send from now on, at this part of their rates."""
        for port, rate in HOSTS.items():
            streams = [stream for stream in STREAMS if stream.port == port]
            each = max(1, round(rate * part * seconds / len(streams)))
            node = self.config.nodes["pe1"]
            own = node.port(port, DC_PORTS[port])
            assert own is not None
            mac = format_mac(port_mac("pe1", node, own))
            rows = [list(stream.datagrams(each, self._sent[stream.number])) for stream in streams]
            for stream in streams:
                self._sent[stream.number] += each
            frames = [
                ethernet(datagram, src=HOST_MACS[port], dst=mac, vlan=DC_PORTS[port])
                for row in zip(*rows, strict=True)
                for datagram in row
            ]
            self.simulation.hosts[f"h1-{port}"].send_series(
                frames, per_second=rate * part, count=len(frames), start_ns=self.simulation.now_ns
            )

    async def pause(self) -> None:
        """The host that pauses says so for all priorities, again, and that it is over."""
        host = self.simulation.hosts[PAUSED_HOST]
        for wait, quanta in zip(PAUSES_S, (0xFFFF, 0xFFFF, 0), strict=True):
            await asyncio.sleep(wait)
            host.send(pause_frame(dict.fromkeys(range(8), quanta)))

    def sent(self, number: int) -> int:
        """How many packets of a stream were sent."""
        return self._sent[number]

    async def learn(self) -> None:
        """Register the sender of each RoCE flow, which labels it."""
        flows = self.running.plane.flows
        for stream in STREAMS:
            if stream.source_qp:
                src, dst = parse_address(stream.src), parse_address(stream.dst)
                flows.add(FlowKey("blue", src, dst, stream.dest_qp), stream.source_qp)
        assert await self.running.plane.nodes["pe1"].settled()

    def links_are_up(self) -> bool:
        """Whether both ends of every watched link say so."""
        return all(
            (state := node.links.state(link.port)) is not None and state.state == "up"
            for node in self.running.plane.nodes.values()
            for link in node.links.links
        )

    def counts(self) -> dict[str, Counter[str]]:
        """By node what its program counted, and what its engine dropped."""
        found: dict[str, Counter[str]] = {}
        for name, switch in self.simulation.switches.items():
            count = found[name] = Counter()
            for full in switch.engine.program.counters:
                alias = full.rpartition(".")[2]
                if alias in COUNTERS:
                    for index, cell in named_cells(alias).items():
                        packets = switch.engine.counter_read(full, index).packets
                        count[f"drop {cell}" if alias == "drops" else cell] += packets
            for what, value in switch.totals().items():
                if what.endswith("_drops"):
                    count[f"drop {what.removesuffix('_drops').upper()}"] += value
            found[name] = Counter({cell: value for cell, value in count.items() if value})
        return found


async def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition."""
    try:
        async with asyncio.timeout(WAIT):
            while not condition():  # noqa: ASYNC110 - the network changes it, without an event
                await asyncio.sleep(LOOK)
    except TimeoutError:
        raise AssertionError(f"gave up waiting for {what}") from None


@dataclass(frozen=True)
class Seen:
    """What a run showed; `place` had the congested queue. At `cut` (None: never) the link p1-p2
    went down, in ns."""

    modes: dict[str, str]
    config: Config
    place: str
    carried: dict[tuple[str, str], list[Carried]]
    counts: dict[str, Counter[str]]
    sent: dict[int, int]
    begun: int
    over: int
    cut: int | None
    found: int

    @property
    def upstream(self) -> str | None:
        """The node before the queue; None where that is the data centre."""
        place = EGRESS if self.place == PAUSED else self.place
        return None if place == WAY[0] else WAY[WAY.index(place) - 1]

    @cached_property
    def queued(self) -> list[Carried]:
        """The packets of streams that were in the queue during congestion."""
        return self.data(*BOTTLENECKS[self.place])

    @cached_property
    def arrived(self) -> dict[int, list[Carried]]:
        """At the other hosts, by stream, in order."""
        found: dict[int, list[Carried]] = {stream.number: [] for stream in STREAMS}
        for port in DC_PORTS:
            for each in self.carried["pe2", f"h2-{port}"]:
                if each.stream is not None:
                    found[each.stream].append(each)
        return found

    def data(self, near: str, far: str) -> list[Carried]:
        """The packets of streams that a link carried during congestion."""
        return [
            each
            for each in self.carried[near, far]
            if each.stream is not None and self.begun <= each.time_ns < self.over
        ]


def run_modes(choice: Choice, place: str = "p2") -> Seen:
    """Congestion at this place for some milliseconds, then silence, then a link fails where that is
    watched."""
    modes = completed(choice)
    config = parse_config(yaml.safe_dump(network(choice)))
    with Simulation(seed=1) as simulation:
        world = World(modes, config, simulation, place)
        nodes = world.wire()

        async def main() -> Seen:
            async with controlled(config, nodes, simulation, seed=1) as running:
                world.running = running
                planes = running.plane.nodes.values()
                await until(lambda: all(node.is_up for node in planes), "the switches")
                if config.failure_detection is not None:
                    await until(world.links_are_up, "the links")
                await world.learn()
                world.collect()
                world.carried.clear()
                begun = simulation.now_ns
                world.send(CONGESTED_S)
                rest = CONGESTED_S + REST_S
                if place == PAUSED:
                    await world.pause()
                    rest -= sum(PAUSES_S)
                await asyncio.sleep(rest)
                over = simulation.now_ns
                cut, found = None, over
                if config.failure_detection is not None and modes["way"] in ("paths", "backup"):
                    cut = simulation.now_ns
                    world.links[frozenset(("p1", "p2"))].set_up(False)
                    detection = config.failure_detection
                    await asyncio.sleep((detection.multiplier + 2) * detection.interval / 1e6)
                    found = simulation.now_ns
                world.send(CONGESTED_S, 0.1)
                await asyncio.sleep(CONGESTED_S + REST_S)
                world.collect()
                counts = world.counts()
                balance(simulation)
                sent = {stream.number: world.sent(stream.number) for stream in STREAMS}
                return Seen(
                    modes=modes,
                    config=config,
                    place=place,
                    carried=world.carried,
                    counts=counts,
                    sent=sent,
                    begun=begun,
                    over=over,
                    cut=cut,
                    found=found,
                )

        return run(simulation, main())


__all__ = ["NS", "STREAMS", "Seen", "Stream", "run_modes"]
