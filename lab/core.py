"""A network of switches, hosts and links under one virtual clock.

Everything happens on the caller's thread, in the order of virtual time; what is due at the same
nanosecond happens in the order in which nodes and links were added. So the same calls with the same
seed give the same frames at the same times, on any machine and under any load.
"""

from dataclasses import dataclass
from typing import Self

from fcn.lab.build import ffi, load_core
from fcn.lab.engine import LabEngine
from fcn.lab.errors import LabError
from fcn.lab.frames import TappedFrame, parse_tapped
from fcn.lab.hosts import HostNode
from fcn.lab.native_handle import NativeLab
from fcn.softswitch.api import PortQueue
from fcn.softswitch.engine.program import Program

ETHERNET_OVERHEAD = 24
"""Octets of a frame on the wire that are not in the frame here: preamble and start delimiter (8),
frame check sequence (4), gap between frames (12); IEEE 802.3."""

_TAP_OCTETS = 1 << 24
_NEVER = (1 << 64) - 1


class SwitchNode:
    """A switch: `engine` is an engine of the softswitch, its ports are connected by links."""

    def __init__(self, native: NativeLab, name: str, number: int, engine: LabEngine) -> None:
        self.name = name
        self.number = number
        self.engine = engine
        self._native = native

    def replace(self, engine: LabEngine) -> None:
        """Put another engine in the place of this one, which is closed: what waits in it is lost.
        Rates and depths of the ports are those of the new engine."""
        old, self.engine = self.engine, engine
        api, handle = engine.pointers()
        self._native.replace_engine(self.number, api, handle)
        old.close()

    @property
    def has_event(self) -> bool:
        """Whether an event waits for the control plane: engine.dispatch_events() delivers it."""
        return self._native.has_event(self.number)

    @property
    def unlinked(self) -> int:
        """Frames it sent on ports without a link."""
        return self._native.unlinked(self.number)


Node = SwitchNode | HostNode


