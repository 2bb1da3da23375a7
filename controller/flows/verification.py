"""Looks again at pairings of flows that are taken for the two directions of a connection (FCN-3 b).

Queue pair numbers are used again. What was concluded once, or stated by hosts that did not say its
end, stays true only while the same two queue pairs are connected; so every pairing is looked at
again in turn, a few at a time, and evidence against it ends it. Flows are watched for this as for
inference: reports cost the control plane (FCN-15: bounded). VRFs and their hosts have fair shares
(turns.py), so that none waits for the connections of another.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from math import inf

from fcn.controller.flows.checks import NOTHING_SEEN, Check, Seen, StatedCheck
from fcn.controller.flows.continuity import Continuity, Pause, Progress
from fcn.controller.flows.inference import JUDGED_AFTER, Pairing
from fcn.controller.flows.key import FlowKey, HostPairKey, host_pair
from fcn.controller.flows.shares import host_of
from fcn.controller.flows.trail import Sample
from fcn.controller.flows.turns import Turns

UNSEEN = 60.0
"""Seconds after which a mapping that nothing confirmed may have been wrong for: about as long as a
flow that fell silent keeps it."""

HURRY_INTERVAL = 1.0
"""Seconds between searches for pairings that are to be first."""

HURRIED = 64
"""Pairs of hosts between which they are searched at a time: it must not keep others waiting."""

RECENT = 10.0
"""Seconds since the latest look for which such a pairing need not be first."""


@dataclass(slots=True)
class _Entry:
    """A pairing that was made at `made`, and waits since `since` or is watched. `shown`: when the
    latest look that confirmed it began; `suspected`: when a look spoke against it, and none for it
    since; `doubted`: another one between the hosts ended, so that this has to be confirmed."""

    pairing: Pairing
    made: float
    since: float
    shown: float | None = None
    suspected: float | None = None
    doubted: bool = False
    seen: Seen = NOTHING_SEEN
    progress: Progress = field(init=False)
    weighed: Pause | None = None
    """The latest pause that was weighed; `excused`: the latest after which its port followed from
    the queue pairs, which says more than PSNs."""
    excused: Pause | None = None
    kept_port: bool = False
    """Whether its port followed from the queue pairs in an earlier look."""

    def __post_init__(self) -> None:
        forth, back, _, stated = self.pairing
        self.progress = Progress(forth, back, self.made, active=not stated)

    def is_uncertain(self, check: Check) -> bool:
        """Whether a look leaves open that packets are of another connection: PSNs went back, the
        port does not follow from the queue pairs any more, or it had to be confirmed and is not."""
        if check.keeps_own_port or check.is_silent:
            return False
        doubtful = self.doubted and not check.confirmed
        return self.progress.went_back or doubtful or (self.kept_port and check.has_other_port)

    @property
    def open_pause(self) -> Pause | None:
        """A pause that ended, and after which it is not known yet whether the flows go on."""
        pause = self.progress.pause
        return None if pause is self.weighed else pause

    def check(self, now: float) -> Check:
        """Look again."""
        self.progress.look_begins(now)
        if self.pairing.stated:
            return StatedCheck(self.pairing, now, self.seen)
        return Check(self.pairing, now)


def _doubt_with(ended: _Entry, now: float) -> tuple[float, float]:
    """Which pairings may have ended when this one did: made until then, and not confirmed since."""
    against = now if ended.suspected is None else ended.suspected
    latest = min(against, ended.made + UNSEEN) if ended.shown is None else ended.shown
    return latest, against


def _paused_too(entry: _Entry, pause: Pause) -> bool:
    """Whether its latest pause was weighed by PSNs alone, and was then."""
    weighed = entry.weighed
    return weighed is not None and weighed is not entry.excused and weighed.overlaps(pause)


class Verification:
    """Pairings, some of them watched. `clock` returns seconds and never goes back; at most `slots`
    flows are watched at a time. `heard_for`: seconds since when all packets of watched flows
    between two hosts are reported, as far as that is known; 0 while they are not."""

    def __init__(
        self,
        clock: Callable[[], float],
        slots: int,
        heard_for: Callable[[HostPairKey], float] = lambda _hosts: inf,
    ) -> None:
        self._clock = clock
        self._slots = slots
        self._heard_for = heard_for
        self._entries: dict[FlowKey, _Entry] = {}
        """By either flow."""
        self._turns: Turns[FlowKey] = Turns()
        """By flow forth, all: those that are watched have a place, the others wait for one."""
        self._checked: dict[FlowKey, Check] = {}
        """By flow forth."""
        self._between: dict[HostPairKey, dict[FlowKey, None]] = {}
        """By flow forth, the one whose latest look is longest ago first."""
        self._hurried: dict[HostPairKey, None] = {}
        self._next_hurry = 0.0
        self._refuted: dict[FlowKey, FlowKey] = {}
        self._unsettled: dict[HostPairKey, dict[FlowKey, None]] = {}
        """By flow forth, doubted ones that were not looked at since."""
        self._replaced: dict[HostPairKey, tuple[float, float]] = {}
        """Pairs of hosts of which pairings are to be doubted: as `_doubt` has it."""
        self._broken: dict[HostPairKey, Pause] = {}
        """The latest pause after which a pairing did not go on."""

    def __contains__(self, flow: FlowKey) -> bool:
        """Whether the flow is watched now."""
        entry = self._entries.get(flow)
        return entry is not None and entry.pairing.forth in self._checked

    def __len__(self) -> int:
        """Flows watched now, never more than the slots."""
        return 2 * len(self._checked)

    def partner(self, flow: FlowKey) -> FlowKey | None:
        """The flow back, as far as it is taken for that."""
        entry = self._entries.get(flow)
        if entry is None:
            return None
        return entry.pairing.back if flow == entry.pairing.forth else entry.pairing.forth

    def is_stated(self, flow: FlowKey) -> bool:
        """Whether the flow's partner was stated."""
        entry = self._entries.get(flow)
        return entry is not None and entry.pairing.stated

    def was_refuted(self, flow: FlowKey, partner: FlowKey) -> bool:
        """Whether evidence spoke against this pairing, while both flows were there."""
        return self._refuted.get(flow) == partner

    def is_settled(self, hosts: HostPairKey) -> bool:
        """Whether no pairing between two hosts waits to be looked at because another ended."""
        return hosts not in self._unsettled and hosts not in self._replaced

    def add(self, pairing: Pairing) -> None:
        """Two different flows are taken for the directions of a connection from now on."""
        now = self._clock()
        entry = _Entry(pairing, now, now)
        for flow in (pairing.forth, pairing.back):
            self.forget(flow)
            self._entries[flow] = entry
        self._wait(pairing.forth)
        self._between.setdefault(host_pair(pairing.forth), {})[pairing.forth] = None

    def forget(self, flow: FlowKey) -> FlowKey | None:
        """The flow has no partner any more; returns the one it had."""
        self._refuted.pop(self._refuted.pop(flow, flow), None)
        partner = self.partner(flow)
        if partner is None:
            return None
        forth = self._entries[flow].pairing.forth
        del self._entries[flow], self._entries[partner]
        self._turns.leave(forth)
        self._checked.pop(forth, None)
        self._settle(forth)
        hosts = host_pair(forth)
        del self._between[hosts][forth]
        if not self._between[hosts]:
            del self._between[hosts]
            self._hurried.pop(hosts, None)
            self._replaced.pop(hosts, None)
            self._broken.pop(hosts, None)
        return partner

    def observe(self, flow: FlowKey, sample: Sample) -> None:
        """A packet of a flow; only of watched ones it matters, and only of reliable connections."""
        if flow in self and sample.of_reliable_connection:
            entry, now = self._entries[flow], self._clock()
            self._checked[entry.pairing.forth].observe(flow, now, sample)
            entry.progress.observe(flow, now, sample)

    def missed(self, flow: FlowKey) -> None:
        """Of the packets of a flow some were reported too late to be evidence: it did not pause."""
        if flow in self:
            self._entries[flow].progress.missed(self._clock())

    def new_flow(self, hosts: HostPairKey) -> None:
        """A flow of unknown source appeared between two hosts: their pairings are next."""
        if hosts in self._between:
            self._hurried[hosts] = None

    def restated(self, flow: FlowKey) -> None:
        """The flow's sender was stated once more: its packets may begin anew."""
        entry = self._entries.get(flow)
        if entry is not None:
            entry.progress.begin_anew()
            entry.weighed = entry.excused = None

    def replaced(self, flow: FlowKey) -> None:
        """One of the flow's queue pairs has another connection, and nobody said that its own ended:
        that may hold for others between the two hosts. Hosts can say so at any rate, so these are
        looked for in `advance`."""
        entry = self._entries.get(flow)
        if entry is not None:
            hosts, doubt = host_pair(flow), _doubt_with(entry, self._clock())
            latest, against = self._replaced.get(hosts, doubt)
            self._replaced[hosts] = max(latest, doubt[0]), max(against, doubt[1])

    def advance(self) -> tuple[set[FlowKey], list[Pairing], list[Pairing]]:
        """Weigh what was seen and let others have their turn: the flows this made watched or
        unwatched, the pairings evidence speaks against, and those nothing speaks for any more; both
        are forgotten."""
        now = self._clock()
        changed: set[FlowKey] = set()
        refuted: list[Pairing] = []
        uncertain: list[Pairing] = []
        for forth, check in list(self._checked.items()):
            if self._checked.get(forth) is not check:
                # It ended because of another.
                continue
            check.judge(now - JUDGED_AFTER)
            entry = self._entries[forth]
            entry.progress.heard(now, self._heard_for(host_pair(forth)))
            over = check.confirmed or check.until <= now
            unlikely = over and check.ports_changed and not check.confirmed
            evident = check.refuted or unlikely
            unfit = (entry.doubted and check.fails) or (entry.shown is not None and check.strays)
            against = evident or (over and unfit)
            pause = entry.open_pause
            if against and check.pairing.stated and entry.suspected is None:
                # Another look at once.
                entry.suspected = now
                self._checked[forth] = entry.check(now)
                continue
            if against:
                refuted.append(check.pairing)
                self.forget(forth)
                if evident:
                    self._refuted |= {forth: check.pairing.back, check.pairing.back: forth}
                    self._doubt_others(entry, now)
                changed |= {forth, check.pairing.back}
            elif pause is not None:
                if now >= pause.end + JUDGED_AFTER:
                    uncertain += self._weigh(entry, check, pause, now)
            elif over and entry.is_uncertain(check):
                uncertain.append(check.pairing)
                self.forget(forth)
                self._doubt_others(entry, now)
            elif over:
                self._end_look(entry, check, now)
                changed |= {forth, check.pairing.back}
        changed.update(flow for each in uncertain for flow in (each.forth, each.back))
        self._hurry(now)
        while len(self) + 2 <= self._slots and (forth_next := self._turns.take()) is not None:
            entry = self._entries[forth_next]
            self._checked[forth_next] = entry.check(now)
            changed |= {forth_next, entry.pairing.back}
        return changed, refuted, uncertain

    def _weigh(self, entry: _Entry, check: Check, pause: Pause, now: float) -> list[Pairing]:
        """Whether a pairing goes on after a pause: those that ended, it and others that paused at
        the same time, where one of them is broken: who used its numbers again may have used
        theirs."""
        entry.weighed = pause
        if entry.pairing.stated and not pause.found:
            # Nothing that can be compared was reported: no evidence against a statement.
            return []
        hosts = host_pair(entry.pairing.forth)
        if check.keeps_own_port:
            entry.excused = pause
            return []
        broken = self._broken.get(hosts)
        verdict = pause.verdict
        if verdict is Continuity.GOES_ON and not (broken and broken.overlaps(pause)):
            return []
        ended = [entry]
        if verdict is Continuity.BROKEN:
            self._broken[hosts] = pause
            ended += [
                other
                for each in self._between[hosts]
                if (other := self._entries[each]) is not entry and _paused_too(other, pause)
            ]
            self._doubt_others(entry, now)
        for each in ended:
            self.forget(each.pairing.forth)
        return [each.pairing for each in ended]

    def _end_look(self, entry: _Entry, check: Check, now: float) -> None:
        """Nothing speaks against the pairing: others have their turn."""
        forth = entry.pairing.forth
        if check.confirmed:
            entry.shown, entry.suspected, entry.doubted = check.since, None, False
        entry.seen = check.seen
        entry.since = now
        entry.progress.went_back = False
        entry.kept_port |= check.keeps_own_port
        del self._checked[forth]
        self._settle(forth)
        self._wait(forth)
        between = self._between[host_pair(forth)]
        between[forth] = between.pop(forth)

    def _doubt_others(self, ended: _Entry, now: float) -> None:
        """Who used the numbers of one connection again may have used those of others: what is
        older, and was not confirmed since packets spoke against that one, has to be confirmed. It
        was forgotten, or is left out as well: it does not come back."""
        self._doubt(host_pair(ended.pairing.forth), *_doubt_with(ended, now))

    def _doubt(self, hosts: HostPairKey, latest: float, against: float) -> None:
        for forth in self._between.get(hosts, ()):
            entry = self._entries[forth]
            confirmed = entry.shown is not None and entry.shown >= against
            if entry.made <= latest and not confirmed:
                entry.doubted = True
                self._unsettled.setdefault(hosts, {})[forth] = None
                self._hurried[hosts] = None

    def _settle(self, forth: FlowKey) -> None:
        hosts = host_pair(forth)
        waiting = self._unsettled.get(hosts)
        if waiting is not None:
            waiting.pop(forth, None)
            if not waiting:
                del self._unsettled[hosts]

    def _wait(self, forth: FlowKey, *, first: bool = False) -> None:
        self._turns.leave(forth)
        hosts = host_of(forth.vrf, forth.src), host_of(forth.vrf, forth.dst)
        self._turns.wait(forth, hosts, first=first)

    def _hurry(self, now: float) -> None:
        """Put pairings first that have to be confirmed, and those between hosts that have a new
        flow: a few at a time, as there may be any number between two hosts."""
        if now < self._next_hurry:
            return
        self._next_hurry = now + HURRY_INTERVAL
        for hosts in list(islice(self._replaced, HURRIED)):
            self._doubt(hosts, *self._replaced.pop(hosts))
        for hosts in list(islice(self._hurried, HURRIED)):
            del self._hurried[hosts]
            unsettled = self._unsettled.get(hosts, {})
            some = list(islice(unsettled or self._between[hosts], self._slots))
            for forth in reversed(some):
                recent = not unsettled and self._entries[forth].since > now - RECENT
                if forth not in self._checked and not recent:
                    self._wait(forth, first=True)
            if unsettled:
                self._hurried[hosts] = None
