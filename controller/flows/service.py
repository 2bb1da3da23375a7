"""Flows of the whole network: who has which label, and which queue pair sends it (FCN-2 to FCN-4).

The switch tables are the truth about labelled flows; what a controller finds there it adopts. This
module knows nothing of tables: a PE is an `Edge` that installs and removes flows.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from fcn.contract.constants import CmAttribute
from fcn.controller.config import Config
from fcn.controller.config.addressing import locate
from fcn.controller.events import EventBus, Kind
from fcn.controller.flows.connections import (
    CmMessage,
    ConnectionTracker,
    FlowClosed,
    PeerClosed,
    QueuePairLearned,
)
from fcn.controller.flows.inference import HostPairKey, Inference, Sample
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.labels import LabelPool, LabelsExhaustedError
from fcn.controller.flows.watch import WatchList

DEFAULT_P_KEY = 0xFFFF

REPORT_INTERVAL = 1.0
"""Seconds between reports that a PE leaves flows unlabelled."""


class Origin(StrEnum):
    """How a flow became known."""

    DATA = "data"
    CM = "cm"
    INFERRED = "inferred"
    AGENT = "agent"
    MANUAL = "manual"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class Flow:
    """A labelled flow on its ingress PE.

    `timeout` is in microseconds of silence (0: kept until removed), `since` in seconds since the
    epoch. Without `source_qp` the sender cannot be notified; while `watched` the PE reports packets
    of the flow, from which its source may be inferred.
    """

    key: FlowKey
    node: str
    label: int
    timeout: int
    origin: Origin
    source_qp: int | None = None
    p_key: int = DEFAULT_P_KEY
    since: float = field(default_factory=time.time)
    watched: bool = False


@dataclass(slots=True)
class _Sender:
    """The queue pair behind a flow. `silent_since`: when the flow lost its label, if it did."""

    source_qp: int
    origin: Origin
    timeout: int | None = None
    silent_since: float | None = None


class Edge(Protocol):
    """An ingress PE."""

    @property
    def feature(self) -> bool:
        """Whether it takes part (FCN-16)."""

    def capacity(self, ip_version: int) -> int:
        """How many flows of an IP version it can label."""

    def install(self, flow: Flow) -> None:
        """Label the flow's packets, answer notifications of its label."""

    def remove(self, flow: Flow) -> None:
        """Undo `install`."""


class FlowError(Exception):
    """A request about flows cannot be met; the message says why and what to do."""


