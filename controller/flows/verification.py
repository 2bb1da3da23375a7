"""Looks again at pairings of flows that are taken for the two directions of a connection (FCN-3 b).

Queue pair numbers are used again. What was concluded once stays true only while the same two queue
pairs are connected; so every pairing is looked at again in turn, a few at a time, and evidence
against it ends it. Flows are watched for this as for inference: reports cost the control plane
(FCN-15: bounded).
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from fcn.controller.flows.inference import (
    JUDGED_AFTER,
    Evidence,
    HostPairKey,
    Pairing,
    host_pair,
)
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.trail import Sample, Trail

CHECK = 10.0
"""Seconds a pairing is watched for, at most."""

REST = 60.0
"""Seconds until it is watched again: about as long as a flow that fell silent keeps its mapping."""

SHORT_REST = 10.0
"""The same when a new flow appears between the two hosts: it may have a queue pair of old."""


class _Check:
    """What is seen of one pairing while it is watched."""

    def __init__(self, pairing: Pairing, now: float) -> None:
        self.pairing = pairing
        self.until = now + CHECK
        self._trails = {
            flow: Trail(flow, now, pairing.port or 0) for flow in (pairing.forth, pairing.back)
        }
        self._evidence = Evidence()
        self._port_changed = False

    def observe(self, flow: FlowKey, now: float, sample: Sample) -> None:
        if self.pairing.port not in (None, sample.udp_source_port):
            self._port_changed = True
        self._trails[flow].record(now, sample)

    def judge(self, until: float) -> None:
        forth, back = self._trails.values()
        for asked, answers in ((forth, back), (back, forth)):
            for when, psn in answers.ripe(until):
                verdict, distance = asked.judge(answers, when, psn)
                self._evidence.weigh(verdict, psn, distance)

    @property
    def confirmed(self) -> bool:
        return self._evidence.shown

    @property
    def refuted(self) -> bool:
        return self._port_changed or self._evidence.refuted


@dataclass(slots=True)
class _Resting:
    pairing: Pairing
    since: float


class Verification:
    """Pairings, some of them watched. `clock` returns seconds and never goes back; at most `slots`
    flows are watched at a time."""

    def __init__(self, clock: Callable[[], float], slots: int) -> None:
        self._clock = clock
        self._slots = slots
        self._resting: OrderedDict[FlowKey, _Resting] = OrderedDict()
        """By flow forth, the one that rests for longest first."""
        self._checked: dict[FlowKey, _Check] = {}
        self._pairings: dict[FlowKey, Pairing] = {}
        """By either flow."""
        self._between: dict[HostPairKey, set[FlowKey]] = {}
        self._refuted: dict[FlowKey, FlowKey] = {}

    def __contains__(self, flow: FlowKey) -> bool:
        """Whether the flow is watched now."""
        pairing = self._pairings.get(flow)
        return pairing is not None and pairing.forth in self._checked

    def __len__(self) -> int:
        """Flows watched now, never more than the slots."""
        return 2 * len(self._checked)

    def partner(self, flow: FlowKey) -> FlowKey | None:
        """The flow back, as far as it is taken for that."""
        pairing = self._pairings.get(flow)
        if pairing is None:
            return None
        return pairing.back if flow == pairing.forth else pairing.forth

    def was_refuted(self, flow: FlowKey, partner: FlowKey) -> bool:
        """Whether evidence spoke against this pairing, while both flows were there."""
        return self._refuted.get(flow) == partner

    def add(self, pairing: Pairing) -> None:
        """Two flows are taken for the directions of a connection from now on."""
        for flow in (pairing.forth, pairing.back):
            self.forget(flow)
            self._pairings[flow] = pairing
        self._resting[pairing.forth] = _Resting(pairing, self._clock())
        self._between.setdefault(host_pair(pairing.forth), set()).add(pairing.forth)

    def forget(self, flow: FlowKey) -> FlowKey | None:
        """The flow has no partner any more; returns the one it had."""
        self._refuted.pop(self._refuted.pop(flow, flow), None)
        partner = self.partner(flow)
        if partner is None:
            return None
        forth = self._pairings[flow].forth
        del self._pairings[flow], self._pairings[partner]
        self._resting.pop(forth, None)
        self._checked.pop(forth, None)
        hosts = host_pair(forth)
        self._between[hosts].discard(forth)
        if not self._between[hosts]:
            del self._between[hosts]
        return partner

    def observe(self, flow: FlowKey, sample: Sample) -> None:
        """A packet of a flow; only of watched ones it matters, and only of reliable connections."""
        if flow in self and sample.of_reliable_connection:
            check = self._checked[self._pairings[flow].forth]
            check.observe(flow, self._clock(), sample)

    def new_flow(self, hosts: HostPairKey) -> None:
        """A flow of unknown source appeared between two hosts: their pairings are next."""
        latest = self._clock() - SHORT_REST
        for forth in self._between.get(hosts, ()):
            resting = self._resting.get(forth)
            if resting is not None and resting.since <= latest:
                resting.since = self._clock() - REST
                self._resting.move_to_end(forth, last=False)

    def advance(self) -> tuple[set[FlowKey], list[Pairing]]:
        """Weigh what was seen and let others have their turn: the flows this made watched or
        unwatched, and the pairings evidence speaks against, which are forgotten."""
        now = self._clock()
        changed: set[FlowKey] = set()
        refuted = []
        for forth, check in list(self._checked.items()):
            check.judge(now - JUDGED_AFTER)
            if check.refuted:
                refuted.append(check.pairing)
                self.forget(forth)
                back = check.pairing.back
                self._refuted |= {forth: back, back: forth}
            elif check.confirmed or check.until <= now:
                del self._checked[forth]
                self._resting[forth] = _Resting(check.pairing, now)
            else:
                continue
            changed |= {forth, check.pairing.back}
        while len(self) + 2 <= self._slots and self._resting:
            forth, resting = next(iter(self._resting.items()))
            if resting.since > now - REST:
                break
            del self._resting[forth]
            self._checked[forth] = _Check(resting.pairing, now)
            changed |= {forth, resting.pairing.back}
        return changed, refuted
