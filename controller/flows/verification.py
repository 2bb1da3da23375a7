"""Checks again and again that two flows are the directions of one reliable connection (FCN-3 b).

Queue pair numbers are reused, and the end of a connection may be missed. So every pairing of flows,
inferred or stated, is checked in its turn: both flows are sampled for CHECK seconds at most, or
until what was seen confirms the pairing. It ends

- as refuted, when PSNs or ports show that the flows belong to different connections (checks.py);
  what was stated by somebody ends after a second check in a row only;
- as uncertain, when they may do so: PSNs do not continue after an idle period (continuity.py), they
  fell back, the port is not that of both queue pairs any more, or the pairing was doubted and is
  not confirmed.

Where one pairing ends, queue pairs of these two hosts were reused: the pairings between them that
are older than its last confirmation are doubted until a check confirms them.

Samples cost the control plane (FCN-15), so few pairings are checked at a time, in fair turns of the
VRFs and their hosts (turns.py).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import inf

from fcn.controller.flows.checks import NOTHING_SEEN, Check, Seen, StatedCheck
from fcn.controller.flows.continuity import Continuity, Pause, Progress
from fcn.controller.flows.inference import JUDGED_AFTER, Pairing
from fcn.controller.flows.key import FlowKey, HostPairKey, host_pair
from fcn.controller.flows.shares import host_of
from fcn.controller.flows.trail import Sample
from fcn.controller.flows.turns import InTurn, Turns

UNSEEN = 60.0
"""Seconds for which a pairing counts as right that was made and never confirmed: about as long as a
flow that fell silent keeps it."""

HURRY_INTERVAL = 1.0
"""Seconds between searches for pairings that are to be checked first."""

HURRIED = 64
"""Pairs of hosts whose pairings are searched at a time, which bounds the time it takes."""

RECENT = 10.0
"""Seconds since the latest check within which a new flow between the hosts causes none."""


@dataclass(slots=True)
class _Entry:
    """A pairing, and what its checks found."""

    pairing: Pairing
    made: float
    since: float
    """The end of the latest check; `made` before the first."""
    confirmed_at: float | None = None
    """When the latest check began that confirmed it."""
    contradicted_at: float | None = None
    """When a check spoke against it, if none has confirmed it since."""
    doubted: bool = False
    """Whether another one between the hosts ended, and no check has confirmed this one since."""
    seen: Seen = NOTHING_SEEN
    progress: Progress = field(init=False)
    weighed: Pause | None = None
    """The latest idle period that was judged."""
    excused: Pause | None = None
    """The latest one after which the port was that of both queue pairs, which outweighs PSNs."""
    had_own_port: bool = False
    """Whether the port was that of both queue pairs in an earlier check."""

    def __post_init__(self) -> None:
        forth, back, _, stated = self.pairing
        self.progress = Progress(forth, back, self.made, active=not stated)

    def check(self, now: float) -> Check:
        self.progress.check_begins(now)
        if self.pairing.stated:
            return StatedCheck(self.pairing, now, self.seen)
        return Check(self.pairing, now)

    @property
    def open_pause(self) -> Pause | None:
        """The latest idle period, if it was not judged yet."""
        pause = self.progress.pause
        return None if pause is self.weighed else pause

    def is_unfit(self, check: Check) -> bool:
        """Whether responses of a check that is over fit neither as well as in earlier ones, nor at
        all where the pairing is doubted."""
        return (self.doubted and check.fails) or (self.confirmed_at is not None and check.strays)

    def is_uncertain(self, check: Check) -> bool:
        """Whether packets of a check that is over may be another connection's."""
        if check.keeps_own_port or check.is_silent:
            return False
        unconfirmed = self.doubted and not check.confirmed
        lost_port = self.had_own_port and check.has_other_port
        return self.progress.went_back or unconfirmed or lost_port

    def doubts(self, now: float) -> tuple[float, float]:
        """What the end of this pairing says of others between the hosts: doubted are those made
        until the first of these times and not confirmed since the second."""
        against = now if self.contradicted_at is None else self.contradicted_at
        if self.confirmed_at is not None:
            return self.confirmed_at, against
        return min(against, self.made + UNSEEN), against

    def paused_too(self, pause: Pause) -> bool:
        """Whether its latest idle period overlaps this one, and only PSNs speak for it since."""
        weighed = self.weighed
        return weighed is not None and weighed is not self.excused and weighed.overlaps(pause)


