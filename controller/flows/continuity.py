"""Whether two flows go on after a pause as they were before it (FCN-3 b).

A queue pair number is used again only after its connection ended, so that neither of its flows has
a packet for a while (TimeWait, IBTA volume 1, 12.9.8.4). A connection that only paused goes on with
the next PSN, or with one it repeats, and from the same UDP source ports. What cannot be told after
a pause is not known any more: docs/learning.md has the reasons.
"""

from dataclasses import dataclass, field
from enum import Enum
from math import inf

from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.trail import HALF_SPACE, PSN_SPACE, RC_RESPONSES, READ_REQUEST, Sample

PAUSE = 2.0
"""Seconds for which neither flow has a packet, while both are watched, that make a pause."""

LONGEST_STEP = 1.0
"""Seconds from one call to the next for which the controller counts as listening."""

STEPS_NEEDED = 4
"""Steps from packet to packet that must have been seen to know how wide they are."""

MARGIN = 2
"""A step over a pause may be so many times as wide as others."""

SLACK = 8
"""PSNs more: the next packets of a slow flow may not be reported."""

UNREPORTED = 1 << 16
"""PSNs by which a flow may be ahead of its latest report: what it sent in the rest of a learning
window, 6.5 million a second in 10 ms. A random PSN is so near in one of 256 cases."""

CLEARLY = 4
"""A step over a pause so many times wider than what may be is another connection's."""

REPEATED = 5.0
"""Seconds back from which a flow repeats requests at most: until then they are answered, or the
connection is given up."""

SPEED_OVER = 0.5
"""Seconds over which the speed of a flow is measured, at least."""

CHANCE = 1 / 16
"""How likely at most a random PSN is taken for the next one."""


class Continuity(Enum):
    """What a flow shows after a pause."""

    GOES_ON = 1
    UNDECIDED = 2
    """It may be either."""
    BROKEN = 3
    """Its PSN or its port is another connection's."""


@dataclass(slots=True)
class _Position:
    """How far requests, or responses, of one flow have come: the latest PSN and port, the widest
    step from one to the next while watched, the highest speed in PSNs per second."""

    psn: int
    port: int
    widest: int = 0
    steps: int = 0
    speed: float = 0.0
    marked_at: float = 0.0
    marked: int = 0
    seen_at: float = 0.0
    stepping: bool = False
    """Whether the latest was seen in this look, and nothing missed since: what was sent in between
    is no step."""

    def move(self, now: float, psn: int, port: int) -> None:
        """A packet more."""
        if self.stepping:
            self.widest = max(self.widest, _distance(self.psn, psn))
            self.steps += 1
        self.psn, self.port, self.stepping, self.seen_at = psn, port, True, now
        if now - self.marked_at >= SPEED_OVER:
            speed = _distance(self.marked, psn) / (now - self.marked_at)
            self.speed = max(self.speed, speed)
            self.marked_at, self.marked = now, psn

    def begin_again(self, now: float, psn: int, port: int) -> None:
        """The first packet after a pause."""
        self.psn, self.port, self.stepping, self.seen_at = psn, port, True, now
        self.marked_at, self.marked = now, psn

    def leads_to(self, psn: int, port: int, unwatched: float, unanswered: int) -> Continuity:
        """Whether a packet after a pause follows, where `unwatched` seconds of it were not seen, or
        repeats one of those not answered."""
        if port != self.port:
            return Continuity.BROKEN
        if (self.psn - psn) % PSN_SPACE <= unanswered:
            return Continuity.GOES_ON
        ahead = (psn - self.psn) % PSN_SPACE
        if ahead <= UNREPORTED:
            return Continuity.GOES_ON
        reach = MARGIN * (self.widest + self.speed * unwatched) + SLACK
        step = _distance(self.psn, psn)
        if step > CLEARLY * reach:
            clear = self.steps >= STEPS_NEEDED and ahead > CLEARLY * UNREPORTED
            return Continuity.BROKEN if clear else Continuity.UNDECIDED
        telling = 2 * reach <= CHANCE * PSN_SPACE
        return Continuity.GOES_ON if telling and step <= reach else Continuity.UNDECIDED

    def went_back(self, now: float, psn: int, unanswered: int) -> bool:
        """Whether it is behind where it was in an earlier look, further than it repeats anything
        and though it cannot have come round in the meantime."""
        back = (self.psn - psn) % PSN_SPACE
        repeated = unanswered + MARGIN * self.widest + self.speed * REPEATED + SLACK
        forth = CLEARLY * (self.speed * (now - self.seen_at) + self.widest) + SLACK
        return (
            not self.stepping
            and self.steps >= STEPS_NEEDED
            and repeated < back < PSN_SPACE - forth
            and back < HALF_SPACE
        )


