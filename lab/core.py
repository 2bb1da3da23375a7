"""A network of switches, hosts and links under one virtual clock.

Everything happens on the caller's thread, in the order of virtual time; what is due at the same
nanosecond happens in the order in which nodes and links were added. So the same calls with the same
seed give the same frames at the same times, on any machine and under any load.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Self

from fcn.contract.targets import V1MODEL
from fcn.lab.build import ffi, load_core
from fcn.lab.engine import CPU_PORT, LabEngine
from fcn.lab.errors import LabError
from fcn.lab.frames import FrameKind, TappedFrame, parse_tapped
from fcn.lab.hosts import MAX_FRAME, HostNode
from fcn.lab.look import Look, Probe
from fcn.lab.native_handle import NativeLab
from fcn.lab.pfc import (
    MOST_PAUSES,
    Pause,
    Pfc,
    PfcCounters,
    pfc_counters,
    set_pfc,
    take_pauses,
)
from fcn.lab.red import Red, set_red
from fcn.packets.wire import FAST_CNP_PORT
from fcn.softswitch.api import Engine, PortQueue
from fcn.softswitch.engine.program import Program, traced

ETHERNET_OVERHEAD = 24
"""Octets of a frame on the wire that are not in the frame here: preamble and start delimiter (8),
frame check sequence (4), gap between frames (12); IEEE 802.3."""

DROPS = "_drops"
"""The end of names of numbers of dropped packets."""

_TAP_OCTETS = 1 << 24
_GOLDEN = 0xD1B54A32D192ED03
_NEVER = (1 << 64) - 1
_MOST_PACKETS = (1 << 32) - 2
_PARKING = V1MODEL.ports.parking
_PARKING_BPS = 100 * 10**9
"""Rate of a switch's parking port while its links have no rate."""


@dataclass(frozen=True, slots=True)
class PortSettings:
    """Of a switch's port. octets: that each of its queues holds, None: unlimited. overhead: octets
    of a frame on the wire beyond its own."""

    queue: PortQueue
    octets: int | None = None
    overhead: int = ETHERNET_OVERHEAD


