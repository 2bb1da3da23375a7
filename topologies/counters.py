"""Switch counters read over P4Runtime, by the names the P4 programs give them.

Reads need no arbitration, so this looks at the switches independently of the controller.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, TypeVar, cast

import grpc
from finsy import P4CounterData, P4CounterEntry, P4TableAction, P4TableEntry
from finsy.p4entity import P4Entity, decode_entity, encode_entities
from finsy.proto import p4r, p4r_grpc

from fcn.contract.names import COUNTERS, EVENT_COUNTERS, LABEL_TABLES, PORT_COUNTERS, named_cells
from fcn.contract.pipeline import Pipeline, load_pipeline
from fcn.topologies.controller_config import grpc_endpoint
from fcn.topologies.model import Topology

READ_TIMEOUT_S = 60.0
_P4INFO = p4r.GetForwardingPipelineConfigRequest.P4INFO_AND_COOKIE

_SHOWN = {*COUNTERS, *PORT_COUNTERS}
"""The others have tens of thousands of cells."""

K = TypeVar("K", str, int)


@dataclass(frozen=True, slots=True)
class FlowHits:
    """Notifications a PE looked up for one flow: whom its CNPs go to and how many there were."""

    label: int
    sender: str
    sender_qp: int
    hits: int


@dataclass(frozen=True, slots=True)
class NodeCounters:
    """Packets counted by one node: by event, by drop reason, by port."""

    events: dict[str, int] = field(default_factory=dict)
    drops: dict[str, int] = field(default_factory=dict)
    port_rx: dict[int, int] = field(default_factory=dict)
    port_tx: dict[int, int] = field(default_factory=dict)
    flows: tuple[FlowHits, ...] = ()

    def event(self, name: str) -> int:
        """How often it was counted."""
        return self.events.get(name, 0)

    def dropped(self, *reasons: str) -> int:
        return sum(self.drops.get(why, 0) for why in reasons)

    def since(self, earlier: "NodeCounters") -> "NodeCounters":
        """What was counted after `earlier`; flows are matched by label, sender and QP."""
        before = {(flow.label, flow.sender, flow.sender_qp): flow.hits for flow in earlier.flows}
        return NodeCounters(
            _difference(self.events, earlier.events),
            _difference(self.drops, earlier.drops),
            _difference(self.port_rx, earlier.port_rx),
            _difference(self.port_tx, earlier.port_tx),
            tuple(
                FlowHits(
                    flow.label,
                    flow.sender,
                    flow.sender_qp,
                    flow.hits - before.get((flow.label, flow.sender, flow.sender_qp), 0),
                )
                for flow in self.flows
            ),
        )

    def without_own(self, kinds: Iterable[str]) -> "NodeCounters":
        """What packets of these kinds do not change, which nodes send on their own: no counts of
        ports, and no events of these kinds."""
        own = tuple(kinds)
        events = {name: n for name, n in self.events.items() if not name.startswith(own)}
        return NodeCounters(events, self.drops, flows=self.flows)


def _difference(now: dict[K, int], before: dict[K, int]) -> dict[K, int]:
    return {key: value - before.get(key, 0) for key, value in now.items()}


class CounterReader:
    """Context manager that reads all nodes of a running topology."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._channels = {
            node.name: grpc.insecure_channel(grpc_endpoint(topology, node.name))
            for node in topology.nodes
        }
        self._counters: dict[str, set[str]] = {}

    def __enter__(self) -> "CounterReader":
        return self

    def __exit__(self, *_exc: object) -> None:
        for channel in self._channels.values():
            channel.close()

    def read(self) -> dict[str, NodeCounters]:
        """Counters of every node, zero cells left out."""
        return {node.name: self._read_node(node.name, node.role) for node in self._topology.nodes}

    def _read_node(self, node: str, role: str) -> NodeCounters:
        pipeline = load_pipeline(role)
        counters = self._counters_of(node) & _SHOWN
        patterns: list[P4Entity] = [P4CounterEntry(name) for name in sorted(counters)]
        if role == "pe":
            tables = LABEL_TABLES.values()
            patterns += [P4TableEntry(name, counter_data=P4CounterData()) for name in tables]
        entities = self._stream(node, pipeline, patterns)
        cells = [cell for cell in entities if isinstance(cell, P4CounterEntry)]
        entries = [
            entry
            for entry in entities
            if isinstance(entry, P4TableEntry) and not entry.is_default_action
        ]

        def packets(counter: str) -> dict[int, int]:
            counted = [cell for cell in cells if cell.counter_id == counter and cell.packet_count]
            return {cell.index: cell.packet_count for cell in counted if cell.index is not None}

        named: dict[str, dict[str, int]] = {}
        for counter in COUNTERS:
            names = named_cells(counter)
            named[counter] = {names[index]: count for index, count in packets(counter).items()}
        return NodeCounters(
            {name: count for each in EVENT_COUNTERS for name, count in named[each].items()},
            named["drops"],
            packets("port_rx"),
            packets("port_tx"),
            tuple(hits for entry in entries for hits in _hits(entry)),
        )

    def _counters_of(self, node: str) -> set[str]:
        """Counters of the program that the node has: which one, its configuration says, and it
        stays the same while the topology runs."""
        if node not in self._counters:
            stub = p4r_grpc.P4RuntimeStub(self._channels[node])
            request = p4r.GetForwardingPipelineConfigRequest(
                device_id=self._topology.index(node), response_type=_P4INFO
            )
            reply = stub.GetForwardingPipelineConfig(request, timeout=READ_TIMEOUT_S)
            self._counters[node] = {each.preamble.alias for each in reply.config.p4info.counters}
        return self._counters[node]

    def _stream(self, node: str, pipeline: Pipeline, patterns: list[P4Entity]) -> list[P4Entity]:
        stub = p4r_grpc.P4RuntimeStub(self._channels[node])
        request = p4r.ReadRequest(
            device_id=self._topology.index(node),
            entities=encode_entities(patterns, pipeline.schema),
        )
        return [
            decode_entity(entity, pipeline.schema)
            for response in stub.Read(request, timeout=READ_TIMEOUT_S)
            for entity in response.entities
        ]


def _hits(entry: P4TableEntry) -> Iterator[FlowHits]:
    action, data = entry.action, entry.counter_data
    if isinstance(action, P4TableAction) and (host := action.args.get("dst")) is not None and data:
        sender = ip_address(cast(Any, host))
        label, dest_qp = cast(Any, entry["flow_label"]), cast(Any, action.args["dest_qp"])
        yield FlowHits(label, str(sender), dest_qp, data.packet_count)
