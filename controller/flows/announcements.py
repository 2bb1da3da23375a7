"""What the flow service tells the network's watchers."""

from collections.abc import Callable

from fcn.contract.constants import CmAttribute
from fcn.controller.events import EventBus, Kind
from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.senders import Sender

REPORT_INTERVAL = 1.0
"""Seconds between reports that a PE leaves flows unlabelled."""

_CM_NAMES = {member.value: member.name for member in CmAttribute}


class FlowEvents:
    """Events about flows. `clock` returns seconds and never goes back."""

    def __init__(self, bus: EventBus, clock: Callable[[], float]) -> None:
        self._bus = bus
        self._clock = clock
        self._unlabelled: dict[str, tuple[float, int]] = {}

    def connection_message(self, node: str, message: CmMessage) -> None:
        """A PE reported a message of the connection manager."""
        name = _CM_NAMES.get(message.attribute, hex(message.attribute))
        self._bus.emit(
            Kind.CM_MESSAGE,
            node,
            f"{name} in {message.vrf} {message.src} → {message.dst}",
            attribute=_CM_NAMES.get(message.attribute, message.attribute),
            vrf=message.vrf,
            src=message.src,
            dst=message.dst,
            local_comm_id=f"{message.local_comm_id:#x}",
            remote_comm_id=f"{message.remote_comm_id:#x}",
            qpn=message.qpn,
        )

    def sender_known(self, node: str, key: FlowKey, sender: Sender) -> None:
        """Which queue pair sends a flow; `node` is "" where no PE labels it."""
        self._bus.emit(
            Kind.SOURCE_QP,
            node,
            f"{key} is sent by QP {sender.source_qp:#x} ({sender.origin})",
            **_fields(key),
            source_qp=sender.source_qp,
            origin=sender.origin,
        )

    def sender_unknown(self, node: str, key: FlowKey, reason: str) -> None:
        """Which queue pair sends a flow is not known any more."""
        self._bus.emit(
            Kind.SOURCE_QP,
            node,
            f"the sender of {key} is not known any more: {reason}",
            **_fields(key),
            source_qp="",
            reason=reason,
        )

    def labelled(self, flow: Flow) -> None:
        """A flow has a new label."""
        self._bus.emit(
            Kind.FLOW_LABELLED,
            flow.node,
            f"{flow.key} has label {flow.label:#x}",
            **_fields(flow.key),
            label=f"{flow.label:#x}",
            source_qp="" if flow.source_qp is None else flow.source_qp,
            origin=flow.origin,
        )

    def unlabelled(self, node: str, key: FlowKey, reason: str) -> None:
        """A flow gets no label. Once a second at most: every packet of it may be reported."""
        last, count = self._unlabelled.get(node, (-REPORT_INTERVAL, 0))
        count += 1
        if self._clock() - last < REPORT_INTERVAL:
            self._unlabelled[node] = (last, count)
            return
        self._unlabelled[node] = (self._clock(), 0)
        text = f"{key} stays unlabelled: {reason}"
        if count > 1:
            text += f" (and {count - 1} reports before)"
        self._bus.emit(Kind.FLOW_UNLABELLED, node, text, **_fields(key), reports=count)

    def removed(self, flow: Flow, reason: str) -> None:
        """A flow gave its label back."""
        self._bus.emit(
            Kind.FLOW_REMOVED,
            flow.node,
            f"{flow.key} gives label {flow.label:#x} back: {reason}",
            **_fields(flow.key),
            label=f"{flow.label:#x}",
            reason=reason,
        )

    def restored(self, node: str, count: int) -> None:
        """Flows were read back from a PE."""
        self._bus.emit(
            Kind.FLOW_RESTORED, node, f"{count} flows read back from {node}", count=count
        )


def _fields(key: FlowKey) -> dict[str, object]:
    return {"vrf": key.vrf, "src": key.src, "dst": key.dst, "dest_qp": key.dest_qp}
