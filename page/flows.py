"""The flows with the most notifications, and the story of each."""

from collections.abc import Mapping, Sequence

from fcn.controller.northbound.story import story
from fcn.controller.proto import fcn_pb2 as pb
from fcn.page.model import Flows, FlowView

MOST = 100
"""Flows that are shown."""

Key = tuple[str, str, str, int]
"""VRF, source, destination, destination QP."""


class FlowLists:
    """Makes lists of what the API answers, each with what came since the list before."""

    def __init__(self) -> None:
        self._last: dict[Key, int] = {}

    def see(
        self, time: float, flows: Sequence[pb.Flow], counts: Mapping[str, Mapping[str, int]]
    ) -> Flows:
        """The list of a time, in seconds since the epoch; counts: packets by PE and cell."""
        grown = {
            _key(flow): flow.notifications - min(self._last.get(_key(flow), 0), flow.notifications)
            for flow in flows
        }
        if not self._last:
            grown = dict.fromkeys(grown, 0)
        self._last = {_key(flow): flow.notifications for flow in flows}
        shown = sorted(
            flows, key=lambda flow: (grown[_key(flow)], flow.notifications), reverse=True
        )
        rows = (_row(flow, grown[_key(flow)], counts.get(flow.node, {})) for flow in shown[:MOST])
        return Flows(time, len(flows), tuple(rows))


def _key(flow: pb.Flow) -> Key:
    return flow.key.vrf, flow.key.src, flow.key.dst, flow.key.dest_qp


def _row(flow: pb.Flow, notified: int, counts: Mapping[str, int]) -> FlowView:
    return FlowView(
        *_key(flow),
        label=f"{flow.label:#x}" if flow.HasField("label") else "",
        node=flow.node,
        source_qp=f"{flow.source_qp:#x}" if flow.HasField("source_qp") else "",
        notifications=flow.notifications,
        notified=notified,
        packets=flow.packets,
        story=tuple(story(flow, counts)),
    )
