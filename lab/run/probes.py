"""What is measured of a run, as rows of the tables of a result (`fcn.lab.result.tables`).

Times are nanoseconds since the traffic began. What is cumulative counts from then, too.
"""

from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fcn.lab.depths import depths, measure_depth
from fcn.lab.frames import FrameKind, TappedFrame, parse_tapped
from fcn.lab.hosts import MAX_FRAME
from fcn.lab.notices import keep_notices, notices, notices_lost, take_notices
from fcn.lab.result.capture import Captured, pcap
from fcn.lab.result.tables import TableName, conform, frame
from fcn.lab.roce import completions
from fcn.lab.run.build import Built
from fcn.lab.run.connections import Connection
from fcn.lab.run.crossings import Crossings, Pair, headers_of
from fcn.lab.run.sampler import Sampler
from fcn.lab.scenario.wiring import Wiring
from fcn.lab.tcp import TcpFlow

_TAP_OCTETS = 1 << 26
_WATCHED = FrameKind.MARKED | FrameKind.NOTIFICATION


class Probes:
    """Measures a network that was built, from now on."""

    def __init__(self, built: Built, sampler: Sampler) -> None:
        measure = built.wiring.scenario.measure
        core = built.wiring.core_directions
        self.captured: list[Captured] = []
        self._built = built
        self._simulation = built.simulation
        self._notices: list[NDArray[np.void]] = []
        self._pauses: list[tuple[object, ...]] = []
        self._sampler = sampler
        self._begun = self._simulation.now_ns
        self._peers = _peers(built.wiring)
        crossings = core if measure.crossings is None else measure.crossings
        self._tap({(a, b) for a, b in crossings}, {(a, b) for a, b in measure.pcap}, measure.snap)
        completions(self._simulation)
        keep_notices(self._simulation)
        self._simulation.keep_pauses()
        for node, towards in sampler.queues:
            measure_depth(self._simulation, *built.port(node, towards))

    def collect(self) -> None:
        """Write what was sampled, and take what the simulation noted since the last time."""
        self._sampler.flush()
        self.take()

    def take(self) -> None:
        """Take what the simulation noted since the last time: it has room for some of it. Samples
        are written when they are many."""
        data = self._simulation.native.take_tapped()
        if self._pcap:
            self._capture(parse_tapped(data))
        elif data:
            self._crossings.take(headers_of(data))
        if len(noted := take_notices(self._simulation)):
            self._notices.append(noted)
        for pause in self._simulation.pauses():
            if not pause.sent:
                peer = self._peers[pause.node, pause.port]
                time = pause.time_ns - self._begun
                self._pauses.append((time, pause.node, peer, pause.priority, pause.duration_ns))

    def count_lost(self) -> None:
        """Say of what was noted how much found no room, if any did not."""
        simulation = self._simulation
        for name, lost in (
            ("FRAMES_LOST", simulation.tapped_lost),
            ("NOTICES_LOST", notices_lost(simulation)),
            ("PAUSES_LOST", simulation.pauses_lost),
        ):
            if lost:
                self._sampler.count(name, lost)

    def captures(self) -> dict[str, bytes]:
        """A pcap file of each link of which all frames are kept."""
        return {
            f"{node}-to-{towards}": pcap(
                each for each in self.captured if (each.node, each.towards) == (node, towards)
            )
            for node, towards in sorted(self._pcap)
        }

    def _tap(self, crossings: set[Pair], pcap: set[Pair], snap: int) -> None:
        self._pcap = pcap
        self._crossings = Crossings(self._built, crossings, self._begun)
        for node, towards in sorted(crossings | pcap):
            link, way = self._built.link(node, towards)
            if (node, towards) in pcap:
                link.tap(way, _TAP_OCTETS, snap=min(snap, MAX_FRAME))
            else:
                link.tap(way, _TAP_OCTETS, select=_WATCHED, snap=0)

    def tables(self) -> Iterator[tuple[TableName, pd.DataFrame]]:
        noted = notices(self._simulation, self._notices)
        noted["time_ns"] -= self._begun
        yield "notices", conform("notices", noted)
        yield "pauses", frame("pauses", self._pauses)
        yield "crossings", self._crossings.table()
        of_queues = (
            (node, towards, *astuple(depths(self._simulation, *self._built.port(node, towards))))
            for node, towards in self._sampler.queues
        )
        yield "depths", frame("depths", of_queues)
        yield from self._sampler.tables()

    def _capture(self, frames: list[TappedFrame]) -> None:
        times = self._crossings.take(headers_of(b"".join(each.header for each in frames)))
        for each, time in zip(frames, times.tolist(), strict=True):
            ends = self._simulation.links[each.link].ends
            node, towards = ends[each.direction].node.name, ends[1 - each.direction].node.name
            if (node, towards) in self._pcap and time >= 0:
                self.captured.append(Captured(time, node, towards, each.length, each.data))


def _peers(wiring: Wiring) -> dict[tuple[str, int], str]:
    """Who is at the other end, by node and port."""
    peers = {(wire.a, wire.a_port): wire.b for wire in wiring.wires}
    return peers | {(wire.b, wire.b_port): wire.a for wire in wiring.wires}


def tcp_rows(flows: list[TcpFlow], begun_ns: int) -> list[tuple[Any, ...]]:
    """The rows of the table of TCP connections, as they are now."""
    rows = []
    for number, flow in enumerate(flows):
        now = flow.counters()
        rows.append(
            (
                flow.sender.host.name, number, flow.receiver.host.name,
                now.acknowledged * flow.mss, now.sent, now.resent, now.marked, now.cuts,
                now.timeouts, now.completed - begun_ns if now.completed else None,
            )
        )  # fmt: skip
    return rows


def connection_rows(connections: list[Connection]) -> list[tuple[Any, ...]]:
    """The rows of the table of connections, as they are now."""
    rows = []
    for each in connections:
        sent = each.counters()
        seen = each.received(sent)
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
