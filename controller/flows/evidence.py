"""What packets say of the senders of flows (FCN-3 b): which flows are watched for it, which turn
out to be the two directions of a connection, and which cannot be any more."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from fcn.controller.flows.inference import Inference, Pairing
from fcn.controller.flows.key import FlowKey, HostPairKey, host_pair
from fcn.controller.flows.labelling import Labelling
from fcn.controller.flows.lifecycle import STATED, End
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.refusals import RefusalReason, Refusals
from fcn.controller.flows.reports import Reports
from fcn.controller.flows.senders import Senders
from fcn.controller.flows.trail import Sample
from fcn.controller.flows.verification import Verification
from fcn.controller.flows.watch import WatchList

VERIFIED_SHARE = 8
"""One in so many watched flows is one whose source is known, to be looked at again."""

CERTAIN_BOTH_WAYS = frozenset({Origin.MANUAL, Origin.AGENT})
"""Origins that state one direction of a connection only, of a queue pair known to them."""


class Evidence:
    """Reads what is known of senders, and leaves it to others to change that. `clock` returns
    seconds and never goes back; `watched`: flows watched at a time, at most."""

    def __init__(
        self,
        clock: Callable[[], float],
        watched: int,
        senders: Senders,
        labelling: Labelling,
        reports: Reports,
        refusals: Refusals,
    ) -> None:
        self._senders = senders
        self._labelling = labelling
        self._reports = reports
        self._refusals = refusals
        verified = watched // VERIFIED_SHARE
        self._watch = WatchList(clock, watched - verified, self._refuse_watch)
        self.verification = Verification(clock, verified, reports.heard_for)
        """The pairs of flows that are taken for the two directions of a connection."""
        self._inference = Inference(clock, self._fully_reported)

    def __len__(self) -> int:
        """Flows watched now."""
        return len(self._watch) + len(self.verification)

    def is_watched(self, key: FlowKey) -> bool:
        """Whether it is the flow's turn."""
        return key in self._watch or key in self.verification

    def is_sampled(self, node: str, key: FlowKey) -> bool:
        """Whether a PE is to report packets of the flow."""
        return self.is_watched(key) and self._reports.are_prompt(node, key.vrf)

    def observe(self, key: FlowKey, sample: Sample) -> int | None:
        """A packet of a watched flow; its source queue pair, if that follows from who sends the
        flow back."""
        self.verification.observe(key, sample)
        if key not in self._watch:
            return None
        self._inference.observe(key, sample)
        return self._source_by_reverse(key, sample)

    def unknown(self, key: FlowKey) -> None:
        """Nobody knows who sends a labelled flow: it is watched when its turn comes."""
        self._update_watched(self._watch.add(key) | {key})

    def labelled(self, key: FlowKey) -> list[FlowKey]:
        """The flow has a label that it had not before. Returns those whose sender was inferred with
        this one's, as a switch's entry says, which is not known now."""
        if key in self._senders:
            if self.is_watched(key) or any(flow.watched for flow in self._labelling.of(key)):
                self._update_watched({key})
            return []
        self.unknown(key)
        self.verification.new_flow(host_pair(key))
        backs = self._senders.sent_by(key.vrf, key.dst, key.src, key.dest_qp)
        return [back for back in backs if self.verification.partner(back) is None]

    def stated(self, key: FlowKey, source_qp: int) -> list[FlowKey]:
        """Somebody says who sends the flow, so that it need not be found out. Returns the flow it
        was paired with, if that is not its reverse flow then."""
        self._stop_watching(key)
        partner = self.verification.partner(key)
        if partner is not None and partner.dest_qp != source_qp:
            return self._part(key)
        self.verification.restated(key)
        return []

    def ended(self, key: FlowKey) -> list[FlowKey]:
        """The flow has no label any more. Returns the flow it was paired with."""
        self._stop_watching(key)
        return self._part(key)

    def pair_known(self, key: FlowKey) -> None:
        """Flows that name each other are looked at again like those that were inferred."""
        sender = self._senders.get(key)
        if sender is None or key.src is key.dst or key.src == key.dst:
            return
        partner = FlowKey(key.vrf, key.dst, key.src, sender.source_qp)
        back = self._senders.get(partner)
        if back is None or back.source_qp != key.dest_qp or not self._labelling.of(partner):
            return
        stated = {sender.origin, back.origin} <= STATED
        pairs = self.verification
        if pairs.partner(key) != partner or pairs.is_stated(key) != stated:
            pairs.add(Pairing(key, partner, stated=stated))
            # A check of it as what it was before has ended.
            self._update_watched({key, partner})

    def concluded(self) -> Iterator[Pairing]:
        """Flows of unknown source that turn out to be the directions of one connection, as far as
        those before them are known to be."""
        for pairing in self._inference.conclude():
            if not any(self._sends_another(*each) for each in pairing.sources):
                yield pairing

    def refuted(self) -> list[tuple[Pairing, End]]:
        """Look again at what is known: what is not the two directions of one connection, or may not
        be, and how that ends what is known of it."""
        changed, refuted, uncertain = self.verification.advance()
        self._update_watched(changed)
        ends = [(each, End.DISPROVED if each.stated else End.CONTRADICTED) for each in refuted]
        return ends + [(each, End.UNCERTAIN) for each in uncertain]

    def take_turns(self) -> None:
        """Let others be watched, and none where reports are late."""
        self._update_watched(self._watch.advance())
        turns = (*self._watch, *self.verification)
        self._update_watched([key for key in turns if self._is_outdated(key)])

    def _source_by_reverse(self, key: FlowKey, sample: Sample) -> int | None:
        """On a reliable connection the sender of the flow back is known when that of the flow is:
        a queue pair has one peer, and packets of this kind come from no other."""
        if not sample.of_reliable_connection or key in self._senders:
            return None
        found = self._senders.sent_by(key.vrf, key.dst, key.src, key.dest_qp)
        if len(found) != 1 or self.verification.was_refuted(key, found[0]):
            return None
        certain = any(flow.origin in CERTAIN_BOTH_WAYS for flow in self._labelling.of(found[0]))
        return found[0].dest_qp if certain else None

    def _sends_another(self, key: FlowKey, source_qp: int) -> bool:
        """Whether this queue pair is known to send another flow that goes on: on a reliable
        connection it has one peer, so not this one. To another host only if it was stated: what is
        inferred between two hosts, one of them can make up."""
        return any(
            other != key and (other.dst == key.dst or flow.origin in STATED)
            for other in self._senders.of_queue_pair(key.vrf, key.src, source_qp)
            for flow in self._labelling.of(other)
        )

    def _fully_reported(self, pair: HostPairKey) -> bool:
        """Whether all flows of unknown source between two hosts are watched; and none that is known
        may be the partner of another than its own."""
        return (
            self._watch.complete(pair)
            and self.verification.is_settled(pair)
            and self._reports.are_complete(pair)
        )

    def _part(self, key: FlowKey) -> list[FlowKey]:
        """The flow is not paired any more; returns the one it was paired with."""
        partner = self.verification.forget(key)
        if partner is None:
            return []
        self._update_watched({key, partner})
        return [partner]

    def _stop_watching(self, key: FlowKey) -> None:
        self._watch.remove(key)
        self._inference.forget(key)

    def _is_outdated(self, key: FlowKey) -> bool:
        """Whether a PE samples the flow and is not to, or the other way round."""
        return any(
            flow.watched != self.is_sampled(flow.node, key) for flow in self._labelling.of(key)
        )

    def _update_watched(self, changed: Collection[FlowKey]) -> None:
        for key in sorted(changed, key=str) if len(changed) > 1 else changed:
            if key not in self._watch:
                self._inference.forget(key)
            for flow in self._labelling.of(key):
                watched = self.is_sampled(flow.node, key)
                if flow.watched != watched:
                    self._labelling.update(replace(flow, watched=watched))

    def _refuse_watch(self, key: FlowKey) -> None:
        places = self._reports.nodes(key.vrf, key.src)
        self._refusals.refuse(
            places[0] if places else "",
            key.vrf,
            RefusalReason.NO_ROOM_WATCHED,
            lambda: (
                f"{key} waits for others of its host to be watched before its source is looked for"
            ),
        )
