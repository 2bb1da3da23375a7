"""Labelled flows by PE; keeps the PEs' tables and the label pool consistent."""

import sys
from collections import defaultdict
from collections.abc import Callable, Mapping

from fcn.controller.flows.flow import Edge, Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.labels import LABEL_COUNT, LabelPool, LabelsExhaustedError
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.shares import Host, NoRoomError, Shares, host_of

MOST_LABELS = LABEL_COUNT * 3 // 4
"""Labels in use at most: the others are for quarantine, so that a label can change hands."""


class NoLabelError(Exception):
    """A flow cannot have a label; `why` makes the message, when somebody asks for it."""

    def __init__(self, why: Callable[[], str]) -> None:
        super().__init__()
        self.why = why

    def __str__(self) -> str:
        return self.why()


class LabelledFlows:
    """Flows with a label, by ingress PE; `edges` are all PEs.

    A PE's tables, and `most` labels of the network, are shared fairly between hosts; what a person
    registered is not displaced.
    """

    def __init__(
        self, edges: Mapping[str, Edge], labels: LabelPool, most: int = MOST_LABELS
    ) -> None:
        self._edges = edges
        self._labels = labels
        self._most = most
        self._holders: Shares[tuple[str, FlowKey]] = Shares()
        """Flows by PE that hold a label, but for those a person registered."""
        self._flows: dict[str, dict[FlowKey, Flow]] = {name: {} for name in edges}
        self._places: dict[FlowKey, tuple[str, ...]] = {}
        """The PEs of each flow, in their order."""
        self._at = {name: (name,) for name in edges}
        """One object for all flows of a PE."""
        self._count: dict[tuple[str, int], int] = {}
        self._shares: defaultdict[tuple[str, int], Shares[FlowKey]] = defaultdict(Shares)

    def all(self) -> list[Flow]:
        """Every labelled flow."""
        return [flow for flows in self._flows.values() for flow in flows.values()]

    def on_node(self, node: str) -> Mapping[FlowKey, Flow]:
        """Labelled flows of a node; a P node has none."""
        return self._flows.get(node, {})

    def of_host(self, host: Host) -> list[Flow]:
        """Flows that a host sends, on every PE, but for those a person registered."""
        return [
            self._flows[node][key]
            for (node, version), shares in self._shares.items()
            if version == host.address.version
            for key in shares.of(host)
        ]

    def get(self, node: str, key: FlowKey) -> Flow | None:
        """The flow on this PE, if it has a label there."""
        return self._flows[node].get(key)

    def of(self, key: FlowKey) -> list[Flow]:
        """The flow on every PE where it has a label."""
        return [self._flows[node][key] for node in self._places.get(key, ())]

    def allocate(self, node: str, key: FlowKey) -> tuple[int, list[Flow]]:
        """A label for a new flow of a PE, and the flows that must give way.

        The caller removes these before it adds the new one. Raises NoLabelError.
        """
        table = (node, key.src.version)
        capacity = self._edges[node].capacity(key.src.version)
        shares = self._shares[table]
        pinned = self._count.get(table, 0) - len(shares)
        host = host_of(key.vrf, key.src)
        try:
            self._labels.check(key.vrf)
            here = shares.loser(host, capacity - pinned)
        except LabelsExhaustedError as error:
            raise NoLabelError(error.__str__) from None
        except NoRoomError:
            raise NoLabelError(
                lambda: (
                    f"{node} holds {capacity} flows already, and no host has more than {key.src}"
                )
            ) from None
        losers = [] if here is None else [(node, here)]
        try:
            # A flow that gives way in the table leaves its label, too.
            elsewhere = None if losers else self._holders.loser(host, self._room())
        except NoRoomError:
            raise NoLabelError(
                lambda: f"{self._most} labels are in use, and no host has more than {key.src}"
            ) from None
        if elsewhere is not None:
            losers.append(elsewhere)
        for name, other in losers:
            self._holders.remove((name, other))
            self._shares[name, other.src.version].remove(other)
        shares.add(host, key, sys.maxsize)
        self._holders.add(host, (node, key), sys.maxsize)
        return self._labels.take(), [self._flows[name][other] for name, other in losers]

    def _room(self) -> int:
        """Labels for flows that nobody registered."""
        return self._most - (len(self._labels) - len(self._holders))

    def add(self, flow: Flow) -> None:
        """Install a flow that was not labelled on its PE before."""
        table = (flow.node, flow.key.src.version)
        self._flows[flow.node][flow.key] = flow
        others = self._places.get(flow.key)
        alone = self._at[flow.node]
        self._places[flow.key] = alone if others is None else self._in_order({*others, *alone})
        self._count[table] = self._count.get(table, 0) + 1
        shares = self._shares[table]
        if flow.key not in shares:
            # Read back from a switch, which has room for it.
            host = host_of(flow.key.vrf, flow.key.src)
            shares.add(host, flow.key, sys.maxsize)
            self._holders.add(host, (flow.node, flow.key), sys.maxsize)
        self._install(flow)

    def update(self, flow: Flow) -> None:
        """Replace a flow's attributes; its label does not change."""
        self._flows[flow.node][flow.key] = flow
        self._install(flow)

    def remove(self, flow: Flow, heir: str | None = None) -> None:
        """Remove a flow and release its label; `heir`: the VRF of the flow that gets its place."""
        table = (flow.node, flow.key.src.version)
        del self._flows[flow.node][flow.key]
        others = self._places.pop(flow.key)
        if len(others) > 1:
            self._places[flow.key] = self._in_order({*others} - {flow.node})
        self._count[table] -= 1
        self._shares[table].remove(flow.key)
        self._holders.remove((flow.node, flow.key))
        self._edges[flow.node].remove(flow, heir)
        self._labels.release(flow.label, flow.key.vrf)

    def _in_order(self, nodes: set[str]) -> tuple[str, ...]:
        return tuple(name for name in self._edges if name in nodes)

    def _install(self, flow: Flow) -> None:
        if flow.origin is Origin.MANUAL:
            self._shares[flow.node, flow.key.src.version].remove(flow.key)
            self._holders.remove((flow.node, flow.key))
        self._edges[flow.node].install(flow)