class SwitchNode:
    """A switch: `engine` is an engine of the softswitch, its ports are connected by links.

    Without an engine it is off. open(), start() and close() are what a P4Runtime device needs to
    load programs.
    """

    def __init__(
        self,
        native: NativeLab,
        name: str,
        *,
        memory_octets: int | None,
        seed: int,
    ) -> None:
        self.name = name
        self.number = native.call("add_switch")
        self._memory_octets = memory_octets
        # The same seed would give all switches of a path the same draws.
        self._seed = (seed + self.number * _GOLDEN) % (1 << 64)
        self._native = native
        self._engine: LabEngine | None = None
        self._ports: dict[int, PortSettings] = {}
        self._pfc: set[int] = set()
        self._retired: Counter[str] = Counter()
        self.can_tell = False
        """Whether engines that are opened can tell of packets (softswitch/engine/tracing.py)."""

    @property
    def engine(self) -> LabEngine:
        """The engine it forwards with. Raises LabError when it is off."""
        if self._engine is None:
            raise LabError(f"{self.name} has no program; give it one by open() and start()")
        return self._engine

    @property
    def is_on(self) -> bool:
        """Whether it has an engine."""
        return self._engine is not None

    def open(self, program: Program) -> LabEngine:
        """An engine for a program, with the rates and depths of the switch's ports."""
        engine = LabEngine(traced(program) if self.can_tell else program)
        engine.buffer_set(self._memory_octets)
        engine.seed(self._seed)
        for port, settings in self._ports.items():
            _set_port(engine, port, settings)
        self._set_parking(engine)
        return engine

    def start(self, engine: Engine) -> None:
        """Forward with this engine, one of open(), from now on. What waits in one before is lost.
        Raises LabError for an engine of another kind."""
        if not isinstance(engine, LabEngine):
            raise LabError(f"{self.name} takes engines of its own open() only")
        self._retire()
        self._engine = engine
        self._native.set_engine(self.number, engine.pointers())
        engine.when_listened_to(partial(self._listen, engine))

    def _listen(self, engine: LabEngine) -> None:
        """Somebody takes the events of an engine: they end runs."""
        if engine is self._engine:
            self._native.call("listen", self.number, True)

    def close(self, engine: Engine) -> None:
        """Close an engine; the switch is off when it forwarded with it."""
        if engine is self._engine:
            self._retire()
            self._engine = None
            self._native.set_engine(self.number, None)
        engine.close()

    def set_port(self, port: int, settings: PortSettings) -> None:
        """The rate and queues of a port, also of engines that are opened later."""
        self._ports[port] = settings
        if self._engine is not None:
            _set_port(self._engine, port, settings)
            self._set_parking(self._engine)

    def _set_parking(self, engine: LabEngine) -> None:
        """Held packets (SRF-7) come round at four times the rate of all links together, so that
        they fill the gaps of a port soon after their hold ends."""
        if _PARKING is None or _PARKING in self._ports:
            return
        rate = sum(settings.queue.rate_bps or 0 for settings in self._ports.values())
        queue = PortQueue(depth=_MOST_PACKETS, rate_bps=4 * rate or _PARKING_BPS)
        _set_port(engine, _PARKING, PortSettings(queue, overhead=0))

    def set_pfc(self, port: int, pfc: Pfc, line: tuple[int, int, int]) -> None:
        """Flow control of a port whose link has this rate, delay and overhead."""
        set_pfc(self._native, self.number, port, pfc, line, counts=True)
        self._pfc.add(port)

    @property
    def has_event(self) -> bool:
        """Whether an event waits for the control plane: engine.dispatch_events() delivers it."""
        return bool(self._native.call("has_event", self.number))

    def totals(self) -> Counter[str]:
        """What became of its frames, as EngineBase.balance() says, those of earlier engines
        included. from_cpu: packets of the control plane. lost: with earlier engines. unlinked: sent
        on ports without a link. off_drops: arrived while it was off. pauses_sent, pauses_received:
        PAUSE frames, which are the ports' own."""
        totals = Counter(self._retired)
        if self._engine is not None:
            totals.update(_totals(self._engine))
        totals["unlinked"] = self._native.call("switch_unlinked", self.number)
        totals["off_drops"] = self._native.call("switch_off_drops", self.number)
        for port in self._pfc:
            counters = pfc_counters(self._native, self.number, port)
            totals["pauses_sent"] += counters.sent
            totals["pauses_received"] += counters.received
        return totals

    def drop_probes(self) -> Iterator[tuple[str, Probe]]:
        """What of totals() are drops, to look at again and again while the engine is the same."""
        for place, name in enumerate(self.engine.balance()):
            if name.endswith(DROPS):
                yield name, Probe(Look.BALANCE, self.number, place, base=self._retired[name])
        yield "off_drops", Probe(Look.OFF_DROPS, self.number)

    def _retire(self) -> None:
        if self._engine is not None:
            self._retired.update(_totals(self._engine))
            self._retired["lost"] += self._retired.pop("held", 0)


def _totals(engine: LabEngine) -> dict[str, int]:
    from_cpu = engine.port_counters(CPU_PORT).rx_packets
    return {**engine.balance(), "from_cpu": from_cpu}


def _set_port(engine: LabEngine, port: int, settings: PortSettings) -> None:
    engine.port_queue_set(port, settings.queue)
    engine.port_buffer_set(port, settings.octets)
    engine.port_overhead_set(port, settings.overhead)


Node = SwitchNode | HostNode


@dataclass(frozen=True, slots=True)
class LinkCounters:
    """Frames of one direction of a link so far: put = delivered + cut + errors + in_flight."""

    put: int
    put_octets: int
    delivered: int
    cut: int
    errors: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class End:
    node: Node
    port: int


