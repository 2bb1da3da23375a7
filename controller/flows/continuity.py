"""Whether packets after an idle period are the same connection's as before it (FCN-3 b).

A queue pair number is reused only after its connection ended, so its flows are idle for a while
(TimeWait, IBTA volume 1, 12.9.8.4). The same connection goes on with the next PSN, or with one it
retransmits, from the same UDP source port; another one begins with any PSN. So the last PSN before
an idle period of both flows is compared with the first after it, of the requests and of the
responses of each flow. Where they do not tell, the pairing is uncertain: docs/learning.md has the
reasons.
"""

from dataclasses import dataclass, field
from enum import Enum
from math import inf

from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.trail import HALF_SPACE, PSN_SPACE, RC_RESPONSES, READ_REQUEST, Sample

PAUSE = 2.0
"""Seconds without a packet of either flow, while both are sampled, that make an idle period."""

LONGEST_STEP = 1.0
"""Seconds between two calls of `heard` up to which the controller was listening in between."""

STEPS_NEEDED = 4
"""Steps from sample to sample that are needed to know how wide they are."""

MARGIN = 2
"""How many times as wide as the widest before a step over an idle period may be."""

SLACK = 8
"""PSNs more, as not every packet of a slow flow is sampled."""

UNREPORTED = 1 << 16
"""PSNs that a flow may send in the rest of a learning window after its sample: 6.5 million a second
in 10 ms. A random PSN is within so many in one of 256 cases."""

CLEARLY = 4
"""How many times wider than possible a step is that only another connection explains."""

REPEATED = 5.0
"""Seconds for which a flow retransmits at most: then the connection is given up (retry limit)."""

SPEED_OVER = 0.5
"""Seconds over which the speed of a flow is measured, at least."""

CHANCE = 1 / 16
"""How likely a random PSN may at most be taken for the next one."""


class Continuity(Enum):
    """What a flow shows after an idle period."""

    GOES_ON = 1
    UNDECIDED = 2
    BROKEN = 3
    """PSN or port are another connection's."""


@dataclass(slots=True)
class _Stream:
    """The requests, or the responses, of one flow: PSN and port of the latest sample, the widest
    step between samples of one check, and the highest speed in PSNs per second."""

    psn: int
    port: int
    widest: int = 0
    steps: int = 0
    speed: float = 0.0
    marked_at: float = 0.0
    marked: int = 0
    seen_at: float = 0.0
    stepping: bool = False
    """Whether nothing was missed since the latest sample, so that it is a step to the next."""

    def record(self, now: float, psn: int, port: int) -> None:
        if self.stepping:
            self.widest = max(self.widest, _distance(self.psn, psn))
            self.steps += 1
        self.psn, self.port, self.stepping, self.seen_at = psn, port, True, now
        if now - self.marked_at >= SPEED_OVER:
            speed = _distance(self.marked, psn) / (now - self.marked_at)
            self.speed = max(self.speed, speed)
            self.marked_at, self.marked = now, psn

    def resume(self, now: float, psn: int, port: int) -> None:
        """The first sample after an idle period."""
        self.psn, self.port, self.stepping, self.seen_at = psn, port, True, now
        self.marked_at, self.marked = now, psn

    def continues_with(self, psn: int, port: int, unwatched: float, unanswered: int) -> Continuity:
        """Whether the first sample after an idle period, of which `unwatched` seconds were not
        sampled, is the next or a retransmission of the latest `unanswered` PSNs."""
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

    def falls_back(self, now: float, psn: int, unanswered: int) -> bool:
        """Whether a sample is behind those of an earlier check, by more than the flow retransmits,
        and too soon for PSNs to have wrapped."""
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


_StreamKey = tuple[FlowKey, bool]
"""A flow, and whether its responses: their PSNs are those of the other flow."""


