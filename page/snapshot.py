"""Makes frames of what the controller's API answers; the difference between two looks is here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from fcn.contract.hops import shortest
from fcn.contract.names import PORT_COUNTERS
from fcn.controller.events import WARNINGS
from fcn.controller.northbound.story import why_no_flows
from fcn.controller.proto import fcn_pb2 as pb
from fcn.page.layout import neighbours
from fcn.page.model import (
    EventView,
    Frame,
    Kind,
    LineView,
    Load,
    NodeView,
    PathView,
    Picture,
    Queue,
)
from fcn.page.picture import picture_of
from fcn.page.travels import Travels

MOST_EVENTS = 50
"""Events of one frame that are shown: the newest."""

_, SENT = PORT_COUNTERS

SUPPRESSED = ("flow_interval_suppressed", "node_rate_suppressed")

Cell = tuple[str, str]
"""Counter, and name of the cell."""

Count = tuple[int, int]
"""Packets, octets."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What the API said at a time, in seconds since the epoch; events since the last time."""

    time: float
    status: pb.GetStatusResponse
    counters: pb.GetCountersResponse
    links: Sequence[pb.Link]
    policies: Sequence[pb.Policy]
    queues: pb.ListQueuesResponse
    events: Sequence[pb.Event]


@dataclass(frozen=True, slots=True)
class _Look:
    """Counters of a node, read at a time of the controller's clock; grown: since the look before,
    which was `seconds` ago, 0 where there was none."""

    read: float
    cells: Mapping[Cell, Count]
    grown: Mapping[Cell, Count] = field(default_factory=dict)
    seconds: float = 0.0


