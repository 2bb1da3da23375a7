"""Frames and lists of flows as rows of tables: what a terminal shows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from fcn.page.model import CENTRE, Flows, Frame, Load, Picture

Value = str | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column; most: whether its largest are first."""

    title: str
    most: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """key: the same for the same thing in every frame. values: what rows are sorted by; texts: what
    is shown. details: more sentences. warns: whether something is wrong."""

    key: str
    values: tuple[Value, ...]
    texts: tuple[str, ...]
    details: tuple[str, ...] = ()
    warns: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table and the column that it is sorted by at first. empty: why it has no rows."""

    title: str
    columns: tuple[Column, ...]
    sort: int = 0
    rows: tuple[Row, ...] = field(default=())
    empty: str = ""


NODES = Table(
    "Nodes",
    (
        Column("node"), Column("state"), Column("flows", True), Column("sent/s", True),
        Column("received/s", True), Column("marked/s", True), Column("suppressed/s", True),
        Column("drops/s", True), Column("features"),
    ),
)  # fmt: skip
LINKS = Table(
    "Ports",
    (
        Column("from"), Column("to"), Column("state"), Column("load", True), Column("used", True),
        Column("queue", True), Column("level", True),
    ),
    sort=3,
)  # fmt: skip
FLOWS = Table(
    "Flows",
    (
        Column("notified", True), Column("notifications", True), Column("packets", True),
        Column("VRF"), Column("source"), Column("destination"), Column("dest QP"),
        Column("source QP"), Column("label"), Column("PE"),
    ),
)  # fmt: skip
PATHS = Table(
    "Paths",
    (
        Column("PE"), Column("policy"), Column("to"), Column("path"), Column("state"),
        Column("packets/s", True), Column("said by"), Column("route"),
    ),
)  # fmt: skip
EVENTS = Table("Events", (Column("time", True), Column("kind"), Column("node"), Column("event")))


def nodes(frame: Frame) -> Iterator[Row]:
    """A row a node; amounts are those since the frame before, which is a second."""
    for node in frame.nodes:
        amounts = [
            sum(node.sent.values()), sum(node.received.values()), node.marked,
            sum(node.suppressed.values()), sum(node.drops.values()),
        ]  # fmt: skip
        features = " ".join(node.features)
        yield Row(
            node.name,
            (node.name, node.state, node.flows, *amounts, features),
            (node.name, node.state, str(node.flows), *map(_count, amounts), features),
            tuple(_node_details(node.detail, {
                "sent": node.sent, "received": node.received,
                "suppressed": node.suppressed, "dropped": node.drops,
            })),
            node.state != "up",
        )  # fmt: skip


def _node_details(detail: str, amounts: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    if detail:
        yield detail
    for what, counts in amounts.items():
        for name, count in sorted(counts.items()):
            yield f"{what} in the last second: {count} {name}"


def links(frame: Frame, picture: Picture) -> Iterator[Row]:
    """A row a direction of each link."""
    why = {node.name: node.no_queues for node in frame.nodes if node.no_queues}
    for line, view in zip(picture.lines, frame.lines, strict=False):
        for near, far in ((0, 1), (1, 0)):
            ends = [_end(line.ends[end], line.ports[end]) for end in (near, far)]
            load, queue = view.loads[near], view.queues[near]
            amounts = (None, None) if queue is None else (queue.packets, queue.level)
            shown = tuple("—" if each is None else str(each) for each in amounts)
            texts = (*ends, view.state, *_load(load), *shown)
            untold = why.get(line.ends[near], "")
            yield Row(
                " ".join(ends),
                (*ends, view.state, load.bps, load.utilization, *amounts),
                texts,
                (f"Nobody knows what waits here: {untold}.",) if untold else (),
                warns=view.state == "down",
            )


def _end(place: str, port: int | None) -> str:
    if place.endswith(CENTRE):
        return f"hosts of {place.removesuffix(CENTRE)}"
    return place if port is None else f"{place}:{port}"


def _load(load: Load) -> tuple[str, str]:
    used = "" if load.utilization is None else f"{load.utilization:.0%}"
    return "" if load.bps is None else rate(load.bps), used


def rate(bps: float) -> str:
    """Bits per second, in three digits."""
    for unit in ("b/s", "kb/s", "Mb/s", "Gb/s"):
        if bps < 999.5:
            return f"{bps:.3g} {unit}"
        bps /= 1000
    return f"{bps:.3g} Tb/s"


def flows(listed: Flows) -> Iterator[Row]:
    """A row a flow; its details are its story."""
    for flow in listed.rows:
        key = f"{flow.vrf}, {flow.source} to {flow.destination}, {flow.dest_qp:#x}, {flow.node}"
        values = (
            flow.notified, flow.notifications, flow.packets, flow.vrf, flow.source,
            flow.destination, flow.dest_qp, flow.source_qp, flow.label, flow.node,
        )  # fmt: skip
        texts = (
            _count(flow.notified), str(flow.notifications), str(flow.packets), flow.vrf,
            flow.source, flow.destination, f"{flow.dest_qp:#x}", flow.source_qp, flow.label,
            flow.node,
        )  # fmt: skip
        yield Row(key, values, texts, flow.story)


def paths(frame: Frame) -> Iterator[Row]:
    """A row a path of a policy."""
    for path in frame.paths:
        name = f"{path.name} (backup)" if path.backup else path.name
        route = " - ".join(path.route)
        fixed = (path.node, path.policy, path.to, name, path.state)
        yield Row(
            f"{path.node} {path.policy} {path.name}",
            (*fixed, path.packets_per_s, path.source, route),
            (*fixed, f"{path.packets_per_s:.0f}", path.source, route),
            ("It carries what another path of its policy cannot.",) if path.takes_over else (),
            path.state in ("failed", "congested"),
        )


def events(frame: Frame, first: int) -> Iterator[Row]:
    """A row an event, the newest of a frame last; first: the number of the first one."""
    for number, event in enumerate(frame.events, first):
        time = datetime.fromtimestamp(event.time).strftime("%H:%M:%S")
        yield Row(
            f"{event.kind} {number}",
            (event.time, event.kind, event.node, event.message),
            (time, event.kind, event.node, event.message),
            warns=event.warns,
        )


def ordered(rows: Sequence[Row], column: int, *, descending: bool, wanted: str) -> list[Row]:
    """Those with this text, in the order of a column; what is not known is last."""
    words = wanted.casefold().split()
    shown = [row for row in rows if all(word in " ".join(row.texts).casefold() for word in words)]
    known = [row for row in shown if row.values[column] not in (None, "")]
    known.sort(key=lambda row: _order(row.values[column]), reverse=descending)
    return known + [row for row in shown if row.values[column] in (None, "")]


def _order(value: Value) -> tuple[float, str]:
    return (0.0, value.casefold()) if isinstance(value, str) else (float(value or 0), "")


def _count(amount: int) -> str:
    return str(amount) if amount else ""
