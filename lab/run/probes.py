"""What is measured of a run, as rows of the tables of a result (`fcn.lab.result.tables`).

Times are nanoseconds since the traffic began. What is cumulative counts from then, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fcn.contract.names import COUNTERS, named_cells
from fcn.lab.control.loop import NS
from fcn.lab.core import ETHERNET_OVERHEAD
from fcn.lab.frames import FrameKind, TappedFrame
from fcn.lab.hosts import MAX_FRAME
from fcn.lab.notices import NoticeKind
from fcn.lab.result.capture import pcap
from fcn.lab.result.tables import TableName
from fcn.lab.roce import completions
from fcn.lab.run.build import Built
from fcn.lab.run.connections import Connection
from fcn.lab.run.watch import FailureWatch
from fcn.lab.scenario.wiring import Wire, Wiring

Pair = tuple[str, str]
Rows = dict[TableName, list[tuple[Any, ...]]]

_KINDS = {
    FrameKind.MARKED: "ce",
    FrameKind.FAST_CNP: "fast_cnp",
    FrameKind.END_CON_CNP: "end_con_cnp",
    FrameKind.CNP: "cnp",
}
_TAP_OCTETS = 1 << 26
_WATCHED = FrameKind.MARKED | FrameKind.NOTIFICATION
_OF_CNPS = {NoticeKind.CNP, NoticeKind.CUT}


@dataclass(frozen=True, slots=True)
class Captured:
    """A frame on a link of which all frames are kept."""

    time_ns: int
    node: str
    towards: str
    length: int
    data: bytes


class Probes:
    """Measures a network that was built, from now on; `rows` grow with every sample()."""

    def __init__(
        self, built: Built, connections: list[Connection], rows: Rows, watch: FailureWatch
    ) -> None:
        measure = built.wiring.scenario.measure
        core = built.wiring.core_directions
        self.captured: list[Captured] = []
        self._built = built
        self._simulation = built.simulation
        self._connections = connections
        self._rows = rows
        self._watch = watch
        self._begun = self._simulation.now_ns
        self._peers = _peers(built.wiring)
        self._queues = [
            (node, towards, *built.port(node, towards))
            for node, towards in (core if measure.queues is None else measure.queues)
        ]
        self._links = [(node, towards, *built.link(node, towards)) for node, towards in core]
        crossings = core if measure.crossings is None else measure.crossings
        self._tap({(a, b) for a, b in crossings}, {(a, b) for a, b in measure.pcap}, measure.snap)
        self._last: dict[tuple[str, str, int], tuple[Any, ...]] = {}
        self._before = {
            (node, towards): link.counters(way) for node, towards, link, way in self._links
        }
        self._counters_before = self._counters()
        self._counters_last = dict(self._counters_before)
        completions(self._simulation)
        self._simulation.keep_notices()
        self._simulation.keep_pauses()

    @property
    def now_ns(self) -> int:
        """Since the traffic began."""
        return self._simulation.now_ns - self._begun

    def sample(self) -> None:
        """Look at everything now."""
        now = self.now_ns
        for node, towards, switch, port in self._queues:
            held = switch.engine.port_counters(port)
            self._add("queues", now, node, towards, held.queue_depth, held.queue_octets)
        for node, towards, link, way in self._links:
            at, before = link.counters(way), self._before[node, towards]
            values = at.put - before.put, at.put_octets - before.put_octets, at.cut - before.cut
            self._add_changed("links", now, (node, towards, 0), (node, towards), values)
        for each in self._connections:
            self._add_changed(
                "rates",
                now,
                (each.host, "", each.number),
                (each.host, each.number),
                each.sender.progress(each.number),
            )
        self._sample_counters(now)
        self.collect()

    def collect(self) -> None:
        """Take what the simulation noted since the last time."""
        for frame in self._simulation.tapped(complete=False):
            self._take_frame(frame)
        for notice in self._simulation.notices():
            self._add(
                "notices",
                notice.time_ns - self._begun,
                notice.host,
                notice.connection,
                notice.what.name.lower(),
                notice.value,
                str(notice.peer),
                int(notice.by_switch and notice.what in _OF_CNPS),
            )

        for pause in self._simulation.pauses():
            if not pause.sent:
                time = pause.time_ns - self._begun
                peer = self._peers[pause.node, pause.port]
                row = (time, pause.node, peer, pause.priority, pause.duration_ns)
                self._add("pauses", *row)

    def count_lost(self) -> None:
        """Say of what was noted how much found no room, if any did not."""
        simulation = self._simulation
        for name, lost in (
            ("FRAMES_LOST", simulation.tapped_lost),
            ("NOTICES_LOST", simulation.notices_lost),
            ("PAUSES_LOST", simulation.pauses_lost),
        ):
            if lost:
                self._add("counters", self.now_ns, "laboratory", "event", name, lost)

    def captures(self) -> dict[str, bytes]:
        """A pcap file of each link of which all frames are kept."""
        return {
            f"{node}-to-{towards}": pcap(
                each for each in self.captured if (each.node, each.towards) == (node, towards)
            )
            for node, towards in sorted(self._pcap)
        }

    def _add(self, table: TableName, *values: object) -> None:
        self._rows[table].append(values)

    def _add_changed(
        self,
        table: TableName,
        now: int,
        key: tuple[str, str, int],
        names: tuple[object, ...],
        values: tuple[Any, ...],
    ) -> None:
        """A row, unless all is as in the one before."""
        if self._last.get(key) != values:
            self._last[key] = values
            self._add(table, now, *names, *values)

    def look(self) -> None:
        """Look at links and paths now, where links are watched."""
        self._add_counters(self.now_ns, self._watch.counters())

    def _sample_counters(self, now: int) -> None:
        self._add_counters(now, self._counters())

    def _add_counters(self, now: int, counted: Mapping[tuple[str, str, str], int]) -> None:
        for key, value in counted.items():
            if value != self._counters_last.get(key, 0):
                self._add("counters", now, *key, value - self._counters_before.get(key, 0))
        self._counters_last |= counted

    def _counters(self) -> dict[tuple[str, str, str], int]:
        """Packets by node, kind and name: what the programs count, and what the engines drop."""
        counted = dict(self._watch.counters())
        for node, switch in self._simulation.switches.items():
            if not switch.is_on:
                continue
            engine = switch.engine
            for full in engine.program.counters:
                alias = full.rpartition(".")[2]
                if alias not in COUNTERS:
                    continue
                kind = "drop" if alias == "drops" else "event"
                for index, name in named_cells(alias).items():
                    counted[node, kind, name] = engine.counter_read(full, index).packets
            for name, value in switch.totals().items():
                if name.endswith("_drops"):
                    counted[node, "drop", name.removesuffix("_drops").upper()] = value
        return counted

    def _tap(self, crossings: set[Pair], pcap: set[Pair], snap: int) -> None:
        self._crossings, self._pcap = crossings, pcap
        self._directions: dict[tuple[int, int], tuple[Pair, Wire, int]] = {}
        turns = _turns(self._built.wiring)
        for node, towards in sorted(crossings | pcap):
            link, way = self._built.link(node, towards)
            wire = self._built.wiring.wire(node, towards)
            assert wire is not None, "it is built"
            turn = turns.get((node, towards), 0)
            self._directions[link.number, way] = (node, towards), wire, turn
            if (node, towards) in pcap:
                link.tap(way, _TAP_OCTETS, snap=min(snap, MAX_FRAME))
            else:
                link.tap(way, _TAP_OCTETS, select=_WATCHED, snap=0)

    def _take_frame(self, frame: TappedFrame) -> None:
        (node, towards), wire, turn = self._directions[frame.link, frame.direction]
        leaving = max(_on_the_wire_ns(frame, wire), turn)
        time = frame.time_ns - self._begun - wire.delay_ns - leaving
        if (node, towards) in self._crossings:
            for kind, what in _KINDS.items():
                if kind in frame.kinds:
                    self._add("crossings", time, node, towards, what)
        if (node, towards) in self._pcap and time >= 0:
            self.captured.append(Captured(time, node, towards, frame.length, frame.data))


def _peers(wiring: Wiring) -> dict[tuple[str, int], str]:
    """Who is at the other end, by node and port."""
    peers = {(wire.a, wire.a_port): wire.b for wire in wiring.wires}
    return peers | {(wire.b, wire.b_port): wire.a for wire in wiring.wires}


def _turns(wiring: Wiring) -> dict[Pair, int]:
    """How long a packet takes at least where the network limits packets per second."""
    if not wiring.scenario.links.packet_rates:
        return {}
    queues = wiring.topology.queues
    return {(queue.node, queue.towards): NS // queue.rate_pps for queue in queues}


def _on_the_wire_ns(frame: TappedFrame, wire: Wire) -> int:
    """How long the frame took from its first bit to its last."""
    bits = (frame.length + ETHERNET_OVERHEAD) * 8
    return round(bits * NS / wire.rate_bps) if wire.rate_bps else 0


def connection_rows(connections: list[Connection]) -> list[tuple[Any, ...]]:
    """The rows of the table of connections, as they are now."""
    rows = []
    for each in connections:
        sent, seen = each.counters(), each.received()
        received: tuple[int, ...] = (0,) * 5
        if seen is not None:
            received = seen.payload, seen.marked, seen.beyond_gap, seen.repeated, seen.cnps
        rows.append(
            (
                each.host, each.number, each.flow.target.name, sent.local_qp, sent.remote_qp,
                sent.state.name.lower(), sent.packets, sent.octets, sent.retransmitted,
                sent.acks, sent.naks, sent.timeouts, sent.cnps, sent.cuts, *received,
            )
        )  # fmt: skip
    return rows