@dataclass(slots=True)
class Pause:
    """An idle period of both flows, of which `unwatched` seconds were not sampled; what each stream
    shows after it."""

    begin: float
    end: float
    unwatched: float
    found: dict[_StreamKey, Continuity] = field(default_factory=dict)

    def overlaps(self, other: "Pause") -> bool:
        return self.begin < other.end and other.begin < self.end

    @property
    def verdict(self) -> Continuity:
        """One stream that is broken is enough, else one that goes on."""
        return max(
            self.found.values(),
            default=Continuity.UNDECIDED,
            key=(Continuity.UNDECIDED, Continuity.GOES_ON, Continuity.BROKEN).index,
        )


class Progress:
    """How far both flows of a pairing have come, over all its checks since `made`. `active`: they
    had packets before, which are not known."""

    __slots__ = (
        "_flows",
        "_heard_until",
        "_latest",
        "_streams",
        "_unanswered",
        "_watched",
        "pause",
        "went_back",
    )

    def __init__(self, forth: FlowKey, back: FlowKey, made: float, *, active: bool) -> None:
        self._flows = (forth, back)
        self._unanswered: dict[_StreamKey, int] = {}
        """PSNs when this check, or the latest idle period, began."""
        self._streams: dict[_StreamKey, _Stream] = {}
        self._latest = made if active else None
        """When either flow was sampled last."""
        self._heard_until = made
        self._watched = 0.0
        """Seconds since then in which another packet would have been sampled."""
        self.pause: Pause | None = None
        """The latest idle period."""
        self.went_back = False
        """Whether PSNs fell behind those of an earlier check."""

    def begin_anew(self) -> None:
        """PSNs and ports may be any from now on."""
        self._streams.clear()
        self._latest = None
        self.pause = None
        self.went_back = False

    def check_begins(self, now: float) -> None:
        """A check begins: both flows are sampled from now on."""
        self._heard_until = now
        self._break_steps()
        self._count_unanswered()

    def heard(self, now: float, heard_for: float) -> None:
        """Both flows are sampled, and all samples have arrived for so many seconds."""
        since = now - self._heard_until
        if since >= heard_for or since > LONGEST_STEP:
            self.missed(now)
        else:
            self._watched += since
            self._heard_until = now

    def missed(self, now: float) -> None:
        """Samples may be missing, since the latest: a PE that is gone is not noticed at once."""
        self._heard_until = now
        self._watched = 0.0
        self._break_steps()

    def observe(self, flow: FlowKey, now: float, sample: Sample) -> None:
        """A sample of a reliable connection. The PSN of a READ request is not compared, as nobody
        sees how many it takes; those of the response are."""
        self.heard(now, inf)
        if self._latest is not None:
            unwatched = now - self._latest - self._watched
            # A short idle period says nothing of a long time in which nobody looked.
            if self._watched >= PAUSE and unwatched <= self._watched:
                self.pause = Pause(self._latest, now, unwatched)
                self._count_unanswered()
        self._latest, self._watched = now, 0.0
        if sample.opcode != READ_REQUEST:
            self._record((flow, sample.opcode in RC_RESPONSES), now, sample)

    def _break_steps(self) -> None:
        """The distance to the next sample is no step: some may be missing in between."""
        for stream in self._streams.values():
            stream.stepping = False

    def _record(self, key: _StreamKey, now: float, sample: Sample) -> None:
        stream, pause = self._streams.get(key), self.pause
        psn, port = sample.psn, sample.udp_source_port
        unanswered = self._unanswered.get(key, 0)
        if stream is None:
            self._streams[key] = _Stream(psn, port, marked_at=now, marked=psn, stepping=True)
        elif pause is not None and key not in pause.found:
            pause.found[key] = stream.continues_with(psn, port, pause.unwatched, unanswered)
            stream.resume(now, psn, port)
        else:
            self.went_back |= stream.falls_back(now, psn, unanswered)
            stream.record(now, psn, port)

    def _count_unanswered(self) -> None:
        """How many requests may be retransmitted: those behind the latest response."""
        for flow, back in zip(self._flows, reversed(self._flows), strict=True):
            asked, answers = self._streams.get((flow, False)), self._streams.get((back, True))
            count = (asked.psn - answers.psn) % PSN_SPACE if asked and answers else 0
            self._unanswered[flow, False] = count if count <= CHANCE * PSN_SPACE else 0
