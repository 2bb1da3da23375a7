"""Labelled flows by PE; keeps the PEs' tables and the label pool consistent."""

from collections.abc import Mapping

from fcn.controller.flows.flow import Edge, Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.labels import LabelPool, LabelsExhaustedError


class NoLabelError(Exception):
    """A flow cannot have a label; the message says why."""


class LabelledFlows:
    """Flows with a label, by ingress PE; `edges` are all PEs."""

    def __init__(self, edges: Mapping[str, Edge], labels: LabelPool) -> None:
        self._edges = edges
        self._labels = labels
        self._flows: dict[str, dict[FlowKey, Flow]] = {name: {} for name in edges}
        self._count: dict[tuple[str, int], int] = {}

    def all(self) -> list[Flow]:
        """Every labelled flow."""
        return [flow for flows in self._flows.values() for flow in flows.values()]

    def on_node(self, node: str) -> Mapping[FlowKey, Flow]:
        """Labelled flows of a node; a P node has none."""
        return self._flows.get(node, {})

    def get(self, node: str, key: FlowKey) -> Flow | None:
        """The flow on this PE, if it has a label there."""
        return self._flows[node].get(key)

    def of(self, key: FlowKey) -> list[Flow]:
        """The flow on every PE where it has a label."""
        return [flows[key] for flows in self._flows.values() if key in flows]

    def allocate(self, node: str, ip_version: int) -> int:
        """Allocate a label for a new flow of a PE. Raises NoLabelError."""
        capacity = self._edges[node].capacity(ip_version)
        if self._count.get((node, ip_version), 0) >= capacity:
            raise NoLabelError(f"{node} holds {capacity} flows already")
        try:
            return self._labels.allocate()
        except LabelsExhaustedError as error:
            raise NoLabelError(str(error)) from None

    def add(self, flow: Flow) -> None:
        """Install a flow that was not labelled on its PE before."""
        self._flows[flow.node][flow.key] = flow
        counted = (flow.node, flow.key.src.version)
        self._count[counted] = self._count.get(counted, 0) + 1
        self._edges[flow.node].install(flow)

    def update(self, flow: Flow) -> None:
        """Replace a flow's attributes; its label does not change."""
        self._flows[flow.node][flow.key] = flow
        self._edges[flow.node].install(flow)

    def remove(self, flow: Flow) -> None:
        """Remove a flow and release its label."""
        del self._flows[flow.node][flow.key]
        self._count[flow.node, flow.key.src.version] -= 1
        self._edges[flow.node].remove(flow)
        self._labels.release(flow.label)