@dataclass(frozen=True, slots=True)
class LinkCounters:
    """Frames of one direction of a link since the start: put = delivered + cut + in_flight."""

    put: int
    put_octets: int
    delivered: int
    cut: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link."""

    node: Node
    port: int


class Link:
    """A link of two directions, `0` from `ends[0]`, `1` from `ends[1]`."""

    def __init__(self, native: NativeLab, number: int, ends: tuple[End, End]) -> None:
        self.number = number
        self.ends = ends
        self._native = native

    def counters(self, direction: int) -> LinkCounters:
        """What was put on this direction and what became of it."""
        return LinkCounters(**self._native.link_stats(2 * self.number + direction))

    def set_up(self, up: bool) -> None:
        """Cut the link, or mend it. What is under way on a link that is cut is lost, and the
        control planes of the switches at its ends are told at once."""
        self._native.set_link(self.number, up)

    def tap(self, direction: int, octets: int = _TAP_OCTETS) -> None:
        """Keep a copy of each frame it delivers, in at most so many more octets of memory."""
        self._native.tap(2 * self.number + direction, octets)


class Simulation:
    """The network and its clock, in nanoseconds from 0. Not thread-safe."""

    def __init__(self, seed: int = 0, *, sanitize: bool = False) -> None:
        self.native = NativeLab(ffi(), load_core(sanitize=sanitize), seed)
        self.switches: dict[str, SwitchNode] = {}
        self.hosts: dict[str, HostNode] = {}
        self.links: list[Link] = []
        self._used: set[tuple[str, int]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Free everything; idempotent."""
        for node in self.switches.values():
            node.engine.close()
        self.native.close()

    def add_switch(
        self,
        name: str,
        program: Program,
        *,
        cpu_port: int = 510,
        drop_port: int = 511,
        queues: int = 8,
    ) -> SwitchNode:
        """A switch that runs a program. Raises LabError when the name is taken."""
        self._check_name(name)
        engine = LabEngine(program, cpu_port=cpu_port, drop_port=drop_port, queues=queues)
        number = self.native.add_switch(*engine.pointers())
        self.switches[name] = SwitchNode(self.native, name, number, engine)
        return self.switches[name]

    def add_host(self, name: str) -> HostNode:
        """A host with one port, 0. Raises LabError when the name is taken."""
        self._check_name(name)
        self.hosts[name] = HostNode(self.native, name)
        return self.hosts[name]

    def connect(
        self,
        a: Node,
        a_port: int,
        b: Node,
        b_port: int,
        *,
        rate_bps: int | None,
        delay_ns: int,
        buffer: int | None = None,
        overhead: int = ETHERNET_OVERHEAD,
    ) -> Link:
        """Connect two ports by a link of this rate and propagation delay in each direction.

        rate_bps: None is unlimited. buffer: packets in each queue of the switches' ports; None
        leaves the engine's default. overhead: octets of a frame on the wire beyond its own. Raises
        LabError for a link that cannot be.
        """
        if rate_bps is not None and rate_bps < 1:
            raise LabError(f"a link of {rate_bps} bit/s carries nothing; give a rate above 0")
        if delay_ns < 0:
            raise LabError(f"a link cannot have a delay of {delay_ns} ns; give 0 or more")
        if buffer is not None and buffer < 1:
            raise LabError(f"a buffer of {buffer} packets drops all; give 1 or more")
        ends = (End(a, a_port), End(b, b_port))
        for end in ends:
            self._check_port(end)
        for end in ends:
            self._used.add((end.node.name, end.port))
            if isinstance(end.node, HostNode):
                end.node.set_line(rate_bps or 0, overhead)
            else:
                queue = PortQueue(depth=buffer, rate_bps=rate_bps)
                end.node.engine.port_queue_set(end.port, queue)
                end.node.engine.port_overhead_set(end.port, overhead)
        number = self.native.connect(a.number, a_port, b.number, b_port, delay_ns)
        self.links.append(Link(self.native, number, ends))
        return self.links[-1]

    def run_until(self, ns: int) -> int:
        """Advance to a time and return the time reached, which is earlier when a switch has an
        event for its control plane: deliver it (`SwitchNode.has_event`) and call again. Only
        switches whose engine's events are taken (`set_events`) stop the run."""
        for node in self.switches.values():
            self.native.listen(node.number, node.engine.listens)
        return self.native.run(ns)

    @property
    def now_ns(self) -> int:
        """The virtual time."""
        return self.native.now()

    def next_due_ns(self) -> int | None:
        """When something happens next; None when nothing will."""
        due = self.native.next_due()
        return None if due == _NEVER else due

    @property
    def hops(self) -> int:
        """Frames delivered by links: packet-hops, those to hosts included."""
        return self.native.hops()

    def tapped(self) -> list[TappedFrame]:
        """The frames copied by taps since the last call, in the order of their times.
        Raises LabError when some were lost because the taps' memory was full."""
        data, lost = self.native.take_tapped()
        if lost:
            raise LabError(f"{lost} frames did not fit in the taps' memory; give the taps more")
        return parse_tapped(data)

    def keep_digest(self) -> None:
        """From now on mix every delivered frame and its time into `digest`."""
        self.native.keep_digest(True)

    @property
    def digest(self) -> int:
        """64 bits that two runs share when every link delivered the same octets at the same times
        in the same order."""
        return self.native.digest()

    @property
    def frames_in_use(self) -> int:
        """Frames that are somewhere now, as the memory they are in counts them."""
        return self.native.frames_in_use()

    def _check_name(self, name: str) -> None:
        if name in self.switches or name in self.hosts:
            raise LabError(f"there is a node {name!r} already; give another name")

    def _check_port(self, end: End) -> None:
        highest = 0 if isinstance(end.node, HostNode) else end.node.engine.cpu_port - 1
        if not 0 <= end.port <= highest:
            raise LabError(f"{end.node.name} has no port {end.port} for a link; 0 to {highest}")
        if (end.node.name, end.port) in self._used:
            raise LabError(f"port {end.port} of {end.node.name} has a link already")