class FlowService:
    """Learns, labels and releases flows. `clock` returns seconds and never goes back."""

    def __init__(
        self,
        config: Config,
        edges: Mapping[str, Edge],
        bus: EventBus,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._edges = edges
        self._bus = bus
        self._clock = clock
        self.labels = LabelPool(config.flows.label_quarantine / 1e6, clock)
        self._connections = ConnectionTracker(clock)
        self._watch = WatchList(clock, config.flows.watched)
        self._inference = Inference(clock, self._fully_reported)
        self._unlabelled: dict[str, tuple[float, int]] = {}
        self._flows: dict[str, dict[FlowKey, Flow]] = {name: {} for name in config.nodes}
        self._count: dict[tuple[str, int], int] = {}
        self._senders: dict[FlowKey, _Sender] = {}
        self._by_sender: dict[tuple[str, object, object, int], set[FlowKey]] = {}

    def all(self) -> list[Flow]:
        """Every labelled flow."""
        return [flow for flows in self._flows.values() for flow in flows.values()]

    def on_node(self, node: str) -> Mapping[FlowKey, Flow]:
        """Labelled flows of one PE."""
        return self._flows[node]

    def waiting(self) -> list[tuple[FlowKey, int, Origin]]:
        """Flows whose sender is known, that have no label now: (flow, source QP, origin)."""
        live = {key for flows in self._flows.values() for key in flows}
        return [
            (key, sender.source_qp, sender.origin)
            for key, sender in self._senders.items()
            if key not in live
        ]

    def seen(
        self, node: str, key: FlowKey, p_key: int = DEFAULT_P_KEY, sample: Sample | None = None
    ) -> None:
        """A PE reports a packet of a flow it has no label for, or of one that is watched."""
        self._label(node, key, p_key, Origin.DATA)
        if sample is not None and key in self._watch:
            self._inference.observe(key, sample)

    def infer(self) -> None:
        """Conclude which queue pairs send flows of unknown source (FCN-3 b), and choose the flows
        to watch for it. Call several times a second."""
        for event in self._inference.conclude():
            self._learn_sender(event.flow, _Sender(event.source_qp, Origin.INFERRED))
        self._update_watched(self._watch.advance())

    def _update_watched(self, changed: Iterable[FlowKey]) -> None:
        for key in changed:
            if key not in self._watch:
                self._inference.forget(key)
            for node, flows in self._flows.items():
                if key in flows and flows[key].watched != (key in self._watch):
                    flows[key] = replace(flows[key], watched=key in self._watch)
                    self._edges[node].install(flows[key])

    def _fully_reported(self, pair: HostPairKey) -> bool:
        """Whether all that flows between two hosts passes PEs that report it."""
        vrf, *hosts = pair
        places = [locate(self._config, vrf, host) for host in hosts]
        return self._watch.complete(pair) and all(
            nodes and all(self._edges[node].feature for node in nodes) for nodes in places
        )

    def _stop_watching(self, key: FlowKey) -> None:
        self._watch.remove(key)
        self._inference.forget(key)

    def connection_message(self, node: str, message: CmMessage) -> None:
        """A PE reports a message of the connection manager."""
        names = {member.value: member.name for member in CmAttribute}
        self._bus.emit(
            Kind.CM_MESSAGE,
            node,
            f"{names.get(message.attribute, hex(message.attribute))} in {message.vrf} "
            f"{message.src} → {message.dst}",
            attribute=names.get(message.attribute, message.attribute),
            vrf=message.vrf,
            src=message.src,
            dst=message.dst,
            local_comm_id=f"{message.local_comm_id:#x}",
            remote_comm_id=f"{message.remote_comm_id:#x}",
            qpn=message.qpn,
        )
        for event in self._connections.handle(message):
            match event:
                case QueuePairLearned(flow, source_qp):
                    self._learn_sender(flow, _Sender(source_qp, Origin.CM))
                case FlowClosed(flow):
                    self._forget(flow, "connection closed")
                case PeerClosed(flow):
                    self._forget(flow, "connection closed")
                    for back in self._sent_by(flow.vrf, flow.dst, flow.src, flow.dest_qp):
                        self._forget(back, "connection closed")

    def idle(self, node: str, key: FlowKey) -> None:
        """A PE reports a flow's silence (FCN-4). Its sender is remembered for a while."""
        flow = self._flows[node].get(key)
        if flow is not None and flow.timeout:
            self._release(flow, "idle")

    def add(self, key: FlowKey, source_qp: int, timeout: int | None = None) -> Flow:
        """Register a flow by hand (FCN-3 a). Raises FlowError.

        `timeout`: microseconds of silence after which the label is released (0: never; None: as
        configured). The registration itself lasts until `delete`.
        """
        if key.vrf not in self._config.vrfs:
            known = ", ".join(self._config.vrfs) or "none"
            raise FlowError(f"there is no VRF {key.vrf}; configured are: {known}")
        if key.src.version != key.dst.version:
            raise FlowError("source and destination are of different IP versions")
        for name, value in (("destination", key.dest_qp), ("source", source_qp)):
            if not 2 <= value < 1 << 24:
                raise FlowError(f"{name} QP {value} is out of range; data QPs are 2 to 0xffffff")
        places = locate(self._config, key.vrf, key.src)
        if not places:
            raise FlowError(
                f"{key.src} is behind no DC port of VRF {key.vrf}; "
                "check the addresses and routes in the configuration"
            )
        if not any(self._edges[place].feature for place in places):
            raise FlowError(
                f"the feature is disabled on {', '.join(places)}; "
                f"run `fcn feature enable {places[0]}`"
            )
        self._learn_sender(key, _Sender(source_qp, Origin.MANUAL, timeout))
        for place in places:
            if key in self._flows[place]:
                return self._flows[place][key]
        raise FlowError(f"{places[0]} has no room for the flow; see `fcn events` and `fcn status`")

    def reported(self, key: FlowKey, source_qp: int) -> bool:
        """A host's agent names the sender of a flow; returns whether that is news.

        Connection managers and people know better, inference does not.
        """
        sender = self._senders.get(key)
        if sender is not None:
            if sender.origin in (Origin.CM, Origin.MANUAL):
                return False
            if (sender.origin, sender.source_qp) == (Origin.AGENT, source_qp):
                return False
        self._learn_sender(key, _Sender(source_qp, Origin.AGENT))
        return True

    def delete(self, key: FlowKey) -> None:
        """Forget a flow. Raises FlowError when it is not known."""
        if key not in self._senders and not any(key in flows for flows in self._flows.values()):
            raise FlowError(f"there is no flow {key}; `fcn flows list` shows all")
        self._forget(key, "deleted")

    def release_node(self, node: str, reason: str) -> None:
        """Take all labels of a PE back."""
        for flow in list(self._flows[node].values()):
            self._release(flow, reason)

    def adopt(self, node: str, found: Iterable[Flow]) -> None:
        """Flows read back from a PE's tables. Those that contradict what is known are left out."""
        restored = 0
        for flow in found:
            if flow.key in self._flows[node] or not self._edges[node].feature:
                continue
            if not self.labels.claim(flow.label):
                continue
            if flow.source_qp is not None and flow.key not in self._senders:
                self._set_sender(flow.key, _Sender(flow.source_qp, Origin.RESTORED))
            self._keep(flow)
            restored += 1
        if restored:
            self._bus.emit(
                Kind.FLOW_RESTORED, node, f"{restored} flows read back from {node}", count=restored
            )

    def expire(self) -> None:
        """Forget the senders of flows that have been silent for long. Call now and then."""
        limit = self._clock() - self._config.flows.connection_memory / 1e6
        for key, sender in list(self._senders.items()):
            silent = sender.silent_since is not None and sender.silent_since < limit
            if silent and sender.origin is not Origin.MANUAL:
                self._drop_sender(key)

    def _learn_sender(self, key: FlowKey, sender: _Sender) -> None:
        sender.silent_since = self._clock()
        self._set_sender(key, sender)
        self._stop_watching(key)
        places = [node for node, flows in self._flows.items() if key in flows]
        places = places or [
            place for place in locate(self._config, key.vrf, key.src) if self._edges[place].feature
        ]
        self._bus.emit(
            Kind.SOURCE_QP,
            places[0] if places else "",
            f"{key} is sent by QP {sender.source_qp:#x} ({sender.origin})",
            **_fields(key),
            source_qp=sender.source_qp,
            origin=sender.origin,
        )
        for place in places[:1]:
            self._label(place, key, DEFAULT_P_KEY, sender.origin)

    def _label(self, node: str, key: FlowKey, p_key: int, origin: Origin) -> None:
        """Label the flow, or bring what is known about it up to date."""
        edge = self._edges[node]
        if not edge.feature:
            return
        sender = self._senders.get(key)
        source_qp = sender.source_qp if sender else None
        if sender:
            sender.silent_since = None
        timeout = self._config.flows.timeout
        if sender and sender.timeout is not None:
            timeout = sender.timeout
        flow = self._flows[node].get(key)
        if flow is not None:
            p_key = flow.p_key if origin is not Origin.DATA else p_key
            origin = sender.origin if sender else flow.origin
            new = replace(
                flow,
                source_qp=source_qp,
                p_key=p_key,
                timeout=timeout,
                origin=origin,
                watched=key in self._watch,
            )
            if new != flow:
                self._flows[node][key] = new
                edge.install(new)
            return
        label = self._allocate(node, key)
        if label is None:
            return
        origin = sender.origin if sender else origin
        flow = Flow(key, node, label, timeout, origin, source_qp, p_key)
        self._keep(flow)
        self._bus.emit(
            Kind.FLOW_LABELLED,
            node,
            f"{key} has label {label:#x}",
            **_fields(key),
            label=f"{label:#x}",
            source_qp="" if source_qp is None else source_qp,
            origin=origin,
        )

    def _allocate(self, node: str, key: FlowKey) -> int | None:
        capacity = self._edges[node].capacity(key.src.version)
        reason = f"{node} holds {capacity} flows already"
        if self._count.get((node, key.src.version), 0) < capacity:
            try:
                return self.labels.allocate()
            except LabelsExhaustedError as error:
                reason = str(error)
        self._report_unlabelled(node, key, reason)
        return None

    def _report_unlabelled(self, node: str, key: FlowKey, reason: str) -> None:
        """Once a second at most: every packet of such a flow may be reported."""
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

    def _keep(self, flow: Flow) -> None:
        if flow.source_qp is None:
            self._update_watched(self._watch.add(flow.key) - {flow.key})
            flow = replace(flow, watched=flow.key in self._watch)
        self._flows[flow.node][flow.key] = flow
        counted = (flow.node, flow.key.src.version)
        self._count[counted] = self._count.get(counted, 0) + 1
        self._edges[flow.node].install(flow)

    def _forget(self, key: FlowKey, reason: str) -> None:
        self._drop_sender(key)
        for flows in self._flows.values():
            if key in flows:
                self._release(flows[key], reason)

    def _release(self, flow: Flow, reason: str) -> None:
        del self._flows[flow.node][flow.key]
        self._stop_watching(flow.key)
        self._count[flow.node, flow.key.src.version] -= 1
        self._edges[flow.node].remove(flow)
        self.labels.release(flow.label)
        sender = self._senders.get(flow.key)
        if sender is not None:
            sender.silent_since = self._clock()
            if sender.origin in (Origin.INFERRED, Origin.AGENT):
                # After a silence the queue pairs may be others; this can be learned again.
                self._drop_sender(flow.key)
        self._bus.emit(
            Kind.FLOW_REMOVED,
            flow.node,
            f"{flow.key} gives label {flow.label:#x} back: {reason}",
            **_fields(flow.key),
            label=f"{flow.label:#x}",
            reason=reason,
        )

    def _set_sender(self, key: FlowKey, sender: _Sender) -> None:
        self._drop_sender(key)
        self._senders[key] = sender
        index = (key.vrf, key.src, key.dst, sender.source_qp)
        self._by_sender.setdefault(index, set()).add(key)

    def _drop_sender(self, key: FlowKey) -> None:
        sender = self._senders.pop(key, None)
        if sender is not None:
            index = (key.vrf, key.src, key.dst, sender.source_qp)
            self._by_sender[index].discard(key)
            if not self._by_sender[index]:
                del self._by_sender[index]

    def _sent_by(self, vrf: str, src: object, dst: object, source_qp: int) -> list[FlowKey]:
        return list(self._by_sender.get((vrf, src, dst, source_qp), ()))


def _fields(key: FlowKey) -> dict[str, object]:
    return {"vrf": key.vrf, "src": key.src, "dst": key.dst, "dest_qp": key.dest_qp}
