"""Finds the queue pair behind a flow from the packets that come back (FCN-3 b).

A reliable connection is two flows, one each way; each carries the other's source queue pair as its
destination. Responses (ACK, NAK, READ response, atomic ACK) repeat the PSN of a recent request, so
a flow whose responses repeat the PSNs of a flow the other way belongs to it. The PEs report one
packet per flow and learning window; what is concluded from these samples is

- by port: mlx5 and Linux derive the UDP source port from both queue pair numbers, so that both
  flows have the same port and it confirms the guess; a port several flows share confirms nothing;
- by PSN alone: responses spread over time agree, too closely for chance, and every other pairing
  of either flow is impossible by what its responses show, or has nothing to show and its other
  flow a partner of its own.

What reports cannot show is no evidence against a pairing, and where they do not tell pairings
apart nothing is concluded. docs/learning.md has the reasons and the bound of the error.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from fcn.controller.flows.key import FlowKey, HostPairKey, host_pair, is_forth
from fcn.controller.flows.trail import (
    ANSWER_LIMIT,
    PSN_SPACE,
    Sample,
    Trail,
    Verdict,
    connection_port,
)

PATIENCE = 0.25
"""Seconds a flow's port must have been nobody else's before it confirms a pairing."""

JUDGED_AFTER = 1.5
"""Seconds after which a response is weighed: by then later requests have been reported too."""

REACH = 1 << 16
"""PSNs by which a response may be off what was reported of a flow whose port confirms it."""

SUPPORTS_NEEDED = 4
"""Different responses in a row that must agree where the PSN is the only evidence."""

CONTRADICTIONS_NEEDED = 4
"""Responses in a row that must be impossible to rule a pairing out: one may be after trouble."""

CHANCE = 1 / 8
"""How likely at most some rival is as close by chance as what counts as agreement."""


@dataclass(slots=True)
class Agreement:
    """How responses agree with the requests of one pairing, the latest in a row."""

    supports: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=SUPPORTS_NEEDED))
    """(PSN, distance) of the latest responses that agree, all different."""
    contradictions: int = 0
    late: int = PSN_SPACE
    """By how many PSNs the closest response is off that says nothing because of READs: it may have
    waited behind them, and so may all others."""

    def weigh(self, verdict: Verdict, psn: int, distance: int) -> None:
        match verdict:
            case Verdict.SHOWN:
                self.contradictions = 0
                if all(psn != each for each, _ in self.supports):
                    self.supports.append((psn, distance))
            case Verdict.IMPOSSIBLE:
                self.contradictions += 1
                if self.refuted:
                    self.supports.clear()

    @property
    def shown(self) -> bool:
        return len(self.supports) == SUPPORTS_NEEDED and not self.contradictions

    @property
    def refuted(self) -> bool:
        return self.contradictions >= CONTRADICTIONS_NEEDED

    @property
    def widest(self) -> int:
        """By how many PSNs a response that agrees is off at most."""
        return max(distance for _, distance in self.supports)


NOTHING = Agreement()
"""Of a pairing no response was seen of."""


class Pairing(NamedTuple):
    """Two flows that are the directions of one connection: the destination queue pair of each is
    the source of the other. `port`: their UDP source port where it confirms this; `stated`: said of
    both flows by somebody who knows, instead of inferred."""

    forth: FlowKey
    back: FlowKey
    port: int | None = None
    stated: bool = False

    @property
    def sources(self) -> tuple[tuple[FlowKey, int], tuple[FlowKey, int]]:
        """Both flows with their source queue pairs."""
        return (self.forth, self.back.dest_qp), (self.back, self.forth.dest_qp)


_QueuePairs = tuple[int, int]
"""Destination queue pairs of a flow forth and of a flow back, which name them between two hosts."""


class _HostPair:
    """Flows of unknown source between two hosts, and what speaks for and against each pairing."""

    def __init__(self) -> None:
        self.forth: dict[int, Trail] = {}
        self.back: dict[int, Trail] = {}
        self.agreement: dict[int, dict[int, Agreement]] = {}
        """By destination queue pair of the flow forth, then of the flow back."""
        self.newest = 0.0
        self.ports_follow_qps = False

    def side(self, flow: FlowKey) -> dict[int, Trail]:
        return self.forth if is_forth(flow) else self.back

    def judge(self, until: float) -> bool:
        """Weigh responses reported up to `until` against the requests of the other direction;
        returns whether there were any."""
        judged = False
        for qp, trail in self.back.items():
            for when, psn in trail.ripe(until):
                judged = True
                for other, asked in self.forth.items():
                    self._weigh((other, qp), asked, trail, when, psn)
        for qp, trail in self.forth.items():
            for when, psn in trail.ripe(until):
                judged = True
                for other, asked in self.back.items():
                    self._weigh((qp, other), asked, trail, when, psn)
        return judged

    def _weigh(
        self, pairing: _QueuePairs, asked: Trail, answers: Trail, when: float, psn: int
    ) -> None:
        verdict, distance = asked.judge(answers, when, psn)
        if verdict is Verdict.POSSIBLE and not (asked.asks_reads or answers.answers_reads):
            return
        forth, back = pairing
        row = self.agreement.setdefault(forth, {})
        agreement = row.get(back)
        if agreement is None:
            agreement = row[back] = Agreement()
        if verdict is Verdict.POSSIBLE:
            agreement.late = min(agreement.late, distance)
        else:
            agreement.weigh(verdict, psn, distance)

    def forget(self, flow: FlowKey) -> None:
        self.side(flow).pop(flow.dest_qp, None)
        if is_forth(flow):
            self.agreement.pop(flow.dest_qp, None)
        else:
            for row in self.agreement.values():
                row.pop(flow.dest_qp, None)

    def by_port(self, seen_before: float) -> list[_QueuePairs]:
        """Pairings that their port confirms and a response not yet judged; no other flow has that
        port."""
        forth_ports, back_ports = _by_port(self.forth), _by_port(self.back)
        found = []
        for port, (forth, *others) in forth_ports.items():
            back, *more = back_ports.get(port, [0])
            if others or more or back not in self.back or connection_port(forth, back) != port:
                continue
            there, home = self.forth[forth], self.back[back]
            if max(there.since, home.since) <= seen_before and (
                _plausible(there, home) or _plausible(home, there)
            ):
                found.append((forth, back))
                self.ports_follow_qps = True
        return found

    def by_psn(self) -> list[_QueuePairs]:
        """Pairings whose responses agree, while no other is possible for either flow."""
        near = self._near
        strong = {
            (forth, back)
            for forth, row in self.agreement.items()
            for back, agreement in row.items()
            if agreement.shown and agreement.widest <= near
        }
        explained = {forth for forth, _ in strong}, {back for _, back in strong}
        return [
            each
            for each in strong
            if self._port_allows(*each) and self._without_rival(each, *explained)
        ]

    @property
    def _near(self) -> float:
        """PSNs within which some rival with random PSNs is by chance at most. Responses of
        connections that run in step are no independent observations, so they count as one."""
        rivals = max(1, len(self.forth) + len(self.back) - 2)
        return CHANCE * PSN_SPACE / (2 * rivals)

    def _port_allows(self, forth: int, back: int) -> bool:
        """Where one connection's ports follow from its queue pairs, those of all do."""
        port = connection_port(forth, back)
        return not self.ports_follow_qps or port == self.forth[forth].port == self.back[back].port

    def _without_rival(self, pairing: _QueuePairs, forths: set[int], backs: set[int]) -> bool:
        """Any other partner must be ruled out, or explained by yet another and show nothing; that
        shows nothing where answers that are near may only be late: then connections whose first
        PSNs lie so far apart all seem to be each other's."""
        forth, back = pairing
        return all(
            self._out(forth, other, explained=other in backs)
            for other in self.back
            if other != back
        ) and all(
            self._out(other, back, explained=other in forths)
            for other in self.forth
            if other != forth
        )

    def _out(self, forth: int, back: int, *, explained: bool) -> bool:
        agreement = self.agreement.get(forth, {}).get(back, NOTHING)
        silent = not agreement.supports and agreement.late > self._near
        return agreement.refuted or (explained and silent)


