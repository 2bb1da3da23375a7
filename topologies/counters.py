"""Switch counters read over P4Runtime, by the names the P4 programs give them.

Reads need no arbitration, so this looks at the switches independently of the controller. Names of
events and drop reasons come from P4Info, not from here.
"""

from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import grpc
from finsy.proto import p4i, p4r, p4r_grpc
from google.protobuf import text_format

from fcn.contract.pipeline import LABEL_TABLES
from fcn.topologies.controller_config import grpc_endpoint
from fcn.topologies.model import Topology

COMPILED = Path(__file__).resolve().parents[1] / "p4src" / "compiled"
# Counters indexed by a serializable enum, with that enum; the others are indexed by port.
NAMED = {"drops": "DropReason", "events": "Event", "egress_events": "Event"}
PORT_COUNTERS = ("port_rx", "port_tx")
READ_TIMEOUT_S = 60.0

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


def _difference(now: dict[K, int], before: dict[K, int]) -> dict[K, int]:
    return {key: value - before.get(key, 0) for key, value in now.items()}


@cache
def p4info(role: str) -> p4i.P4Info:
    """The contract of the `pe` or `p` program."""
    return text_format.Parse((COMPILED / f"{role}.p4info.txtpb").read_text(), p4i.P4Info())


@cache
def enum_names(enum: str) -> dict[int, str]:
    """Value to name of an enum of the data plane.

    Both programs include the same enums; P4Info has those a program's control API refers to, which
    are all of them in the PE's.
    """
    members = p4info("pe").type_info.serializable_enums[enum].members
    if not members:
        raise LookupError(f"pe.p4info.txtpb has no enum {enum}")
    return {int.from_bytes(member.value): member.name for member in members}


class CounterReader:
    """Context manager that reads all nodes of a running topology."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._channels = {
            node.name: grpc.insecure_channel(grpc_endpoint(topology, node.name))
            for node in topology.nodes
        }

    def __enter__(self) -> "CounterReader":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for channel in self._channels.values():
            channel.close()

    def read(self) -> dict[str, NodeCounters]:
        """Counters of every node, zero cells left out."""
        return {node.name: self._read_node(node.name, node.role) for node in self._topology.nodes}

    def _read_node(self, node: str, role: str) -> NodeCounters:
        info = p4info(role)
        request = p4r.ReadRequest(device_id=self._topology.index(node))
        names: dict[int, str] = {}
        for counter in info.counters:
            names[counter.preamble.id] = counter.preamble.alias
            request.entities.add().counter_entry.counter_id = counter.preamble.id
        for table in info.tables:
            if table.preamble.alias in LABEL_TABLES.values():
                entry = request.entities.add().table_entry
                entry.table_id = table.preamble.id
                entry.counter_data.SetInParent()
        cells: dict[str, dict[int, int]] = {}
        flows: list[FlowHits] = []
        for entity in self._stream(node, request):
            if entity.HasField("counter_entry"):
                cell = entity.counter_entry
                if cell.data.packet_count:
                    by_index = cells.setdefault(names[cell.counter_id], {})
                    by_index[cell.index.index] = cell.data.packet_count
            elif not entity.table_entry.is_default_action:
                flow = _flow_hits(info, entity.table_entry)
                if flow is not None:
                    flows.append(flow)
        named = {
            name: {enum_names(enum)[i]: n for i, n in cells.get(name, {}).items()}
            for name, enum in NAMED.items()
        }
        return NodeCounters(
            # Ingress and egress count different events, so the two never share a name.
            {**named["events"], **named["egress_events"]},
            named["drops"],
            cells.get("port_rx", {}),
            cells.get("port_tx", {}),
            tuple(flows),
        )

    def _stream(self, node: str, request: p4r.ReadRequest) -> list[p4r.Entity]:
        stub = p4r_grpc.P4RuntimeStub(self._channels[node])
        return [
            entity
            for response in stub.Read(request, timeout=READ_TIMEOUT_S)
            for entity in response.entities
        ]


def _flow_hits(info: p4i.P4Info, entry: p4r.TableEntry) -> FlowHits | None:
    """The entry as FlowHits, or None when its source QP is not known."""
    action = next(
        action for action in info.actions if action.preamble.id == entry.action.action.action_id
    )
    values = {
        parameter.name: given.value
        for parameter in action.params
        for given in entry.action.action.params
        if parameter.id == given.param_id
    }
    if "dest_qp" not in values:
        return None
    width = 4 if action.preamble.alias == "cnp_ipv4" else 16
    # The CNP goes to the flow's source; it is the `dst` of the CNP that the action describes.
    sender = ip_address(int.from_bytes(values["dst"]).to_bytes(width))
    return FlowHits(
        int.from_bytes(entry.match[0].exact.value),
        str(sender),
        int.from_bytes(values["dest_qp"]),
        entry.counter_data.packet_count,
    )
