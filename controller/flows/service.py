"""Flows of the whole network: learned, labelled, and released (FCN-2 to FCN-4).

The switch tables are authoritative for labelled flows: the controller takes over the flows it finds
there. This module does not access tables: a PE is an `Edge`, which installs and removes flows.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from fcn.controller.config import Config
from fcn.controller.config.addressing import locate
from fcn.controller.config.features import Feature
from fcn.controller.events import EventBus
from fcn.controller.flows.announcements import FlowEvents
from fcn.controller.flows.connections import (
    CmMessage,
    ConnectionTracker,
    FlowClosed,
    PeerClosed,
    QueuePairLearned,
)
from fcn.controller.flows.flow import DEFAULT_P_KEY, Edge, Flow, Origin
from fcn.controller.flows.inference import HostPairKey, Inference, Sample
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.labelled import LabelledFlows, NoLabelError
from fcn.controller.flows.labels import LabelPool
from fcn.controller.flows.senders import Senders
from fcn.controller.flows.watch import WatchList


class FlowError(Exception):
    """A request about flows is refused; the message says why and what to do."""


class FlowService:
    """Learns, labels and releases flows. `edges` are all PEs of the network; `clock` is monotonic,
    in seconds."""

    def __init__(
        self,
        config: Config,
        edges: Mapping[str, Edge],
        bus: EventBus,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._edges = edges
        self.labels = LabelPool(config.flows.label_quarantine / 1e6, clock)
        self._labelled = LabelledFlows(edges, self.labels)
        self._senders = Senders(clock, config.flows.connection_memory / 1e6)
        self._connections = ConnectionTracker(clock)
        self._watch = WatchList(clock, config.flows.watched)
        self._inference = Inference(clock, self._fully_reported)
        self._events = FlowEvents(bus, clock)

    def all(self) -> list[Flow]:
        """Every labelled flow."""
        return self._labelled.all()

    def on_node(self, node: str) -> Mapping[FlowKey, Flow]:
        """Labelled flows of a node; a P node has none."""
        return self._labelled.on_node(node)

    def waiting(self) -> list[tuple[FlowKey, int, Origin]]:
        """Flows with a known sender and without a label: (flow, source QP, origin)."""
        live = {flow.key for flow in self._labelled.all()}
        return [
            (key, sender.source_qp, sender.origin)
            for key, sender in self._senders
            if key not in live
        ]

    def seen(
        self, node: str, key: FlowKey, p_key: int = DEFAULT_P_KEY, sample: Sample | None = None
    ) -> None:
        """A PE reports a packet of a flow that is not labelled, or that is watched."""
        self._label(node, key, p_key, Origin.DATA)
        if sample is not None and key in self._watch:
            self._inference.observe(key, sample)

    def connection_message(self, node: str, message: CmMessage) -> None:
        """A PE reports a message of the connection manager."""
        self._events.connection_message(node, message)
        for event in self._connections.handle(message):
            match event:
                case QueuePairLearned(flow, source_qp):
                    self._learn_sender(flow, source_qp, Origin.CM)
                case FlowClosed(flow):
                    self._forget(flow, "connection closed")
                case PeerClosed(flow):
                    self._forget(flow, "connection closed")
                    for back in self._senders.sent_by(flow.vrf, flow.dst, flow.src, flow.dest_qp):
                        self._forget(back, "connection closed")

    def infer(self) -> None:
        """Infer the source queue pairs of flows (FCN-3 b), and choose the flows to watch for it.
        To be called several times a second."""
        for event in self._inference.conclude():
            self._learn_sender(event.flow, event.source_qp, Origin.INFERRED)
        self._update_watched(self._watch.advance())

    def reported(self, key: FlowKey, source_qp: int) -> bool:
        """A host agent reports the sender of a flow; returns whether it was accepted as new."""
        if not self._senders.believes_agent(key, source_qp):
            return False
        self._learn_sender(key, source_qp, Origin.AGENT)
        return True

    def idle(self, node: str, key: FlowKey) -> None:
        """A PE reports a flow as idle (FCN-4): release its label. Its sender is kept for
        `flows.connection_memory`."""
        flow = self._labelled.get(node, key)
        if flow is not None and flow.timeout:
            self._release(flow, "idle")

    def add(self, key: FlowKey, source_qp: int, timeout: int | None = None) -> Flow:
        """Register a flow manually (FCN-3 a). Raises FlowError.

        `timeout`: microseconds without a packet after which the label is released (0: never; None:
        as configured). The registration itself is kept until `delete`.
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
        if not any(self._edges[place].learning for place in places):
            raise FlowError(
                f"{Feature.LEARNING} is off on {', '.join(places)}; "
                f"run `fcn feature enable {places[0]} {Feature.LEARNING}`"
            )
        self._learn_sender(key, source_qp, Origin.MANUAL, timeout)
        for place in places:
            flow = self._labelled.get(place, key)
            if flow is not None:
                return flow
        raise FlowError(f"{places[0]} has no room for the flow; see `fcn events` and `fcn status`")

    def delete(self, key: FlowKey) -> None:
        """Delete a flow and its sender. Raises FlowError when it is not known."""
        if key not in self._senders and not self._labelled.of(key):
            raise FlowError(f"there is no flow {key}; `fcn flows list` shows all")
        self._forget(key, "deleted")

    def release_node(self, node: str, reason: str) -> None:
        """Release all labels of a PE."""
        for flow in list(self._labelled.on_node(node).values()):
            self._release(flow, reason)

    def adopt(self, node: str, found: Iterable[Flow]) -> None:
        """Take over flows read back from a PE's tables, except those that contradict known ones."""
        restored = 0
        for flow in found:
            if self._labelled.get(node, flow.key) or not self._edges[node].learning:
                continue
            if not self.labels.claim(flow.label):
                continue
            if flow.source_qp is not None:
                self._senders.restore(flow.key, flow.source_qp)
            self._keep(flow)
            restored += 1
        if restored:
            self._events.restored(node, restored)

    def expire(self) -> None:
        """Delete senders of flows that have been idle too long. To be called periodically."""
        self._senders.expire()

    def _learn_sender(
        self, key: FlowKey, source_qp: int, origin: Origin, timeout: int | None = None
    ) -> None:
        sender = self._senders.learn(key, source_qp, origin, timeout)
        self._stop_watching(key)
        places = [flow.node for flow in self._labelled.of(key)]
        places = places or [
            place for place in locate(self._config, key.vrf, key.src) if self._edges[place].learning
        ]
        self._events.sender_known(places[0] if places else "", key, sender)
        for place in places[:1]:
            self._label(place, key, DEFAULT_P_KEY, origin)

    def _label(self, node: str, key: FlowKey, p_key: int, origin: Origin) -> None:
        """Label the flow, or update the attributes of a labelled flow."""
        if not self._edges[node].learning:
            return
        sender = self._senders.sending(key)
        source_qp = sender.source_qp if sender else None
        timeout = self._config.flows.timeout
        if sender and sender.timeout is not None:
            timeout = sender.timeout
        flow = self._labelled.get(node, key)
        if flow is not None:
            new = replace(
                flow,
                source_qp=source_qp,
                p_key=flow.p_key if origin is not Origin.DATA else p_key,
                timeout=timeout,
                origin=sender.origin if sender else flow.origin,
                watched=key in self._watch,
            )
            if new != flow:
                self._labelled.update(new)
            return
        try:
            label = self._labelled.allocate(node, key.src.version)
        except NoLabelError as error:
            self._events.unlabelled(node, key, str(error))
            return
        origin = sender.origin if sender else origin
        flow = Flow(key, node, label, timeout, origin, source_qp, p_key)
        self._keep(flow)
        self._events.labelled(flow)

    def _keep(self, flow: Flow) -> None:
        if flow.source_qp is None:
            self._update_watched(self._watch.add(flow.key) - {flow.key})
            flow = replace(flow, watched=flow.key in self._watch)
        self._labelled.add(flow)

    def _forget(self, key: FlowKey, reason: str) -> None:
        self._senders.forget(key)
        for flow in self._labelled.of(key):
            self._release(flow, reason)

    def _release(self, flow: Flow, reason: str) -> None:
        self._stop_watching(flow.key)
        self._labelled.remove(flow)
        self._senders.fell_silent(flow.key)
        self._events.removed(flow, reason)

    def _fully_reported(self, pair: HostPairKey) -> bool:
        """Whether all flows between two hosts enter the WAN at PEs that report them."""
        vrf, *hosts = pair
        places = [locate(self._config, vrf, host) for host in hosts]
        return self._watch.complete(pair) and all(
            nodes and all(self._edges[node].learning for node in nodes) for nodes in places
        )

    def _update_watched(self, changed: Iterable[FlowKey]) -> None:
        for key in changed:
            watched = key in self._watch
            if not watched:
                self._inference.forget(key)
            for flow in self._labelled.of(key):
                if flow.watched != watched:
                    self._labelled.update(replace(flow, watched=watched))

    def _stop_watching(self, key: FlowKey) -> None:
        self._watch.remove(key)
        self._inference.forget(key)
