"""The list of flows, a page at a time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from fcn.controller.config.notation import parse_address
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.service import FlowService
from fcn.controller.node.counters import FlowCounts
from fcn.controller.proto import fcn_pb2 as pb

PAGE = 250
"""Flows that are looked at in one turn of the event loop, and at most in one message: some 10 ms,
and far below gRPC's 4 MiB."""

ItemT = TypeVar("ItemT")


NOTHING = FlowCounts({}, {})

Counted = Callable[[Sequence[Flow]], Awaitable[Mapping[str, FlowCounts]]]
"""What was counted for these flows, by ingress PE."""


async def flow_pages(
    flows: FlowService, request: pb.ListFlowsRequest, counted: Counted | None
) -> AsyncIterator[list[pb.Flow]]:
    """Labelled flows, and on request known flows without a label. After each page, of which a
    filter may leave nothing, others have their turn.

    All pages show one moment, that of the first: flows are immutable, and the references to them
    are copied before anything is waited for. What is learned or ends while pages are sent changes
    none of them, so each flow of that moment is listed once and may have ended when it is read.
    Counts are read with each page; a flow that has ended has none.
    """
    selected = selector(request)
    labelled = list(flows.on_node(request.node).values()) if request.node else flows.all()
    unlabelled = flows.waiting() if request.with_unlabelled and not request.node else []
    for some in _parts(labelled):
        chosen = [flow for flow in some if selected(flow.key, flow.label)]
        counts = await counted(chosen) if counted is not None else {}
        yield [flow_message(flow, counts.get(flow.node, NOTHING)) for flow in chosen]
        await asyncio.sleep(0)
    for others in _parts(unlabelled):
        yield [
            pb.Flow(key=_key_message(key), source_qp=source_qp, origin=origin.value)
            for key, source_qp, origin in others
            if selected(key, None)
        ]
        await asyncio.sleep(0)


def flow_message(flow: Flow, counts: FlowCounts = NOTHING) -> pb.Flow:
    """A labelled flow, with its packets, octets and notifications where they are known."""
    packets, octets = counts.flows.get(flow.key, (None, None))
    return pb.Flow(
        key=_key_message(flow.key),
        node=flow.node,
        label=flow.label,
        source_qp=flow.source_qp,
        p_key=flow.p_key,
        origin=flow.origin.value,
        timeout=flow.timeout,
        since=flow.since,
        packets=packets,
        octets=octets,
        notifications=counts.notifications.get(flow.label),
    )


def _parts(items: Sequence[ItemT]) -> Iterator[Sequence[ItemT]]:
    for first in range(0, len(items), PAGE):
        yield items[first : first + PAGE]


def selector(request: pb.ListFlowsRequest) -> Callable[[FlowKey, int | None], bool]:
    """Whether a flow with this label is asked for. Raises ValueError for what is no address."""
    address = parse_address(request.address) if request.address else None
    label = request.label if request.HasField("label") else None

    def selected(key: FlowKey, has: int | None) -> bool:
        return (
            request.vrf in ("", key.vrf)
            and address in (None, key.src, key.dst)
            and label in (None, has)
        )

    return selected


def _key_message(key: FlowKey) -> pb.FlowKey:
    return pb.FlowKey(vrf=key.vrf, src=str(key.src), dst=str(key.dst), dest_qp=key.dest_qp)
