"""Flows of the whole network: learned, labelled, and released (FCN-2 to FCN-4).

The switch tables are the truth about labelled flows; what a controller finds there it adopts. This
module knows nothing of tables: a PE is an `Edge` that installs and removes flows.
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
from fcn.controller.flows.inference import HostPairKey, Inference, Pairing, host_pair
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.labelled import LabelledFlows, NoLabelError
from fcn.controller.flows.labels import LabelPool
from fcn.controller.flows.senders import Senders
from fcn.controller.flows.trail import Sample
from fcn.controller.flows.verification import Verification
from fcn.controller.flows.watch import WatchList

VERIFIED_SHARE = 8
"""One in so many watched flows is one whose source is known, to be looked at again."""

DOUBTED = frozenset({Origin.INFERRED, Origin.RESTORED})
"""What packets that contradict it end."""

CERTAIN_BOTH_WAYS = frozenset({Origin.MANUAL, Origin.AGENT})
"""Who tells of one direction of a connection only, and of a queue pair they can know."""


class FlowError(Exception):
    """A request about flows cannot be met; the message says why and what to do."""


class FlowService:
    """Learns, labels and releases flows. `edges` are all PEs of the network, `clock` returns
    seconds and never goes back."""

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
        verified = config.flows.watched // VERIFIED_SHARE
        self._watch = WatchList(clock, config.flows.watched - verified)
        self._verification = Verification(clock, verified)
        self._inference = Inference(clock, self._fully_reported)
        self._events = FlowEvents(bus, clock)

    def all(self) -> list[Flow]:
        """Every labelled flow."""
        return self._labelled.all()

    def on_node(self, node: str) -> Mapping[FlowKey, Flow]:
        """Labelled flows of a node; a P node has none."""
        return self._labelled.on_node(node)

    def waiting(self) -> list[tuple[FlowKey, int, Origin]]:
        """Flows whose sender is known, that have no label now: (flow, source QP, origin)."""
        live = {flow.key for flow in self._labelled.all()}
        return [
            (key, sender.source_qp, sender.origin)
            for key, sender in self._senders
            if key not in live
        ]

    def seen(
        self, node: str, key: FlowKey, p_key: int = DEFAULT_P_KEY, sample: Sample | None = None
    ) -> None:
        """A PE reports a packet of a flow it has no label for, or of one that is watched."""
        self._label(node, key, p_key, Origin.DATA)
        if sample is None:
            return
        if key in self._watch:
            self._inference.observe(key, sample)
            self._learn_from_reverse(key, sample)
        self._verification.observe(key, sample)

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
        """Conclude which queue pairs send flows of unknown source (FCN-3 b), look again at what was
        concluded, and choose the flows to watch for it. Call several times a second."""
        for pairing in self._inference.conclude():
            self._pair(pairing)
        changed, refuted = self._verification.advance()
        self._update_watched(changed)
        for pairing in refuted:
            for key, _ in pairing.sources:
                self._doubt(key, "packets contradict it", DOUBTED)
        self._update_watched(self._watch.advance())

    def reported(self, key: FlowKey, source_qp: int) -> bool:
        """A host's agent names the sender of a flow; returns whether that is news."""
        if not self._senders.believes_agent(key, source_qp):
            return False
        self._learn_sender(key, source_qp, Origin.AGENT)
        return True

    def idle(self, node: str, key: FlowKey) -> None:
        """A PE reports a flow's silence (FCN-4). Its sender is remembered for a while."""
        flow = self._labelled.get(node, key)
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
        """Forget a flow. Raises FlowError when it is not known."""
        if key not in self._senders and not self._labelled.of(key):
            raise FlowError(f"there is no flow {key}; `fcn flows list` shows all")
        self._forget(key, "deleted")

    def release_node(self, node: str, reason: str) -> None:
        """Take all labels of a PE back."""
        for flow in list(self._labelled.on_node(node).values()):
            self._release(flow, reason)

    def adopt(self, node: str, found: Iterable[Flow]) -> None:
        """Flows read back from a PE's tables. Those that contradict what is known are left out."""
        restored = 0
        for flow in found:
            if self._labelled.get(node, flow.key) or not self._edges[node].learning:
                continue
            if not self.labels.claim(flow.label):
                continue
            if flow.source_qp is not None:
                self._senders.restore(flow.key, flow.source_qp)
            self._keep(flow)
            self._pair_restored(flow)
            restored += 1
        if restored:
            self._events.restored(node, restored)

    def expire(self) -> None:
        """Forget the senders of flows that have been silent for long. Call now and then."""
        self._senders.expire()

    def _learn_sender(
        self, key: FlowKey, source_qp: int, origin: Origin, timeout: int | None = None
    ) -> None:
        sender = self._senders.learn(key, source_qp, origin, timeout)
        self._stop_watching(key)
        partner = self._verification.partner(key)
        if partner is not None and partner.dest_qp != source_qp:
            self._part(key, f"the flow back is sent by QP {source_qp:#x}")
        places = [flow.node for flow in self._labelled.of(key)]
        places = places or [
            place for place in locate(self._config, key.vrf, key.src) if self._edges[place].learning
        ]
        self._events.sender_known(places[0] if places else "", key, sender)
        for place in places[:1]:
            self._label(place, key, DEFAULT_P_KEY, origin)

    def _label(self, node: str, key: FlowKey, p_key: int, origin: Origin) -> None:
        """Label the flow, or bring what is known about it up to date."""
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
                watched=self._is_watched(key),
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
            self._verification.new_flow(host_pair(flow.key))
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
        self._part(flow.key, f"the flow back is gone: {reason}")

    def _pair(self, pairing: Pairing) -> None:
        """Two flows of unknown source turned out to be the directions of one connection."""
        for key, source_qp in pairing.sources:
            self._learn_sender(key, source_qp, Origin.INFERRED)
        self._verification.add(pairing)

    def _pair_restored(self, flow: Flow) -> None:
        """Flows read back from the switches that name each other are looked at like others."""
        key = flow.key
        if flow.source_qp is None:
            return
        partner = FlowKey(key.vrf, key.dst, key.src, flow.source_qp)
        for back in self._labelled.of(partner)[:1]:
            if back.source_qp == key.dest_qp and flow.origin is back.origin is Origin.RESTORED:
                self._verification.add(Pairing(key, partner))

    def _learn_from_reverse(self, key: FlowKey, sample: Sample) -> None:
        """On a reliable connection the sender of the flow back is known when that of the flow is:
        a queue pair has one peer, and packets of this kind come from no other."""
        if not sample.of_reliable_connection or key in self._senders:
            return
        found = self._senders.sent_by(key.vrf, key.dst, key.src, key.dest_qp)
        if len(found) != 1 or self._verification.was_refuted(key, found[0]):
            return
        if any(flow.origin in CERTAIN_BOTH_WAYS for flow in self._labelled.of(found[0])):
            self._learn_sender(key, found[0].dest_qp, Origin.INFERRED)
            self._verification.add(Pairing(found[0], key))

    def _part(self, key: FlowKey, reason: str) -> None:
        """The flow has no partner any more; what was concluded of the other is in doubt."""
        partner = self._verification.forget(key)
        if partner is not None:
            self._update_watched({key, partner})
            self._doubt(partner, reason, frozenset({Origin.INFERRED}))

    def _doubt(self, key: FlowKey, reason: str, origins: frozenset[Origin]) -> None:
        """Evidence speaks against what is known of a flow's sender: where it is known from one of
        these origins, this ends; what others said is for them to correct."""
        flows = self._labelled.of(key)
        if not any(flow.origin in origins and flow.source_qp is not None for flow in flows):
            return
        self._senders.forget(key)
        self._events.sender_unknown(flows[0].node, key, reason)
        self._update_watched(self._watch.add(key) - {key})
        for flow in flows:
            unknown = replace(
                flow, source_qp=None, origin=Origin.DATA, watched=self._is_watched(key)
            )
            self._labelled.update(unknown)

    def _fully_reported(self, pair: HostPairKey) -> bool:
        """Whether all that flows between two hosts passes PEs that report it."""
        vrf, *hosts = pair
        places = [locate(self._config, vrf, host) for host in hosts]
        return self._watch.complete(pair) and all(
            nodes and all(self._edges[node].learning for node in nodes) for nodes in places
        )

    def _update_watched(self, changed: Iterable[FlowKey]) -> None:
        for key in changed:
            watched = self._is_watched(key)
            if key not in self._watch:
                self._inference.forget(key)
            for flow in self._labelled.of(key):
                if flow.watched != watched:
                    self._labelled.update(replace(flow, watched=watched))

    def _is_watched(self, key: FlowKey) -> bool:
        return key in self._watch or key in self._verification

    def _stop_watching(self, key: FlowKey) -> None:
        self._watch.remove(key)
        self._inference.forget(key)
