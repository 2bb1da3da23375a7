"""Flows of the whole network: what is said and seen of them, and what becomes of them (FCN-2 to
FCN-4).

What is known of senders is in `Senders`, `Labelling` gives labels, `Evidence` judges what packets
show; here one follows from the other, and lifecycle.py says what may end. The switch tables are
authoritative for labelled flows: the controller takes over the flows it finds there. Nothing here
accesses tables: a PE is an `Edge`, which installs and removes flows.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf

from fcn.controller.clock import Clock
from fcn.controller.config import Config
from fcn.controller.config.features import Feature
from fcn.controller.events import EventBus
from fcn.controller.flows.announcements import FlowEvents
from fcn.controller.flows.connections import (
    CmMessage,
    ConnectionTracker,
    FlowClosed,
    PeerClosed,
    QueuePairLearned,
    Refused,
)
from fcn.controller.flows.evidence import Evidence
from fcn.controller.flows.flow import DEFAULT_P_KEY, Edge, Flow
from fcn.controller.flows.key import FIRST_DATA_QP, FlowKey
from fcn.controller.flows.labelling import Labelling, LabelPool, NoLabelError
from fcn.controller.flows.lifecycle import DISCONNECTS, OF_EVIDENCE, REFUTATIONS, End, after
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.refusals import RefusalReason, Refusals
from fcn.controller.flows.regions import CmReport, Regions
from fcn.controller.flows.registered import Registered
from fcn.controller.flows.reports import Reports
from fcn.controller.flows.senders import Sender, Senders
from fcn.controller.flows.shares import Host
from fcn.controller.flows.staying import staying
from fcn.controller.flows.trail import SKEW, Sample
from fcn.controller.store import Store


class FlowError(Exception):
    """A request about flows is refused; the message says why and what to do."""


class FlowService:
    """Learns, labels and releases flows. `edges` are all PEs of the network; `rng` draws labels
    (labelling.py)."""

    def __init__(
        self,
        config: Config,
        edges: Mapping[str, Edge],
        bus: EventBus,
        clock: Clock,
        rng: random.Random,
        store: Store | None = None,
    ) -> None:
        self._store = store or Store()
        self._config = config
        self._edges = edges
        self._clock = clock
        now = clock.monotonic
        quarantine = config.flows.label_quarantine / 1e6
        self.labels = LabelPool(quarantine, now, rng, self._store)
        self._labelling = labelling = Labelling(edges, self.labels)
        self.all, self.of_host = labelling.all, labelling.of_host
        self.on_node, self.known_on = labelling.on_node, labelling.known_on
        self._senders = Senders()
        self._connections = ConnectionTracker(now)
        self.refusals = Refusals(bus, now)
        self._reports = Reports(config, edges, self.refusals, now)
        self._evidence = Evidence(
            now,
            config.flows.watched,
            self._senders,
            self._labelling,
            self._reports,
            self.refusals,
        )
        self.regions = Regions(self._reports, self._connections)
        self.known_key = self._senders.known
        self._events = FlowEvents(bus)
        self._registered = Registered(self._store, self._senders)
        self._unlabelled: set[FlowKey] = set()
        """Registered before the controller was started, or without a place in a configuration, and
        not labelled since."""
        self._know_registered(config.vrfs)

    def _know_registered(self, vrfs: Iterable[str]) -> None:
        for vrf in vrfs:
            for key, sender in self._registered.flows(vrf):
                if self._senders.restore(key, sender):
                    self._unlabelled.add(key)

    def recall(self) -> None:
        """Registered flows and resting labels are those of the store, in which there may be others;
        nothing is labelled yet."""
        for key in self._unlabelled:
            self._senders.forget(key)
        self._unlabelled.clear()
        self._know_registered(self._config.vrfs)
        self.labels.recall()

    def under(
        self, node: str, config: Config, edges: Mapping[str, Edge]
    ) -> Iterator[tuple[Flow, Flow | None]]:
        """Labelled flows of a PE, and as what they stay under another configuration, whose PEs are
        `edges`: those that enter the WAN there, where it labels flows. Others may have their turn
        in between."""
        stays = staying(config, edges)
        for key in list(self._labelling.on_node(node)):
            if flow := self._labelling.get(node, key):
                yield flow, self._under(config, flow) if stays(flow) else None

    def _under(self, config: Config, flow: Flow) -> Flow:
        sender = self._senders.get(flow.key)
        timeout = sender.timeout if sender else None
        if timeout is None:
            timeout = config.flows.timeout
        return flow if flow.timeout == timeout else replace(flow, timeout=timeout)

    def move_to(self, config: Config, edges: Mapping[str, Edge]) -> None:
        """Another configuration: flows that do not stay under it end. `restated` has to follow for
        the PEs that are others."""
        stays = staying(config, edges)
        for flow in self._labelling.all():
            if not stays(flow):
                self._end(flow.key, End.SILENCE, at=flow, why="it is not of the new configuration")
                if flow.origin is Origin.MANUAL:
                    self._unlabelled.add(flow.key)
        new = config.vrfs.keys() - self._config.vrfs.keys()
        self._config, self._edges = config, edges
        self.labels.rest_for(config.flows.label_quarantine / 1e6)
        self._labelling.move_to(edges)
        self._reports.move_to(config, edges)
        self._know_registered(new)

    def forget_tenant(self, vrf: str) -> None:
        """A VRF is gone for good: another customer's may have its name later."""
        self._connections.forget_tenant(vrf)
        self._senders.forget_tenant(vrf)

    def restated(self, node: str) -> Iterator[tuple[Flow, Flow]]:
        """Flows of a PE that was replaced, whose switch is to be read: as they were, and as they
        are now. Others may have their turn in between."""
        for flow, new in self.under(node, self._config, self._edges):
            if new is not None:
                self._labelling.restate(new)
                yield flow, new

    def places(self, key: FlowKey) -> list[str]:
        """The PEs that a flow enters the WAN at."""
        return self._reports.nodes(key.vrf, key.src)

    def waiting(self) -> list[tuple[FlowKey, int, Origin]]:
        """Flows with a known sender and without a label: (flow, source QP, origin)."""
        live = {flow.key for flow in self._labelling.all()}
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
        sent: float = inf,
    ) -> None:
        """A PE reports a packet, from this port, of a flow that is not labelled, or that is
        watched. `sent`: when, by the clock; one that is late by more than SKEW is no evidence, as
        inference compares what two PEs see at a time."""
        if not self._reports.believes(node, port, key.vrf, key.src):
            return
        now = self._clock.monotonic()
        if self._reports.are_old(key, min(sent, now)):
            return
        self._label(node, key, p_key)
        if sample is None:
            return
        if now > sent + SKEW:
            self._evidence.verification.missed(key)
            self.refusals.refuse(
                node,
                key.vrf,
                RefusalReason.LATE,
                lambda: f"reports of {node} have to wait, so they are no evidence of senders",
            )
            return
        source_qp = self._evidence.observe(key, sample)
        if source_qp is not None:
            self._learn(key, Sender(source_qp, Origin.INFERRED))

    def connection_message(self, node: str, port: int, message: CmMessage) -> None:
        """A PE, of this region or of another, reports a message of the connection manager, from
        this port."""
        if not self._reports.believes(node, port, message.vrf, message.src):
            return
        if node in self._edges:
            self.regions.tell(CmReport(node, port, message))
        self._events.connection_message(node, message)
        for event in self._connections.handle(message):
            match event:
                case QueuePairLearned(flow, source_qp, comm_ids):
                    if self.places(flow):
                        self._learn(flow, Sender(source_qp, Origin.CM, comm_ids=comm_ids))
                case FlowClosed(flow, unseen):
                    if unseen:
                        self._evidence.verification.replaced(flow)
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
        for pairing in self._evidence.concluded():
            for key, source_qp in pairing.sources:
                self._learn(key, Sender(source_qp, Origin.INFERRED))
            self._evidence.verification.add(pairing)
        for pairing, reason in self._evidence.refuted():
            for key, _ in pairing.sources:
                self._end(key, reason)
            for key, _ in pairing.sources:
                self._evidence.pair_known(key)
        self._evidence.take_turns()

    def reported(self, key: FlowKey, source_qp: int) -> bool:
        """A host agent reports the sender of a flow; returns whether it was accepted as new."""
        partner = FlowKey(key.vrf, key.dst, key.src, source_qp)
        if self._evidence.verification.was_refuted(key, partner):
            return False
        return self._learn(key, Sender(source_qp, Origin.AGENT))

    def idle(self, node: str, key: FlowKey) -> None:
        """A PE reports a flow as idle (FCN-4): release its label. Whether its sender is forgotten
        depends on its origin (lifecycle.py)."""
        flow = self._labelling.get(node, key)
        if flow is not None and flow.timeout:
            self._end(key, End.SILENCE, at=flow)

    def add(self, key: FlowKey, source_qp: int, timeout: int | None = None) -> Flow:
        """Register a flow manually (FCN-3 a). Raises FlowError, StoreError.

        `timeout`: microseconds without a packet after which the label is released (0: never; None:
        as configured). The registration itself is kept until `delete`, also over restarts.
        """
        self.check(key, source_qp)
        sender = Sender(source_qp, Origin.MANUAL, timeout)
        self.register([(key, sender)])
        return self.use(key, sender)

    def check(self, key: FlowKey, source_qp: int) -> None:
        """Whether a flow can be registered. Raises FlowError."""
        if key.vrf not in self._config.vrfs:
            known = ", ".join(self._config.vrfs) or "none"
            raise FlowError(f"there is no VRF {key.vrf}; configured are: {known}")
        if key.src.version != key.dst.version:
            raise FlowError("source and destination are of different IP versions")
        for name, value in (("destination", key.dest_qp), ("source", source_qp)):
            if not FIRST_DATA_QP <= value < 1 << 24:
                raise FlowError(f"{name} QP {value} is out of range; data QPs are 2 to 0xffffff")
        places = self._reports.nodes(key.vrf, key.src)
        if not places:
            if regions := self._reports.regions(key.vrf, key.src):
                raise FlowError(f"{key.src} is of region {regions[0]}; ask a controller of that")
            raise FlowError(
                f"{key.src} is behind no DC port of VRF {key.vrf}; "
                "check the addresses and routes in the configuration"
            )
        if not any(self._edges[place].learning for place in places):
            raise FlowError(
                f"{Feature.LEARNING} is off on {', '.join(places)}; "
                f"run `fcn feature enable {places[0]} {Feature.LEARNING}`"
            )

    def register(self, flows: Sequence[tuple[FlowKey, Sender]]) -> None:
        """Keep flows that were checked; `use` has to follow for each. Raises StoreError."""
        self._registered.add(flows)

    def use(self, key: FlowKey, sender: Sender) -> Flow:
        """A flow was registered. Raises FlowError where it has no label all the same."""
        self._learn(key, sender)
        places = self._reports.nodes(key.vrf, key.src)
        for place in places:
            flow = self._labelling.get(place, key)
            if flow is not None:
                return flow
        where = places[0] if places else key.vrf
        raise FlowError(f"{where} has no room for the flow; see `fcn events` and `fcn status`")

    def delete(self, key: FlowKey) -> None:
        """Delete a flow and its sender. Raises FlowError when it is not known, StoreError."""
        if key not in self._senders and not self._labelling.of(key):
            raise FlowError(f"there is no flow {key}; `fcn flows list` shows all")
        self._registered.remove(key)
        self._unlabelled.discard(key)
        self._end(key, End.BY_HAND)

    def release_node(self, node: str, reason: str) -> None:
        for flow in list(self._labelling.on_node(node).values()):
            self._end(flow.key, End.SILENCE, at=flow, why=reason)

    def adopt(self, node: str, found: Iterable[Flow]) -> Iterator[bool]:
        """Take over flows read back from a PE's tables, except those of hosts that are elsewhere,
        and install those it does not have; one a step, so that others may have their turn. A step
        says whether all that was found is taken over: from then on may be written.

        What is known by then stands: the entry may be older."""
        restored, edge = 0, self._edges[node]
        missing = set(self._labelling.on_node(node))
        for flow in self._registered.believed(node, found):
            key = flow.key
            if known := self._labelling.get(node, key):
                if key in missing:
                    missing.remove(key)
                    edge.install(flow if flow == known else known)
            elif edge.learning and self._reports.port(node, key.vrf, key.src) is not None:
                self._restore_sender(flow)
                if self.labels.claim(flow.label):
                    self._add(self._as_known(flow))
                else:
                    self._label(node, key, flow.p_key, flow.origin)
                restored += 1
            yield False
        if restored:
            self._events.restored(node, restored)
        yield True
        for key in missing:
            if lost := self._labelling.get(node, key):
                edge.install(lost)
                yield True
        yield from self._label_registered(node)

    def _label_registered(self, node: str) -> Iterator[bool]:
        """As when they were registered: the switch may have started anew with the controller."""
        for key in list(self._unlabelled):
            places = self._reports.nodes(key.vrf, key.src)
            if self._labelling.of(key):
                self._unlabelled.remove(key)
            elif node in [place for place in places if self._edges[place].learning][:1]:
                self._unlabelled.remove(key)
                self._label(node, key)
                yield True

    def _restore_sender(self, flow: Flow) -> None:
        if flow.source_qp is None or (not flow.comm_ids and flow.key in self._senders):
            return
        origin, comm_ids = flow.origin, flow.comm_ids
        if comm_ids and not self._connections.restore(flow.key, flow.source_qp, comm_ids):
            # No disconnect would end it.
            origin, comm_ids = Origin.RESTORED, None
        timeout = flow.timeout if origin is Origin.MANUAL else None
        sender = Sender(flow.source_qp, origin, timeout, comm_ids)
        if not self._labelling.of(flow.key):
            self._senders.restore(flow.key, sender)
        elif flow.key not in self._senders:
            # Another PE of the host labels the flow too.
            self._learn(flow.key, sender)

    def _learn(self, key: FlowKey, sender: Sender) -> bool:
        """Use what somebody says about a flow's sender; whether it is news and believed."""
        if not self._senders.learn(key, sender):
            return False
        for back in self._evidence.stated(key, sender.source_qp):
            self._end(back, End.PARTNER_ENDED)
        places = [flow.node for flow in self._labelling.of(key)]
        if not places:
            located = self._reports.nodes(key.vrf, key.src)
            places = [place for place in located if self._edges[place].learning][:1]
        self._events.sender_known(places[0] if places else "", key, sender)
        for place in places:
            self._label(place, key)
        return True

    def _end(
        self,
        key: FlowKey,
        reason: End,
        *,
        at: Flow | None = None,
        why: str = "",
        successor: str | None = None,
    ) -> None:
        """This happened to a flow: what it ends of label and sender ends (lifecycle.py). `at`: the
        only PE that is concerned; `why`: what an event says of it; `successor`: see
        `Edge.remove`."""
        flows, sender = self._labelling.of(key), self._senders.get(key)
        if at is not None and len(flows) > 1:
            # It goes on at another PE.
            self._unlabel(at, why or reason.value, successor)
            return
        state = after(bool(flows), sender.origin if sender else None, reason)
        labelled, known = state.value
        if sender is not None and not known:
            self._senders.forget(key)
            if reason in OF_EVIDENCE:
                if sender.comm_ids is not None and reason is not End.PARTNER_ENDED:
                    self._connections.drop(key, sender.source_qp, sender.comm_ids)
                node = flows[0].node if flows else ""
                self._events.sender_unknown(node, key, reason.value)
        elif sender is not None and sender.origin is Origin.MANUAL and reason in REFUTATIONS:
            self._events.contradicted(flows[0].node if flows else "", key, sender)
        if flows and not labelled:
            if reason in DISCONNECTS:
                self._reports.departed(key)
            for flow in flows:
                self._unlabel(flow, why or reason.value, successor)
            for back in self._evidence.ended(key):
                self._end(back, End.PARTNER_ENDED)
        elif flows and sender is not None and not known:
            for flow in flows:
                unknown = replace(flow, source_qp=None, origin=Origin.DATA, comm_ids=None)
                self._labelling.update(unknown)
            self._evidence.unknown(key)

    def _unlabel(self, flow: Flow, why: str, successor: str | None) -> None:
        self._labelling.remove(flow, successor)
        self._events.removed(flow, why)

    def _label(
        self, node: str, key: FlowKey, p_key: int = DEFAULT_P_KEY, origin: Origin = Origin.DATA
    ) -> None:
        """Label the flow, or update the attributes of a labelled flow."""
        if not self._edges[node].learning:
            return
        flow, sender = self._labelling.get(node, key), self._senders.get(key)
        timeout = sender.timeout if sender else None
        if timeout is None:
            timeout = self._config.flows.timeout
        if flow is not None:
            p_key = p_key if flow.p_key == DEFAULT_P_KEY else flow.p_key
            watched = self._evidence.is_sampled(node, key)
            new = self._as_known(replace(flow, p_key=p_key, timeout=timeout, watched=watched))
            if new != flow:
                self._labelling.update(new)
                self._evidence.pair_known(key)
            return
        try:
            known = sender is not None
            label, displaced = self._labelling.allocate(node, key, known=known)
        except NoLabelError as error:
            why = error.why  # An exception kept by the frame that it names would be a cycle.
            self.refusals.refuse(
                node, key.vrf, RefusalReason.NO_ROOM, lambda: f"{key} stays unlabelled: {why()}"
            )
            return
        for loser in displaced:
            text = f"its host has more flows than {key.src}, or its sender is not known"
            self._end(loser.key, End.SILENCE, at=loser, why=text, successor=key.vrf)
        since = self._clock.dated()
        flow = Flow(key, node, label, timeout, origin, p_key=p_key, since=since)
        flow = self._as_known(flow)
        self._add(flow)
        self._events.labelled(flow)

    def _as_known(self, flow: Flow) -> Flow:
        sender = self._senders.get(flow.key)
        if sender is None:
            return flow
        known = flow.source_qp, flow.origin, flow.comm_ids
        if known == (sender.source_qp, sender.origin, sender.comm_ids):
            return flow
        return replace(
            flow, source_qp=sender.source_qp, origin=sender.origin, comm_ids=sender.comm_ids
        )

    def _add(self, flow: Flow) -> None:
        """A flow has a label: first the PE's entries, then what may follow from it."""
        self._reports.goes_on(flow.key)
        self._unlabelled.discard(flow.key)
        self._labelling.add(flow)
        for back in self._evidence.labelled(flow.key):
            self._end(back, End.PARTNER_ENDED)
        self._evidence.pair_known(flow.key)

    def _refuse_connection(self, node: str, host: Host) -> None:
        self.refusals.refuse(
            node,
            host.vrf,
            RefusalReason.NO_ROOM_CONNECTIONS,
            lambda: f"connections of {host.address} in {host.vrf} are not followed: too many",
        )