class Link:
    """A link of two directions, `0` from `ends[0]`, `1` from `ends[1]`. jitter_ns: what a frame
    takes longer at most."""

    def __init__(
        self,
        native: NativeLab,
        number: int,
        ends: tuple[End, End],
        line: tuple[int | None, int, int],
    ) -> None:
        self.number = number
        self.ends = ends
        self.rate_bps, self.delay_ns, self.overhead = line
        self.jitter_ns = 0
        self._native = native

    def counters(self, direction: int) -> LinkCounters:
        """What was put on this direction and what became of it."""
        return LinkCounters(
            **self._native.read("lab_link_stats", "link_stats_of", 2 * self.number + direction)
        )

    def set_up(self, up: bool) -> None:
        """Cut the link, or mend it. What is under way on a link that is cut is lost, and the
        control planes of the switches at its ends are told at once."""
        self._native.call("set_link", self.number, up)

    def set_pfc(self, pfc: Pfc, *, end: int | None = None) -> None:
        """Flow control by priority, at one of its ends or both. Raises LabError.

        Its headroom is that of a link with the jitter it has by now.
        """
        if not self.rate_bps:
            raise LabError("flow control needs a link with a rate: pauses are counted in bit times")
        line = (self.rate_bps, self.delay_ns + self.jitter_ns, self.overhead)
        for number in (0, 1) if end is None else (end,):
            node, port = self.ends[number].node, self.ends[number].port
            if isinstance(node, HostNode):
                counts = pfc.drain_bps is not None
                set_pfc(self._native, node.number, port, pfc, line, counts=counts)
            else:
                node.set_pfc(port, pfc, line)

    def set_red(self, red: Red) -> None:
        """Mark packets that switches at its ends put on it by random early detection."""
        for end in self.ends:
            if not isinstance(end.node, HostNode):
                set_red(self._native, end.node.number, end.port, red)

    def pfc_counters(self, end: int) -> PfcCounters:
        """Of the flow control at an end. Raises LabError when it has none."""
        return pfc_counters(self._native, self.ends[end].node.number, self.ends[end].port)

    def tap(
        self,
        direction: int,
        octets: int = _TAP_OCTETS,
        *,
        select: FrameKind | None = None,
        snap: int = MAX_FRAME,
    ) -> None:
        """Keep copies of the frames it delivers, in at most so many more octets of memory.

        select: only frames of one of these kinds. snap: how many of a frame's first octets; a copy
        takes 32 more. A second call for the same direction replaces what the first one selected.
        """
        kinds = 0 if select is None else int(select)
        self._native.call("tap", 2 * self.number + direction, kinds, snap, octets)


