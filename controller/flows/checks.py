"""What is seen of a pairing of flows while it is watched, and what that proves (FCN-3 b).

Responses in one direction answer requests in the other, or the flows belong to different
connections. For a pairing that was inferred the rules of inference hold. A pairing that hosts or
a person stated is right unless much speaks against it: docs/learning.md has the reasons.
"""

from dataclasses import dataclass

from fcn.controller.flows.inference import Evidence, Pairing
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.trail import (
    ANSWER_LIMIT,
    HISTORY,
    SAMPLE_SPACING,
    Sample,
    Trail,
    Verdict,
    connection_port,
)

CHECK = 10.0
"""Seconds a pairing is watched for, at most."""

LATE_ANSWER_LIMIT = 5.0
"""ANSWER_LIMIT where a statement is at stake: a path may be congested for seconds."""

IMPOSSIBLE_NEEDED = 4
"""Impossible responses, and none that fits, that speak against a statement."""


PORTS_NEEDED = 4
"""Packets in a row of one flow with the same other port that speak against a port: a host can send
one packet in another's name."""


@dataclass(slots=True)
class _OtherPort:
    """A port that a flow had in its last `times` packets, instead of its own."""

    port: int = 0
    times: int = 0

    def seen(self, port: int, own: int) -> None:
        """One packet more."""
        if port == own:
            self.times = 0
        else:
            self.times = self.times + 1 if port == self.port else 1
        self.port = port


class Check:
    """A pairing that was inferred."""

    answer_limit = ANSWER_LIMIT
    history = HISTORY

    def __init__(self, pairing: Pairing, now: float) -> None:
        self.pairing = pairing
        self.until = now + CHECK
        self._trails = {
            flow: Trail(
                flow, now, pairing.port or 0, answer_limit=self.answer_limit, history=self.history
            )
            for flow in (pairing.forth, pairing.back)
        }
        self._evidence = Evidence()
        self._other_ports = {flow: _OtherPort() for flow in self._trails}

    def observe(self, flow: FlowKey, now: float, sample: Sample) -> None:
        """A packet of one of the flows, of a reliable connection."""
        if self.pairing.port is not None:
            self._other_ports[flow].seen(sample.udp_source_port, self.pairing.port)
        self._trails[flow].record(now, sample)

    def judge(self, until: float) -> None:
        """Weigh the responses that were reported up to then."""
        forth, back = self._trails.values()
        for asked, answers in ((forth, back), (back, forth)):
            for when, psn in answers.ripe(until):
                self.weigh(*asked.judge(answers, when, psn), psn)

    def weigh(self, verdict: Verdict, distance: int, psn: int) -> None:
        """One response more."""
        self._evidence.weigh(verdict, psn, distance)

    @property
    def port_follows(self) -> bool:
        """Whether both flows have the port that follows from the queue pairs."""
        port = connection_port(self.pairing.forth.dest_qp, self.pairing.back.dest_qp)
        return all(each.port == port for each in self._trails.values())

    @property
    def confirmed(self) -> bool:
        """Nothing more needs to be seen this time."""
        return self._evidence.shown and not any(each.times for each in self._other_ports.values())

    @property
    def refuted(self) -> bool:
        """The flows do not belong to one connection."""
        changed = any(each.times >= PORTS_NEEDED for each in self._other_ports.values())
        return changed or self._evidence.refuted


class StatedCheck(Check):
    """A pairing that a handshake, a host's agent or a person stated.

    One response that fits, or a port that follows from both queue pairs, confirms it. Impossible
    responses are evidence against it, but not where READs are asked for: of how much is seen only
    where the next request is reported. So are ports that followed once (`followed`) and do not any
    more, where no response fits either: a program can change them (mlx5dv_modify_qp_udp_sport).
    """

    answer_limit = LATE_ANSWER_LIMIT
    history = round((LATE_ANSWER_LIMIT + 1.5) / SAMPLE_SPACING)

    def __init__(self, pairing: Pairing, now: float, *, followed: bool) -> None:
        super().__init__(pairing, now)
        self._followed = followed
        self._weighed = 0
        self._impossible = 0
        self._fits = False

    def weigh(self, verdict: Verdict, distance: int, psn: int) -> None:
        """One response more."""
        self._weighed += 1
        if verdict is Verdict.SHOWN:
            self._fits = True
        elif verdict is Verdict.IMPOSSIBLE:
            self._impossible += 1

    @property
    def confirmed(self) -> bool:
        """Something fits."""
        return self._fits or self.port_follows

    @property
    def refuted(self) -> bool:
        """What was seen does not belong to one connection."""
        if self.confirmed:
            return False
        trails = self._trails.values()
        reads = any(each.asks_reads or each.answers_reads for each in trails)
        port = connection_port(self.pairing.forth.dest_qp, self.pairing.back.dest_qp)
        ports_changed = self._followed and all(each.port not in (0, port) for each in trails)
        return (self._impossible >= IMPOSSIBLE_NEEDED and not reads) or (
            self._weighed >= IMPOSSIBLE_NEEDED and ports_changed
        )
