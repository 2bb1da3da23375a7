"""The flows with the most notifications, and the story of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fcn.controller.northbound.story import story
from fcn.controller.proto import fcn_pb2 as pb
from fcn.page.model import Flows, FlowView

MOST = 100
"""Flows that are shown."""

Key = tuple[str, str, str, int]
"""VRF, source, destination, destination QP."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A flow in a list. notified: notifications since the list before; rate, calm: packets a second
    since then, and in the last list without notifications; None where nobody has looked twice."""

    time: float
    notifications: int
    packets: int
    notified: int = 0
    rate: float | None = None
    calm: float | None = None

    def next(self, time: float, flow: pb.Flow) -> "_Seen":
        """The same flow in the next list."""
        notified = flow.notifications - min(self.notifications, flow.notifications)
        if time <= self.time or flow.packets < self.packets:
            return _Seen(time, flow.notifications, flow.packets, notified)
        rate = (flow.packets - self.packets) / (time - self.time)
        calm = self.calm if notified else rate
        return _Seen(time, flow.notifications, flow.packets, notified, rate, calm)

    def sentences(self) -> Iterator[str]:
        """What the sender does."""
        if self.rate is not None:
            yield f"It sends {self.rate:,.0f} packets a second."
        if self.notified and self.calm:
            yield f"Before notifications came it sent {self.calm:,.0f} packets a second."


class FlowLists:
    """Makes lists of what the API answers, each with what came since the list before."""

    def __init__(self) -> None:
        self._last: dict[Key, _Seen] = {}

    def see(
        self, time: float, flows: Sequence[pb.Flow], counts: Mapping[str, Mapping[str, int]]
    ) -> Flows:
        """The list of a time, in seconds since the epoch; counts: packets by PE and cell."""
        seen = {}
        for flow in flows:
            # A flow that is new was notified since the list before, but not before the first list.
            before = 0 if self._last else flow.notifications
            last = self._last.get(_key(flow), _Seen(time, before, flow.packets))
            seen[_key(flow)] = last.next(time, flow)
        self._last = seen
        shown = sorted(
            flows, key=lambda flow: (seen[_key(flow)].notified, flow.notifications), reverse=True
        )
        rows = (_row(flow, seen[_key(flow)], counts.get(flow.node, {})) for flow in shown[:MOST])
        return Flows(time, len(flows), tuple(rows))


def _key(flow: pb.Flow) -> Key:
    return flow.key.vrf, flow.key.src, flow.key.dst, flow.key.dest_qp


def _row(flow: pb.Flow, seen: _Seen, counts: Mapping[str, int]) -> FlowView:
    return FlowView(
        *_key(flow),
        label=f"{flow.label:#x}" if flow.HasField("label") else "",
        node=flow.node,
        source_qp=f"{flow.source_qp:#x}" if flow.HasField("source_qp") else "",
        notifications=flow.notifications,
        notified=seen.notified,
        packets=flow.packets,
        story=(*story(flow, counts), *seen.sentences()),
    )