class Simulation:
    """The network and its clock, in nanoseconds from 0. Not thread-safe.

    fast_cnp_port: UDP destination port by which taps know Fast CNPs; the switches' is in their
    entries.
    """

    def __init__(
        self, seed: int = 0, *, fast_cnp_port: int = FAST_CNP_PORT, sanitize: bool = False
    ) -> None:
        self.native = NativeLab(ffi(), load_core(sanitize=sanitize), seed, fast_cnp_port)
        self.switches: dict[str, SwitchNode] = {}
        self.hosts: dict[str, HostNode] = {}
        self.links: list[Link] = []
        self._seed = seed
        self._used: set[tuple[str, int]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Free everything; idempotent."""
        for node in self.switches.values():
            if node.is_on:
                node.close(node.engine)
        self.native.close()

    def add_switch(
        self,
        name: str,
        program: Program | None = None,
        *,
        memory_octets: int | None = None,
    ) -> SwitchNode:
        """A switch that runs a program, or is off without one. memory_octets: that all its queues
        hold together, None: unlimited. Raises LabError when the name is taken."""
        self._check_name(name)
        node = self.switches[name] = SwitchNode(
            self.native, name, memory_octets=memory_octets, seed=self._seed
        )
        if program is not None:
            node.start(node.open(program))
        return node

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
        buffer_octets: int | None = None,
        overhead: int = ETHERNET_OVERHEAD,
    ) -> Link:
        """Connect two ports by a link of this rate and propagation delay in each direction.

        rate_bps: None is unlimited. buffer: packets in each queue of the switches' ports; None
        leaves the engine's default. buffer_octets: octets in each of them, None is unlimited; with
        `buffer` what is reached first counts. overhead: octets of a frame on the wire beyond its
        own. Raises LabError for a link that cannot be.
        """
        if rate_bps is not None and rate_bps < 1:
            raise LabError(f"a link of {rate_bps} bit/s carries nothing; give a rate above 0")
        if delay_ns < 0:
            raise LabError(f"a link cannot have a delay of {delay_ns} ns; give 0 or more")
        if buffer is not None and buffer < 1:
            raise LabError(f"a buffer of {buffer} packets drops all; give 1 or more")
        if buffer_octets is not None and buffer_octets < 1:
            raise LabError(f"a buffer of {buffer_octets} octets drops all; give 1 or more")
        if buffer is None and buffer_octets is not None:
            buffer = _MOST_PACKETS
        ends = (End(a, a_port), End(b, b_port))
        for end in ends:
            self._check_port(end)
        for end in ends:
            self._used.add((end.node.name, end.port))
            if isinstance(end.node, HostNode):
                end.node.set_line(rate_bps or 0, overhead)
            else:
                queue = PortQueue(depth=buffer, rate_bps=rate_bps)
                end.node.set_port(end.port, PortSettings(queue, buffer_octets, overhead))
        number = self.native.call("connect", a.number, a_port, b.number, b_port, delay_ns)
        line = (rate_bps, delay_ns, overhead)
        self.links.append(Link(self.native, number, ends, line))
        return self.links[-1]

    def run_until(self, ns: int) -> int:
        """Advance to a time and return the time reached, which is earlier when a switch has an
        event for its control plane: deliver it (`SwitchNode.has_event`) and call again. Only
        switches whose engine's events are taken (`set_events`) stop the run. Raises LabError."""
        if not 0 <= ns < _NEVER:
            raise LabError(f"{ns} ns is no virtual time; those are 0 to 2^64 - 2")
        return self.native.call("run", ns)

    @property
    def now_ns(self) -> int:
        """The virtual time."""
        return self.native.now_ns

    def next_due_ns(self) -> int | None:
        """When something happens next; None when nothing will."""
        due = self.native.call("next_due")
        return None if due == _NEVER else due

    @property
    def hops(self) -> int:
        """Frames delivered by links: packet-hops, those to hosts included."""
        return self.native.call("hops")

    def meet(self, number: int, told: Callable[[End], object]) -> None:
        """Tell where frame `number` (of `TappedFrame`) arrives, before anything else does."""

        def meet(direction: int) -> None:
            told(self.links[direction // 2].ends[1 - direction % 2])

        self._meeting = self.native.ffi.callback("lab_meeting", meet)
        self.native.call("meet", number, self._meeting)

    def tapped(self, *, complete: bool = True) -> list[TappedFrame]:
        """The frames copied by taps since the last call, in the order of their times.
        complete: raise LabError when some were lost because the taps' memory was full; otherwise
        `tapped_lost` says so."""
        if complete and self.tapped_lost:
            raise LabError(
                f"{self.tapped_lost} frames did not fit in the taps' memory; give the taps more"
            )
        return parse_tapped(self.native.take_tapped())

    @property
    def tapped_lost(self) -> int:
        """Frames since the start of which the taps' memory had no room for a copy."""
        return self.native.call("tapped_lost")

    def keep_digest(self) -> None:
        """From now on mix every delivered frame and its time into `digest`."""
        self.native.call("keep_digest", True)

    @property
    def digest(self) -> int:
        """64 bits that two runs share when every link delivered the same octets at the same times
        in the same order."""
        return self.native.call("digest")

    @property
    def frames_in_use(self) -> int:
        """Frames that are somewhere now, as the memory they are in counts them."""
        return self.native.call("frames_in_use")

    def keep_pauses(self, most: int = MOST_PAUSES) -> None:
        """From now on keep the PAUSEs of flow control, at most so many until they are taken by
        pauses()."""
        self.native.call("keep_pauses", most)

    def pauses(self) -> list[Pause]:
        """PAUSEs sent and received since the last call, in the order of their times."""
        nodes: list[Node] = [*self.hosts.values(), *self.switches.values()]
        return take_pauses(self.native, {node.number: node.name for node in nodes})

    @property
    def pauses_lost(self) -> int:
        """PAUSEs since the start for which there was no room."""
        return self.native.call("pauses_lost")

    def _check_name(self, name: str) -> None:
        if name in self.switches or name in self.hosts:
            raise LabError(f"there is a node {name!r} already; give another name")

    def _check_port(self, end: End) -> None:
        highest = 0 if isinstance(end.node, HostNode) else CPU_PORT - 1
        if not 0 <= end.port <= highest:
            raise LabError(f"{end.node.name} has no port {end.port} for a link; 0 to {highest}")
        if (end.node.name, end.port) in self._used:
            raise LabError(f"port {end.port} of {end.node.name} has a link already")