class Snapshots:
    """Frames of one network. The answers must come in order."""

    def __init__(self, network: pb.GetNetworkResponse) -> None:
        self.picture: Picture = picture_of(network)
        self._rates = {
            (node.name, port.number): port.rate
            for node in network.nodes
            for port in node.ports
            if port.HasField("rate")
        }
        self._dc_ports = {
            node.name: sorted({port.number for port in node.ports if port.role == "dc"})
            for node in network.nodes
        }
        names = [place.name for place in self.picture.places]
        edges = [line.ends for line in self.picture.lines]
        self._near = neighbours(names, edges)
        self._travels = Travels(names, edges)
        self._looks: dict[str, _Look] = {}

    def frame(self, answers: Answers) -> Frame:
        """The network at the time of the answers."""
        fresh = self._look(answers.counters)
        nodes = tuple(
            self._node(status, fresh, answers.queues.untold.get(status.name, ""))
            for status in answers.status.nodes
            # Another network may have been put in force since the picture.
            if status.name in self._near
        )
        return Frame(
            answers.time,
            no_flows=why_no_flows(answers.status),
            notification=answers.status.notification,
            nodes=nodes,
            lines=tuple(self._lines(answers.links, answers.queues.queues)),
            paths=tuple(chain.from_iterable(map(self._paths, answers.policies))),
            travels=self._travels.see(nodes),
            events=tuple(map(_event, answers.events[-MOST_EVENTS:])),
        )

    def _look(self, counters: pb.GetCountersResponse) -> set[str]:
        """Take in counters; returns the nodes that were read anew."""
        cells: dict[str, dict[Cell, Count]] = {name: {} for name in counters.read}
        for each in counters.counters:
            cells[each.node][each.counter, each.name] = (each.packets, each.octets)
        last, self._looks = self._looks, {}
        for name, read in counters.read.items():
            before = last.get(name)
            if before is not None and before.read == read:
                self._looks[name] = before
                continue
            look = _Look(read, cells[name])
            if before is not None and not _started_anew(before.cells, look.cells):
                grown = dict(_growth(before.cells, look.cells))
                look = replace(look, grown=grown, seconds=read - before.read)
            self._looks[name] = look
        return {name for name in self._looks if self._looks[name] is not last.get(name)}

    def _node(self, status: pb.NodeStatus, fresh: set[str], no_queues: str) -> NodeView:
        grown = self._looks[status.name].grown if status.name in fresh else {}
        amounts = {cell: packets for cell, (packets, _) in grown.items()}

        def of(counter: str, ending: str = "") -> dict[str, int]:
            return {
                name.removesuffix(ending): count
                for (each, name), count in amounts.items()
                if each == counter
            }

        def kinds(counter: str, ending: str) -> dict[str, int]:
            return {kind: n for kind, n in of(counter, ending).items() if kind in set(Kind)}

        return NodeView(
            status.name,
            status.state,
            status.detail,
            tuple(status.features),
            status.flows,
            sent=kinds("notifications_sent", "_SENT"),
            received=kinds("notifications_received", "_RECEIVED"),
            marked=amounts.get(("ecn_marked", "CE_MARKED"), 0),
            suppressed={name: n for each in SUPPRESSED for name, n in of(each).items()},
            drops=of("drops"),
            no_queues=no_queues,
        )

    def _lines(
        self, links: Sequence[pb.Link], waiting: Sequence[pb.PortQueue]
    ) -> Iterator[LineView]:
        queues = {
            (each.node, each.port): Queue(each.packets, each.level, each.full) for each in waiting
        }
        states = {(link.node, link.port): link.state for link in links}
        for line in self.picture.lines:
            (near, far), (port, far_port) = line.ends, line.ports
            if port is None or far_port is None:
                ports = ((near, each) for each in self._dc_ports[near])
                # Of all hosts behind a PE that which most waits for.
                longest = max(
                    (queues[each] for each in ports if each in queues),
                    key=lambda queue: queue.packets,
                    default=None,
                )
                yield LineView((self._hosts(near), Load()), "unwatched", (longest, None))
                continue
            ends = (near, port), (far, far_port)
            seen = {states.get(end, "unwatched") for end in ends}
            state = next(each for each in ("down", "up", "unknown", "unwatched") if each in seen)
            yield LineView(
                (self._load(*ends[0]), self._load(*ends[1])),
                state,
                (queues.get(ends[0]), queues.get(ends[1])),
            )

    def _bps(self, node: str, port: int) -> float | None:
        look = self._looks.get(node)
        if look is None or look.seconds <= 0:
            return None
        return look.grown.get((SENT, f"port {port}"), (0, 0))[1] * 8 / look.seconds

    def _load(self, node: str, port: int) -> Load:
        bps, rate = self._bps(node, port), self._rates.get((node, port))
        return Load(bps, None if bps is None or rate is None else bps / rate)

    def _hosts(self, node: str) -> Load:
        """To all hosts behind a PE; there is no rate of them all."""
        amounts = [self._bps(node, port) for port in self._dc_ports[node]]
        known = [amount for amount in amounts if amount is not None]
        return Load(sum(known) if known else None)

    def _paths(self, policy: pb.Policy) -> Iterator[PathView]:
        avoided = any(path.state in ("failed", "congested") for path in policy.paths)
        for path in policy.paths:
            well = path.state not in ("failed", "congested")
            yield PathView(
                policy.node,
                policy.name,
                policy.to,
                path.tunnel,
                path.backup,
                path.state,
                path.source,
                path.rate,
                self._route((policy.node, *path.via, policy.to)),
                takes_over=avoided and well and path.rate > 0,
            )

    def _route(self, visited: Sequence[str]) -> tuple[str, ...]:
        """Nodes by which a path may go, where the file's links lead there."""
        route: list[str] = [visited[0]]
        for end in visited[1:]:
            route += shortest(route[-1], end, self._near)[1:] if end in self._near else ()
        return tuple(route)


def _started_anew(before: Mapping[Cell, Count], now: Mapping[Cell, Count]) -> bool:
    return any(now.get(cell, (0, 0)) < count for cell, count in before.items())


def _growth(
    before: Mapping[Cell, Count], now: Mapping[Cell, Count]
) -> Iterator[tuple[Cell, Count]]:
    for cell, (packets, octets) in now.items():
        last_packets, last_octets = before.get(cell, (0, 0))
        if packets > last_packets:
            yield cell, (packets - last_packets, octets - last_octets)


def _event(event: pb.Event) -> EventView:
    return EventView(event.time, event.kind, event.node, event.message, event.kind in WARNINGS)
