"""The events of the flow service."""

from fcn.contract.constants import CmAttribute
from fcn.controller.events import EventBus, Kind
from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.senders import Sender

_CM_NAMES = {member.value: member.name for member in CmAttribute}


class FlowEvents:
    def __init__(self, bus: EventBus) -> None:
        self._bus = bus

    def connection_message(self, node: str, message: CmMessage) -> None:
        """A PE reported a message of the connection manager."""
        if not self._bus.admits(Kind.CM_MESSAGE, message.vrf):
            return
        name = _CM_NAMES.get(message.attribute, hex(message.attribute))
        self._bus.tell(
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
        """The source QP of a flow became known; `node` is "" where no PE labels the flow."""
        if not self._bus.admits(Kind.SOURCE_QP, key.vrf):
            return
        self._bus.tell(
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
            lambda: f"the sender of {key} is not known any more: {reason}",
            **_fields(key),
            source_qp="",
            reason=reason,
        )

    def contradicted(self, node: str, key: FlowKey, sender: Sender) -> None:
        """Packets show another sender than a person registered, whose word stays."""
        self._bus.emit(
            Kind.CONTRADICTED,
            node,
            lambda: (
                f"{key} is registered as sent by QP {sender.source_qp:#x}, and packets "
                "contradict it: check it, and delete it with `fcn flows del` if it is wrong"
            ),
            **_fields(key),
            source_qp=sender.source_qp,
        )

    def labelled(self, flow: Flow) -> None:
        if not self._bus.admits(Kind.FLOW_LABELLED, flow.key.vrf):
            return
        self._bus.tell(
            Kind.FLOW_LABELLED,
            flow.node,
            f"{flow.key} has label {flow.label:#x}",
            **_fields(flow.key),
            label=f"{flow.label:#x}",
            source_qp="" if flow.source_qp is None else flow.source_qp,
            origin=flow.origin,
        )

    def removed(self, flow: Flow, reason: str) -> None:
        if not self._bus.admits(Kind.FLOW_REMOVED, flow.key.vrf):
            return
        self._bus.tell(
            Kind.FLOW_REMOVED,
            flow.node,
            f"{flow.key} released label {flow.label:#x}: {reason}",
            **_fields(flow.key),
            label=f"{flow.label:#x}",
            reason=reason,
        )

    def restored(self, node: str, count: int) -> None:
        self._bus.emit(
            Kind.FLOW_RESTORED, node, f"{count} flows read back from {node}", count=count
        )


def _fields(key: FlowKey) -> dict[str, object]:
    return {"vrf": key.vrf, "src": key.src, "dst": key.dst, "dest_qp": key.dest_qp}
