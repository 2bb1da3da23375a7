"""Results as the live page shows them: a picture, and frames of their virtual time."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from fcn.contract.hops import shortest
from fcn.lab.report.replay_rows import CROSSED, Rows, Run, Whole
from fcn.lab.result.model import About, QueueInfo
from fcn.lab.result.tables import LINK_DOWN, LINK_UP
from fcn.page.layout import layout, neighbours
from fcn.page.model import (
    EventView,
    Frame,
    Kind,
    Line,
    LineView,
    Load,
    NodeView,
    Picture,
    Place,
    Queue,
    Travel,
)
from fcn.page.travels import Travels

NS = 1e9

Pair = tuple[str, str]


def picture_of(about: About, stories: bool = True) -> Picture:
    """Switches and hosts with all links. stories: whether frames can be asked for theirs."""
    network = about.network
    roles = {node.name: "pe" if node.role == "pe" else "p" for node in network.nodes}
    roles |= {host.name: "dc" for host in network.hosts}
    lines = tuple(Line((link.a, link.b), (None, None)) for link in network.links)
    points, height = layout(list(roles), [line.ends for line in lines])
    places = tuple(
        Place(name, role, *points[name], name if role == "dc" else "")
        for name, role in roles.items()
    )
    return Picture(places, lines, height, virtual=True, stories=stories)


def frames_of(run: Run) -> Iterator[Frame]:
    """One of each moment; all are of the same time."""
    about = run.about
    links = _LinkFrames(run)
    nodes = _NodeFrames(run)
    travels = _TravelFrames(run)
    for at, (begin, end) in enumerate(pairwise(run.ends)):
        views = tuple(nodes.of(at))
        yield Frame(
            float(end) / NS,
            notification=about.mode,
            nodes=views,
            lines=tuple(links.of(at)),
            travels=tuple(travels.of(at, views)),
            events=tuple(
                EventView(each.time_ns / NS, "scenario", "", each.text, warns=False)
                for each in about.events
                if begin < each.time_ns <= end or (at == 0 and each.time_ns == 0)
            ),
        )


def _last(rows: Rows, column: str, ends: Whole) -> Whole:
    """A value that stays until the next row, at the end of each frame; 0 before the first."""
    rows = rows.sort_values("time_ns", kind="stable")
    found = np.searchsorted(rows["time_ns"].to_numpy(), ends, side="right")
    return np.concatenate(([0], rows[column].to_numpy(np.int64)))[found]


def _by(rows: Rows, *columns: str) -> dict[Any, Rows]:
    """The rows that have the same values there, by these."""
    return dict(iter(rows.groupby(list(columns), sort=False, observed=True)))


class _LinkFrames:
    """Links: what is sent, what waits, and whether they are up."""

    def __init__(self, run: Run) -> None:
        network, ends = run.about.network, run.ends
        self._links = network.links
        self._seconds = np.diff(ends) / NS
        sent = _by(run.links, "node", "towards")
        self._sent = {pair: np.diff(_last(rows, "octets", ends)) for pair, rows in sent.items()}
        limits = {(each.node, each.towards): each for each in network.queues}
        self._queues = {
            pair: list(map(partial(_queue, limits.get(pair)), _highest(rows, ends)))
            for pair, rows in _by(run.queues, "node", "towards").items()
        }
        changes = _by(run.counters, "kind", "node", "name")
        self._changes = {
            key: _last(rows, "value", ends)[1:]
            for key, rows in changes.items()
            if key[0] in (LINK_UP, LINK_DOWN)
        }

    def of(self, at: int) -> Iterator[LineView]:
        for link in self._links:
            pairs = (link.a, link.b), (link.b, link.a)
            near, far = (self._load(pair, link.rate_bps, at) for pair in pairs)
            first, second = (
                self._queues[pair][at] if pair in self._queues else None for pair in pairs
            )
            state = "down" if any(self._is_down(*pair, at) for pair in pairs) else "unwatched"
            yield LineView((near, far), state, (first, second))

    def _load(self, pair: Pair, rate: int, at: int) -> Load:
        if pair not in self._sent or not self._seconds[at]:
            return Load()
        bps = float(self._sent[pair][at]) * 8 / self._seconds[at]
        return Load(bps, bps / rate if rate else None)

    def _is_down(self, node: str, towards: str, at: int) -> bool:
        downs = self._changes.get((LINK_DOWN, node, towards))
        ups = self._changes.get((LINK_UP, node, towards))
        return downs is not None and int(downs[at]) > 0 and (ups is None or downs[at] >= ups[at])


def _highest(rows: Rows, ends: Whole) -> list[int]:
    """The deepest sample of each frame; without one the sample before."""
    kept = _last(rows, "packets", ends)[1:].copy()
    highest = rows.groupby(rows["moment"].clip(0))["packets"].max()
    kept[highest.index.to_numpy()] = highest.to_numpy()
    return [int(packets) for packets in kept]


def _queue(limits: QueueInfo | None, packets: int) -> Queue:
    thresholds = limits.thresholds if limits is not None else ()
    level = sum(packets >= each for each in thresholds)
    top = thresholds[-1] if thresholds else (limits.packets if limits is not None else None) or 0
    return Queue(packets, level, min(1.0, packets / top) if top else 0.0)


class _NodeFrames:
    """What switches counted."""

    def __init__(self, run: Run) -> None:
        self._nodes = run.about.network.nodes
        self._grown: dict[str, dict[Pair, Whole]] = {node.name: {} for node in self._nodes}
        for (node, kind, name), rows in _by(run.counters, "node", "kind", "name").items():
            if kind in ("event", "drop") and node in self._grown:
                self._grown[node][kind, name] = np.diff(_last(rows, "value", run.ends))

    def of(self, at: int) -> Iterator[NodeView]:
        for node in self._nodes:
            grown = {key: int(values[at]) for key, values in self._grown[node.name].items()}
            events = {name: n for (kind, name), n in grown.items() if n and kind == "event"}
            yield NodeView(
                node.name,
                "up",
                "",
                (),
                0,
                sent=_kinds(events, "_SENT"),
                received=_kinds(events, "_RECEIVED"),
                marked=events.get("CE_MARKED", 0),
                suppressed={name: n for name, n in events.items() if name.endswith("_SUPPRESSED")},
                drops={name: n for (kind, name), n in grown.items() if n and kind == "drop"},
            )


def _kinds(events: Mapping[str, int], ending: str) -> dict[str, int]:
    return {kind: events[kind + ending] for kind in Kind if kind + ending in events}


class _TravelFrames:
    """Which way messages went: link by link where that was noted, else by counters of both ends."""

    def __init__(self, run: Run) -> None:
        network = run.about.network
        names = [node.name for node in network.nodes]
        near = neighbours(
            [*names, *(host.name for host in network.hosts)],
            [(link.a, link.b) for link in network.links],
        )
        self._noted = {Kind.CNP, Kind.PAUSE}
        if run.noted:
            self._noted |= set(CROSSED.values())
        inner = [(link.a, link.b) for link in network.links if {link.a, link.b} <= set(names)]
        self._others = Travels(names, inner)
        self._frames: dict[int, list[Travel]] = {}
        ways = {
            host.name: shortest(host.pe, host.name, near) or (host.name,) for host in network.hosts
        }
        for row in run.crossings.to_dict("records"):
            way = row["node"], row["towards"]
            self._add(row, Travel(CROSSED[row["what"]], way, row["count"], row["frame"]))
        for row in run.cnps.to_dict("records"):
            self._add(row, Travel(Kind.CNP, ways[row["host"]], row["count"]))
        for row in run.pauses.to_dict("records"):
            self._add(row, Travel(Kind.PAUSE, (row["towards"], row["node"]), row["count"]))

    def _add(self, row: Mapping[Any, Any], travel: Travel) -> None:
        self._frames.setdefault(max(0, row["moment"]), []).append(travel)

    def of(self, at: int, nodes: tuple[NodeView, ...]) -> Iterator[Travel]:
        yield from self._frames.get(at, ())
        for travel in self._others.see(nodes):
            if travel.kind not in self._noted:
                yield travel