class Verification:
    """All pairings, some of them being checked. `clock` returns seconds and never goes back; at
    most `slots` flows are sampled at a time. `heard_for`: seconds since when all samples of flows
    between two hosts have arrived, as far as that is known; 0 while they do not."""

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
        """By either flow; all below are by the flow forth."""
        self._turns: Turns[FlowKey] = Turns()
        """Those that are checked have a place, the others wait for one."""
        self._checked: dict[FlowKey, Check] = {}
        self._between: dict[HostPairKey, dict[FlowKey, None]] = {}
        """All; the one whose latest check is longest ago is first."""
        self._hurried: InTurn[HostPairKey] = InTurn()
        """Hosts whose pairings are to be checked first."""
        self._next_hurry = 0.0
        self._refuted: dict[FlowKey, FlowKey] = {}
        """Of either flow the other one."""
        self._unsettled: dict[HostPairKey, dict[FlowKey, None]] = {}
        """Those that are doubted and were not checked since."""
        self._replaced: dict[HostPairKey, tuple[float, float]] = {}
        """Hosts whose pairings are to be doubted, as `_Entry.doubts` says."""
        self._doubtful: InTurn[HostPairKey] = InTurn()
        """The same hosts, in the order in which they are."""
        self._broken: dict[HostPairKey, Pause] = {}
        """The latest idle period after which a pairing did not go on."""

    def __contains__(self, flow: FlowKey) -> bool:
        """Whether the flow is sampled now."""
        entry = self._entries.get(flow)
        return entry is not None and entry.pairing.forth in self._checked

    def __iter__(self) -> Iterator[FlowKey]:
        for check in self._checked.values():
            yield from (check.pairing.forth, check.pairing.back)

    def __len__(self) -> int:
        """Flows sampled now, never more than the slots."""
        return 2 * len(self._checked)

    def partner(self, flow: FlowKey) -> FlowKey | None:
        """The flow it is paired with."""
        entry = self._entries.get(flow)
        if entry is None:
            return None
        return entry.pairing.back if flow == entry.pairing.forth else entry.pairing.forth

    def is_stated(self, flow: FlowKey) -> bool:
        """Whether the flow's pairing was stated."""
        entry = self._entries.get(flow)
        return entry is not None and entry.pairing.stated

    def was_refuted(self, flow: FlowKey, partner: FlowKey) -> bool:
        """Whether this pairing ended as refuted, and both flows go on since."""
        return self._refuted.get(flow) == partner

    def is_settled(self, hosts: HostPairKey) -> bool:
        """Whether every doubted pairing between two hosts was checked since."""
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
        """The flow is not paired any more; returns the one it was paired with."""
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
            self._hurried.discard(hosts[0], hosts)
            self._doubtful.discard(hosts[0], hosts)
            self._replaced.pop(hosts, None)
            self._broken.pop(hosts, None)
        return partner

    def observe(self, flow: FlowKey, sample: Sample) -> None:
        """A sample of a flow, which counts where its pairing is being checked."""
        if flow in self and sample.of_reliable_connection:
            entry, now = self._entries[flow], self._clock()
            self._checked[entry.pairing.forth].observe(flow, now, sample)
            entry.progress.observe(flow, now, sample)

    def missed(self, flow: FlowKey) -> None:
        """Samples of a flow came too late to be evidence: it was not idle until then."""
        if flow in self:
            self._entries[flow].progress.missed(self._clock())

    def new_flow(self, hosts: HostPairKey) -> None:
        """A flow of unknown source appeared between two hosts, perhaps of a queue pair that is
        reused: their pairings are checked first."""
        if hosts in self._between:
            self._hurried.add(hosts[0], hosts)

    def restated(self, flow: FlowKey) -> None:
        """The flow's sender was stated again: PSNs and port may begin anew."""
        entry = self._entries.get(flow)
        if entry is not None:
            entry.progress.begin_anew()
            entry.weighed = entry.excused = None

    def replaced(self, flow: FlowKey) -> None:
        """One of the flow's queue pairs has a newer connection, and the end of this one was missed:
        so may be that of others between the hosts. As hosts can cause this at any rate, `advance`
        looks for these."""
        entry = self._entries.get(flow)
        if entry is not None:
            hosts, (latest, against) = host_pair(flow), entry.doubts(self._clock())
            others = self._replaced.get(hosts, (latest, against))
            self._replaced[hosts] = max(others[0], latest), max(others[1], against)
            self._doubtful.add(hosts[0], hosts)

    def advance(self) -> tuple[set[FlowKey], list[Pairing], list[Pairing]]:
        """Judge what was sampled, and begin the next checks. Returns the flows that are sampled
        from now on, or no more, and the pairings that ended as refuted and as uncertain."""
        now = self._clock()
        changed: set[FlowKey] = set()
        refuted: list[Pairing] = []
        uncertain: list[Pairing] = []
        for forth, check in list(self._checked.items()):
            if self._checked.get(forth) is not check:
                # It ended together with another.
                continue
            entry = self._entries[forth]
            check.judge(now - JUDGED_AFTER)
            entry.progress.heard(now, self._heard_for(host_pair(forth)))
            over = check.confirmed or check.until <= now
            pause = entry.open_pause
            evident = check.refuted or (over and check.ports_changed and not check.confirmed)
            if evident or (over and entry.is_unfit(check)):
                if entry.pairing.stated and entry.contradicted_at is None:
                    entry.contradicted_at = now
                    self._checked[forth] = entry.check(now)
                    continue
                refuted.append(entry.pairing)
                self.forget(forth)
                if evident:
                    self._refuted |= {forth: check.pairing.back, check.pairing.back: forth}
                    self._doubt(host_pair(forth), *entry.doubts(now))
            elif pause is not None:
                if now >= pause.end + JUDGED_AFTER:
                    uncertain += self._weigh(entry, check, pause, now)
            elif over and entry.is_uncertain(check):
                uncertain.append(entry.pairing)
                self.forget(forth)
                self._doubt(host_pair(forth), *entry.doubts(now))
            elif over:
                self._end_check(entry, check, now)
                changed |= {forth, check.pairing.back}
        for ended in (*refuted, *uncertain):
            changed |= {ended.forth, ended.back}
        self._hurry(now)
        while len(self) + 2 <= self._slots and (forth_next := self._turns.take()) is not None:
            entry = self._entries[forth_next]
            self._checked[forth_next] = entry.check(now)
            changed |= {forth_next, entry.pairing.back}
        return changed, refuted, uncertain

    def _weigh(self, entry: _Entry, check: Check, pause: Pause, now: float) -> list[Pairing]:
        """Judge an idle period. Returns the pairings that end with it: this one, unless it goes on,
        and where it clearly does not, those between the hosts that were idle at the same time, as
        their queue pairs may have been reused together."""
        entry.weighed = pause
        if entry.pairing.stated and not pause.found:
            # Nothing comparable was sampled, which is no evidence against a statement.
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
            others = (self._entries[each] for each in self._between[hosts])
            ended += [each for each in others if each is not entry and each.paused_too(pause)]
            self._doubt(hosts, *entry.doubts(now))
        for each in ended:
            self.forget(each.pairing.forth)
        return [each.pairing for each in ended]

    def _end_check(self, entry: _Entry, check: Check, now: float) -> None:
        """Nothing speaks against the pairing: others have their turn."""
        forth = entry.pairing.forth
        if check.confirmed:
            entry.confirmed_at, entry.contradicted_at, entry.doubted = check.since, None, False
        entry.seen = check.seen
        entry.since = now
        entry.progress.went_back = False
        entry.had_own_port |= check.keeps_own_port
        del self._checked[forth]
        self._settle(forth)
        self._wait(forth)
        between = self._between[host_pair(forth)]
        between[forth] = between.pop(forth)

    def _doubt(self, hosts: HostPairKey, latest: float, against: float) -> None:
        """A pairing between the hosts ended; `latest`, `against`: as its `doubts` says."""
        for forth in self._between.get(hosts, ()):
            entry = self._entries[forth]
            confirmed = entry.confirmed_at is not None and entry.confirmed_at >= against
            if entry.made <= latest and not confirmed:
                entry.doubted = True
                self._unsettled.setdefault(hosts, {})[forth] = None
                self._hurried.add(hosts[0], hosts)

    def _settle(self, forth: FlowKey) -> None:
        """The pairing was checked, or ended."""
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
        """Let doubted pairings be checked first, and those between hosts with a new flow: a few at
        a time, as there may be any number between two hosts."""
        if now < self._next_hurry:
            return
        self._next_hurry = now + HURRY_INTERVAL
        for hosts in self._doubtful.take(HURRIED):
            self._doubt(hosts, *self._replaced.pop(hosts))
        for hosts in self._hurried.take(HURRIED):
            unsettled = self._unsettled.get(hosts, {})
            some = list(islice(unsettled or self._between[hosts], self._slots))
            for forth in reversed(some):
                recent = not unsettled and self._entries[forth].since > now - RECENT
                if forth not in self._checked and not recent:
                    self._wait(forth, first=True)
            if unsettled:
                self._hurried.add(hosts[0], hosts)