def _plausible(asked: Trail, answers: Trail) -> bool:
    """Whether one of the latest responses fits the requests: as much as a port needs."""
    reads = asked.asks_reads or answers.answers_reads
    for when, psn in answers.responses:
        verdict, distance = asked.judge(answers, when, psn)
        if asked.times and verdict is not Verdict.IMPOSSIBLE and (reads or distance <= REACH):
            return True
    return False


def _by_port(trails: dict[int, Trail]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for qp, trail in trails.items():
        found.setdefault(trail.port, []).append(qp)
    return found


class Inference:
    """Collects samples of flows whose source is unknown and concludes which belong together.

    `clock` returns seconds and never goes back. `complete` tells whether everything of unknown
    source between two hosts is reported at present; where it is not, the PSN alone proves nothing.
    """

    def __init__(self, clock: Callable[[], float], complete: Callable[[HostPairKey], bool]) -> None:
        self._clock = clock
        self._complete = complete
        self._pairs: dict[HostPairKey, _HostPair] = {}

    def __len__(self) -> int:
        """Flows under observation."""
        return sum(len(pair.forth) + len(pair.back) for pair in self._pairs.values())

    def observe(self, flow: FlowKey, sample: Sample) -> None:
        """A packet of a flow of unknown source. Packets of other than reliable connections and
        between addresses that are the same say nothing."""
        if not sample.of_reliable_connection or flow.src == flow.dst:
            return
        now = self._clock()
        pair = self._pairs.setdefault(host_pair(flow), _HostPair())
        trails = pair.side(flow)
        trail = trails.get(flow.dest_qp)
        if trail is None:
            trail = trails[flow.dest_qp] = Trail(flow, now, sample.udp_source_port)
            pair.newest = now
        trail.record(now, sample)

    def forget(self, flow: FlowKey) -> None:
        """The flow's source is known, or it is no longer reported."""
        key = host_pair(flow)
        pair = self._pairs.get(key)
        if pair is not None:
            pair.forget(flow)
            if not pair.forth and not pair.back:
                del self._pairs[key]

    def conclude(self) -> list[Pairing]:
        """What is certain by now; these flows are forgotten."""
        now = self._clock()
        learned: list[Pairing] = []
        for key, pair in list(self._pairs.items()):
            confirmed = pair.by_port(now - PATIENCE)
            judged = pair.judge(now - JUDGED_AFTER)
            settled = now - pair.newest >= ANSWER_LIMIT and self._complete(key)
            found = confirmed or (pair.by_psn() if judged and settled else [])
            for forth_qp, back_qp in found:
                forth, back = pair.forth[forth_qp], pair.back[back_qp]
                learned.append(Pairing(forth.flow, back.flow, forth.port if confirmed else None))
                self.forget(forth.flow)
                self.forget(back.flow)
        return learned