def _distance(one: int, other: int) -> int:
    """Between two PSNs, the short way round."""
    ahead = (other - one) % PSN_SPACE
    return min(ahead, PSN_SPACE - ahead)


_Class = tuple[FlowKey, bool]
"""A flow's requests, or its responses: what both have of PSNs is not comparable."""


@dataclass(slots=True)
class Pause:
    """From the latest packet before it to the first after it; what packets show since."""

    begin: float
    end: float
    unwatched: float
    found: dict[_Class, Continuity] = field(default_factory=dict)

    def overlaps(self, other: "Pause") -> bool:
        return self.begin < other.end and other.begin < self.end

    @property
    def verdict(self) -> Continuity:
        """One that is broken is enough; one that goes on, else."""
        return max(
            self.found.values(),
            default=Continuity.UNDECIDED,
            key=(Continuity.UNDECIDED, Continuity.GOES_ON, Continuity.BROKEN).index,
        )


class Progress:
    """How far both flows of a pairing have come, over all looks at it, since `made`. `active`: then
    they had packets, which are not known."""

    __slots__ = (
        "_flows",
        "_heard_until",
        "_latest",
        "_positions",
        "_unanswered",
        "_watched",
        "pause",
        "went_back",
    )

    def __init__(self, forth: FlowKey, back: FlowKey, made: float, *, active: bool) -> None:
        self._flows = (forth, back)
        self._unanswered: dict[_Class, int] = {}
        """Before the latest pause, or this look."""
        self._positions: dict[_Class, _Position] = {}
        self._latest = made if active else None
        self._heard_until = made
        self._watched = 0.0
        """Seconds of the time since the latest packet in which it would have been seen."""
        self.pause: Pause | None = None
        """The latest one."""
        self.went_back = False
        """Whether PSNs are behind those of an earlier look."""

    def begin_anew(self) -> None:
        """What was before says nothing of what comes."""
        self._positions.clear()
        self._latest = None
        self.pause = None
        self.went_back = False

    def look_begins(self, now: float) -> None:
        """Both flows are watched from now on."""
        self._heard_until = now
        self._stand()
        self._count_unanswered()

    def heard(self, now: float, heard_for: float) -> None:
        """Both flows are watched, and their packets reported since so many seconds."""
        since = now - self._heard_until
        if since >= heard_for or since > LONGEST_STEP:
            self.missed(now)
        else:
            self._watched += since
            self._heard_until = now

    def missed(self, now: float) -> None:
        """Packets may not have been reported since the latest one that was: who is gone is not
        noticed at once."""
        self._heard_until = now
        self._watched = 0.0
        self._stand()

    def observe(self, flow: FlowKey, now: float, sample: Sample) -> None:
        """A packet of a reliable connection. A request for a READ takes as many PSNs as nobody
        knows, so its PSN says nothing; that of the response does."""
        self.heard(now, inf)
        if self._latest is not None:
            unwatched = now - self._latest - self._watched
            # What happens in a long time without a look cannot be told from a short one before.
            if self._watched >= PAUSE and unwatched <= self._watched:
                self.pause = Pause(self._latest, now, unwatched)
                self._count_unanswered()
        self._latest, self._watched = now, 0.0
        if sample.opcode != READ_REQUEST:
            self._move((flow, sample.opcode in RC_RESPONSES), now, sample)

    def _stand(self) -> None:
        """What the next packets are ahead is not how wide a step is."""
        for position in self._positions.values():
            position.stepping = False

    def _move(self, which: _Class, now: float, sample: Sample) -> None:
        position, pause = self._positions.get(which), self.pause
        psn, port = sample.psn, sample.udp_source_port
        unanswered = self._unanswered.get(which, 0)
        if position is None:
            self._positions[which] = _Position(psn, port, marked_at=now, marked=psn, stepping=True)
        elif pause is not None and which not in pause.found:
            pause.found[which] = position.leads_to(psn, port, pause.unwatched, unanswered)
            position.begin_again(now, psn, port)
        else:
            self.went_back |= position.went_back(now, psn, unanswered)
            position.move(now, psn, port)

    def _count_unanswered(self) -> None:
        """Requests behind the latest one may be repeated, as far as they are not answered."""
        for flow, back in zip(self._flows, reversed(self._flows), strict=True):
            asked, answers = self._positions.get((flow, False)), self._positions.get((back, True))
            count = (asked.psn - answers.psn) % PSN_SPACE if asked and answers else 0
            self._unanswered[flow, False] = count if count <= CHANCE * PSN_SPACE else 0
