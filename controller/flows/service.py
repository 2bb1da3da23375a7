"""Flows of the whole network: learned, labelled, and released (FCN-2 to FCN-4).

The switch tables are authoritative for labelled flows: the controller takes over the flows it finds
there. This module does not access tables: a PE is an `Edge`, which installs and removes flows.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace

from fcn.controller.clock import Clock
from fcn.controller.config import Config
from fcn.controller.config.features import Feature
from fcn.controller.config.notation import Address
from fcn.controller.events import EventBus
from fcn.controller.flows.announcements import FlowEvents
from fcn.controller.flows.authority import STATED, End
from fcn.controller.flows.connections import (
    CmMessage,
    ConnectionTracker,
    FlowClosed,
    PeerClosed,
    QueuePairLearned,
    Refused,
)
from fcn.controller.flows.departed import Departed
from fcn.controller.flows.flow import DEFAULT_P_KEY, Edge, Flow
from fcn.controller.flows.inference import HostPairKey, Inference, Pairing, host_pair
from fcn.controller.flows.key import FIRST_DATA_QP, FlowKey
from fcn.controller.flows.labelled import LabelledFlows, NoLabelError
from fcn.controller.flows.labels import LabelPool
from fcn.controller.flows.places import Places
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.refusals import Reason, Refusals
from fcn.controller.flows.reporting import Reporting
from fcn.controller.flows.senders import Sender, Senders
from fcn.controller.flows.shares import Host
from fcn.controller.flows.trail import Sample
from fcn.controller.flows.verification import Verification
from fcn.controller.flows.watch import WatchList

VERIFIED_SHARE = 8
"""One in so many watched flows is one whose source is known, to be looked at again."""

CERTAIN_BOTH_WAYS = frozenset({Origin.MANUAL, Origin.AGENT})
"""Origins that state one direction of a connection only, of a queue pair known to them."""


class FlowError(Exception):
    """A request about flows is refused; the message says why and what to do."""


class FlowService:
    """Learns, labels and releases flows. `edges` are all PEs of the network; `rng` draws labels
    (labels.py)."""

    def __init__(
        self,
        config: Config,
        edges: Mapping[str, Edge],
        bus: EventBus,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._config = config
        self._edges = edges
        self._clock = clock
        now = clock.monotonic
        self.labels = LabelPool(config.flows.label_quarantine / 1e6, now, rng)
        self._labelled = LabelledFlows(edges, self.labels)
        self._senders = Senders()
        self._connections = ConnectionTracker(now)
        self._departed = Departed(now)
        self.refusals = Refusals(bus, now)
        self._places = Places(config)
        self._reporting = Reporting(edges, self._places, self.refusals)
        verified = config.flows.watched // VERIFIED_SHARE
        self._watch = WatchList(now, config.flows.watched - verified, self._refuse_watch)
        self._verification = Verification(now, verified, self._reporting.heard_for)
        self._inference = Inference(now, self._fully_reported)
        self._events = FlowEvents(bus)

    def all(self) -> list[Flow]:
        """Every labelled flow."""
        return self._labelled.all()

    def of_host(self, host: Host) -> list[Flow]:
        """Labelled flows that a host sends, but for those a person registered."""
        return self._labelled.of_host(host)

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
        self,
        node: str,
        port: int,
        key: FlowKey,
        p_key: int = DEFAULT_P_KEY,
        sample: Sample | None = None,
        *,
        in_time: bool = True,
    ) -> None:
        """A PE reports a packet, from this port, of a flow that is not labelled, or that is
        watched. `in_time`: about when it was sent, or else it is no evidence: inference compares
        what two PEs see at a time."""
        if not self._is_from(node, port, key.vrf, key.src):
            return
        if key in self._departed:
            return
        self._label(node, key, p_key, Origin.DATA)
        if sample is None:
            return
        if not in_time:
            self._verification.missed(key)
            self.refusals.refuse(
                node,
                key.vrf,
                Reason.LATE,
                lambda: f"reports of {node} have to wait, so they are no evidence of senders",
            )
            return
        if key in self._watch:
            self._inference.observe(key, sample)
            self._learn_from_reverse(key, sample)
        self._verification.observe(key, sample)

    def connection_message(self, node: str, port: int, message: CmMessage) -> None:
        """A PE reports a message of the connection manager, from this port."""
        if not self._is_from(node, port, message.vrf, message.src):
            return
        self._events.connection_message(node, message)
        for event in self._connections.handle(message):
            match event:
                case QueuePairLearned(flow, source_qp, comm_ids):
                    self._learn_sender(flow, Sender(source_qp, Origin.CM, comm_ids=comm_ids))
                case FlowClosed(flow, unseen):
                    if unseen:
                        self._verification.replaced(flow)
                    self._end(flow, End.DISCONNECTED)
                case PeerClosed(flow):
                    self._end(flow, End.UNSEEN_DISCONNECT)
                    for back in self._senders.sent_by(flow.vrf, flow.dst, flow.src, flow.dest_qp):
                        self._end(back, End.UNSEEN_DISCONNECT)
                case Refused(host):
                    self._refuse_connection(node, host)

    def infer(self) -> None:
        """Infer the source queue pairs of flows (FCN-3 b), verify those inferred before, and choose
        the flows to watch for it. To be called several times a second."""
        for pairing in self._inference.conclude():
            if not any(self._sends_another(*each) for each in pairing.sources):
                self._pair(pairing)
        changed, refuted, uncertain = self._verification.advance()
        self._update_watched(changed)
        for pairing in refuted:
            self._contradicted(pairing)
        for pairing in uncertain:
            self._forget(pairing, End.UNCERTAIN)
        self._update_watched(self._watch.advance())

    def reported(self, key: FlowKey, source_qp: int) -> bool:
        """A host agent reports the sender of a flow; returns whether it was accepted as new."""
        partner = FlowKey(key.vrf, key.dst, key.src, source_qp)
        if self._verification.was_refuted(key, partner):
            return False
        return self._learn_sender(key, Sender(source_qp, Origin.AGENT))

    def idle(self, node: str, key: FlowKey) -> None:
        """A PE reports a flow as idle (FCN-4): release its label. Whether its sender is forgotten
        depends on its origin (authority.py)."""
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
            if not FIRST_DATA_QP <= value < 1 << 24:
                raise FlowError(f"{name} QP {value} is out of range; data QPs are 2 to 0xffffff")
        places = self._places.nodes(key.vrf, key.src)
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
        self._learn_sender(key, Sender(source_qp, Origin.MANUAL, timeout))
        for place in places:
            flow = self._labelled.get(place, key)
            if flow is not None:
                return flow
        raise FlowError(f"{places[0]} has no room for the flow; see `fcn events` and `fcn status`")

    def delete(self, key: FlowKey) -> None:
        """Delete a flow and its sender. Raises FlowError when it is not known."""
        if key not in self._senders and not self._labelled.of(key):
            raise FlowError(f"there is no flow {key}; `fcn flows list` shows all")
        self._end(key, End.BY_HAND)

    def release_node(self, node: str, reason: str) -> None:
        """Release all labels of a PE."""
        for flow in list(self._labelled.on_node(node).values()):
            self._release(flow, reason)

    def adopt(self, node: str, found: Iterable[Flow]) -> None:
        """Take over flows read back from a PE's tables, except those of hosts that are elsewhere.

        What is known by now stands: the entry may be older."""
        restored = 0
        for flow in found:
            if self._labelled.get(node, flow.key) or not self._edges[node].learning:
                continue
            if self._places.port(node, flow.key.vrf, flow.key.src) is None:
                continue
            self._restore_sender(flow)
            if self.labels.claim(flow.label):
                self._keep(self._as_known(flow))
            else:
                self._label(node, flow.key, flow.p_key, flow.origin)
            restored += 1
        if restored:
            self._events.restored(node, restored)

    def _restore_sender(self, flow: Flow) -> None:
        if flow.source_qp is None:
            return
        origin, comm_ids = flow.origin, flow.comm_ids
        if comm_ids and not self._connections.restore(flow.key, flow.source_qp, comm_ids):
            # No disconnect would end it.
            origin, comm_ids = Origin.RESTORED, None
        timeout = flow.timeout if origin is Origin.MANUAL else None
        sender = Sender(flow.source_qp, origin, timeout, comm_ids)
        if not self._labelled.of(flow.key):
            self._senders.restore(flow.key, sender)
        elif flow.key not in self._senders:
            # Another PE of the host labels the flow too.
            self._learn_sender(flow.key, sender)

    def _as_known(self, flow: Flow) -> Flow:
        sender = self._senders.get(flow.key)
        if sender is None:
            return flow
        return replace(
            flow, source_qp=sender.source_qp, origin=sender.origin, comm_ids=sender.comm_ids
        )

    def _is_from(self, node: str, port: int, vrf: str, source: Address) -> bool:
        """Whether this PE can have got a packet from that address there: others are not believed.

        Of the other PEs nothing is looked up: sources are invented faster than that."""
        if self._places.port(node, vrf, source) == port:
            return True
        self.refusals.refuse(
            node,
            vrf,
            Reason.FOREIGN_SOURCE,
            lambda: (
                f"a packet from {source} in {vrf} is not believed: "
                f"that is not behind port {port} of {node}"
            ),
        )
        return False

    def _refuse_watch(self, key: FlowKey) -> None:
        places = self._places.nodes(key.vrf, key.src)
        self.refusals.refuse(
            places[0] if places else "",
            key.vrf,
            Reason.NO_ROOM_WATCHED,
            lambda: (
                f"{key} waits for others of its host to be watched before its source is looked for"
            ),
        )

    def _refuse_connection(self, node: str, host: Host) -> None:
        self.refusals.refuse(
            node,
            host.vrf,
            Reason.NO_ROOM_CONNECTIONS,
            lambda: f"connections of {host.address} in {host.vrf} are not followed: too many",
        )

    def _learn_sender(self, key: FlowKey, sender: Sender) -> bool:
        """Use what somebody says about a flow's sender; whether it is news and believed."""
        if not self._senders.learn(key, sender):
            return False
        self._stop_watching(key)
        partner = self._verification.partner(key)
        if partner is not None and partner.dest_qp != sender.source_qp:
            self._part(key)
        self._verification.restated(key)
        places = [flow.node for flow in self._labelled.of(key)]
        if not places:
            located = self._places.nodes(key.vrf, key.src)
            places = [place for place in located if self._edges[place].learning][:1]
        self._events.sender_known(places[0] if places else "", key, sender)
        for place in places:
            self._label(place, key, DEFAULT_P_KEY, sender.origin)
        return True

    def _label(self, node: str, key: FlowKey, p_key: int, origin: Origin) -> None:
        """Label the flow, or update the attributes of a labelled flow."""
        if not self._edges[node].learning:
            return
        sender = self._senders.get(key)
        source_qp = sender.source_qp if sender else None
        comm_ids = sender.comm_ids if sender else None
        timeout = self._config.flows.timeout
        if sender and sender.timeout is not None:
            timeout = sender.timeout
        flow = self._labelled.get(node, key)
        if flow is not None:
            new = replace(
                flow,
                source_qp=source_qp,
                p_key=p_key if flow.p_key == DEFAULT_P_KEY else flow.p_key,
                timeout=timeout,
                origin=sender.origin if sender else flow.origin,
                comm_ids=comm_ids,
                watched=self._is_watched(key),
            )
            if new != flow:
                self._labelled.update(new)
                self._pair_known(key)
            return
        try:
            label, displaced = self._labelled.allocate(node, key)
        except NoLabelError as error:
            why = error.why  # An exception kept by the frame that it names would be a cycle.
            self.refusals.refuse(
                node, key.vrf, Reason.NO_ROOM, lambda: f"{key} stays unlabelled: {why()}"
            )
            return
        for loser in displaced:
            self._release(loser, f"its host has more flows than {key.src}", key.vrf)
        origin = sender.origin if sender else origin
        since = self._clock.wall()
        flow = Flow(key, node, label, timeout, origin, source_qp, p_key, comm_ids, since=since)
        self._keep(flow)
        self._events.labelled(flow)

    def _keep(self, flow: Flow) -> None:
        self._departed.discard(flow.key)
        if flow.source_qp is None:
            self._update_watched(self._watch.add(flow.key) - {flow.key})
            self._verification.new_flow(host_pair(flow.key))
            self._doubt_unpaired(flow.key)
        watched = self._is_watched(flow.key)
        self._labelled.add(flow if flow.watched == watched else replace(flow, watched=watched))
        self._pair_known(flow.key)

    def _end(self, key: FlowKey, reason: End) -> None:
        """The flow has ended, if `reason` may end it."""
        if not self._senders.end(key, reason):
            return
        labelled = self._labelled.of(key)
        if labelled and reason in (End.DISCONNECTED, End.UNSEEN_DISCONNECT):
            self._departed.add(key)
        for flow in labelled:
            self._release(flow, reason.value)

    def _release(self, flow: Flow, reason: str, heir: str | None = None) -> None:
        self._labelled.remove(flow, heir)
        self._events.removed(flow, reason)
        if self._labelled.of(flow.key):
            # It goes on at another PE.
            return
        self._stop_watching(flow.key)
        self._senders.end(flow.key, End.SILENCE)
        self._part(flow.key)

    def _sends_another(self, key: FlowKey, source_qp: int) -> bool:
        """Whether this queue pair is known to send another flow that goes on: on a reliable
        connection it has one peer, so not this one. To another host only if it was stated: what is
        inferred between two hosts, one of them can make up."""
        return any(
            other != key and (other.dst == key.dst or flow.origin in STATED)
            for other in self._senders.of_queue_pair(key.vrf, key.src, source_qp)
            for flow in self._labelled.of(other)
        )

    def _pair(self, pairing: Pairing) -> None:
        """Two flows of unknown source turned out to be the directions of one connection."""
        for key, source_qp in pairing.sources:
            self._learn_sender(key, Sender(source_qp, Origin.INFERRED))
        self._verification.add(pairing)

    def _pair_known(self, key: FlowKey) -> None:
        """Flows that name each other are looked at again like those that were inferred."""
        sender = self._senders.get(key)
        if sender is None or key.src == key.dst:
            return
        partner = FlowKey(key.vrf, key.dst, key.src, sender.source_qp)
        back = self._senders.get(partner)
        if back is None or back.source_qp != key.dest_qp or not self._labelled.of(partner):
            return
        stated = {sender.origin, back.origin} <= STATED
        verification = self._verification
        if verification.partner(key) != partner or verification.is_stated(key) != stated:
            verification.add(Pairing(key, partner, stated=stated))

    def _contradicted(self, pairing: Pairing) -> None:
        """Packets show that two flows are not the directions of one connection."""
        for key, _ in pairing.sources:
            sender = self._senders.get(key)
            if sender is not None and sender.origin is Origin.MANUAL:
                flows = self._labelled.of(key)
                self._events.contradicted(flows[0].node if flows else "", key, sender)
        self._forget(pairing, End.DISPROVED if pairing.stated else End.CONTRADICTED)

    def _forget(self, pairing: Pairing, reason: End) -> None:
        """Two flows are not known to be the directions of one connection any more, nor is that
        connection."""
        for key, source_qp in pairing.sources:
            sender = self._senders.get(key)
            if sender is None:
                continue
            if pairing.stated and sender.comm_ids is not None:
                self._connections.drop(key, source_qp, sender.comm_ids)
            self._doubt(key, reason)
        for key, _ in pairing.sources:
            self._pair_known(key)

    def _learn_from_reverse(self, key: FlowKey, sample: Sample) -> None:
        """On a reliable connection the sender of the flow back is known when that of the flow is:
        a queue pair has one peer, and packets of this kind come from no other."""
        if not sample.of_reliable_connection or key in self._senders:
            return
        found = self._senders.sent_by(key.vrf, key.dst, key.src, key.dest_qp)
        if len(found) != 1 or self._verification.was_refuted(key, found[0]):
            return
        if any(flow.origin in CERTAIN_BOTH_WAYS for flow in self._labelled.of(found[0])):
            self._learn_sender(key, Sender(found[0].dest_qp, Origin.INFERRED))

    def _part(self, key: FlowKey) -> None:
        """The flow has no partner any more; what was inferred of the other is in doubt."""
        partner = self._verification.forget(key)
        if partner is not None:
            self._update_watched({key, partner})
            self._doubt(partner, End.PARTNER_ENDED)

    def _doubt(self, key: FlowKey, reason: End) -> None:
        """Forget the sender of a flow that goes on, if `reason` may end it."""
        if key not in self._senders or not self._senders.end(key, reason):
            return
        flows = self._labelled.of(key)
        self._events.sender_unknown(flows[0].node if flows else "", key, reason.value)
        if flows:
            self._update_watched(self._watch.add(key) - {key})
        for flow in flows:
            watched = self._is_watched(key)
            unknown = replace(
                flow, source_qp=None, origin=Origin.DATA, comm_ids=None, watched=watched
            )
            self._labelled.update(unknown)

    def _doubt_unpaired(self, key: FlowKey) -> None:
        """What was inferred of the flow back, as an entry says, was inferred of this one too."""
        for back in self._senders.sent_by(key.vrf, key.dst, key.src, key.dest_qp):
            if self._verification.partner(back) is None:
                self._doubt(back, End.PARTNER_ENDED)

    def _fully_reported(self, pair: HostPairKey) -> bool:
        """Whether all flows of unknown source between two hosts are watched; and none that is known
        may be the partner of another than its own."""
        return (
            self._watch.complete(pair)
            and self._verification.is_settled(pair)
            and self._reporting.is_complete(pair)
        )

    def _update_watched(self, changed: Iterable[FlowKey]) -> None:
        for key in sorted(changed, key=str):
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
