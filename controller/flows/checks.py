"""What is seen of a pairing of flows while it is watched, and what that proves (FCN-3 b).

Responses in one direction answer requests in the other, or the flows belong to different
connections. For a pairing that was inferred the rules of inference hold. A pairing that hosts or
a person stated is right unless much speaks against it: docs/learning.md has the reasons.
"""

from dataclasses import dataclass

from fcn.controller.flows.inference import Agreement, Pairing
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.trail import (
    ANSWER_LIMIT,
    HALF_SPACE,
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

RESPONSES_NEEDED = 4
"""Responses of one look, of which none fits, that speak against a statement."""

CLOSE = 1 << 19
"""PSNs by which a response that fits may be off the latest request: by chance one in 16 is."""

CLOSER = 2
"""The same, as a multiple of what it was off in earlier looks."""

PORTS_NEEDED = 4
"""Packets in a row of one flow with the same other port that speak against a port: a host can send
one packet in another's name."""


Ports = tuple[int, int]
"""UDP source ports of a flow and of the flow back."""


@dataclass(slots=True)
class _Row:
    """The port of a flow's latest packets, `times` in a row; whether it is that of all."""

    port: int = 0
    times: int = 0
    constant: bool = True

    def seen(self, port: int) -> None:
        self.constant &= port == self.port or not self.times
        self.times = self.times + 1 if port == self.port else 1
        self.port = port

    @property
    def is_long(self) -> bool:
        return self.times >= PORTS_NEEDED


@dataclass(frozen=True, slots=True)
class Seen:
    """What looks at a statement saw that confirmed it, for comparison: how far a response that fits
    was off (0: none), and the ports of both flows (None: not known)."""

    off: int = 0
    ports: Ports | None = None


NOTHING_SEEN = Seen()


class Check:
    """A pairing that was inferred."""

    answer_limit = ANSWER_LIMIT
    history = HISTORY

    def __init__(self, pairing: Pairing, now: float) -> None:
        self.pairing = pairing
        self.since = now
        self.until = now + CHECK
        self._trails = {
            flow: Trail(
                flow, now, pairing.port or 0, answer_limit=self.answer_limit, history=self.history
            )
            for flow in (pairing.forth, pairing.back)
        }
        self._weighed = 0
        self._agreement = Agreement()
        self._rows = {flow: _Row() for flow in self._trails}

    def observe(self, flow: FlowKey, now: float, sample: Sample) -> None:
        """A packet of one of the flows, of a reliable connection."""
        self._rows[flow].seen(sample.udp_source_port)
        self._trails[flow].record(now, sample)

    def judge(self, until: float) -> None:
        """Weigh the responses that were reported up to then."""
        forth, back = self._trails.values()
        for asked, answers in ((forth, back), (back, forth)):
            for when, psn in answers.ripe(until):
                verdict, distance = asked.judge(answers, when, psn)
                self._weighed += 1
                self._weigh(verdict, psn, distance, bounded=asked.bounds_reads(answers))

    def _weigh(self, verdict: Verdict, psn: int, distance: int, *, bounded: bool) -> None:
        """One response more. bounded: whether it could be too late for READs that were seen."""
        self._agreement.weigh(verdict, psn, distance)

    @property
    def port_follows(self) -> bool:
        """Whether both flows have the port that follows from the queue pairs."""
        return tuple(each.port for each in self._trails.values()) == self._own_ports

    @property
    def keeps_own_port(self) -> bool:
        """Whether the latest packets have the port that follows from the queue pairs, of one flow
        or both."""
        own = self._own_ports[0]
        return {row.port for row in self._rows.values() if row.times} == {own}

    @property
    def has_other_port(self) -> bool:
        """Whether no flow has that port, and one has another in so many packets in a row."""
        own = self._own_ports[0]
        rows = [row for row in self._rows.values() if row.times]
        return any(row.is_long for row in rows) and all(row.port != own for row in rows)

    @property
    def is_silent(self) -> bool:
        """Whether neither flow had a packet."""
        return not any(row.times for row in self._rows.values())

    @property
    def _own_ports(self) -> Ports:
        port = connection_port(self.pairing.forth.dest_qp, self.pairing.back.dest_qp)
        return port, port

    @property
    def seen(self) -> Seen:
        """What the next look is compared with."""
        return NOTHING_SEEN

    @property
    def ports_changed(self) -> bool:
        """Only of statements it is known which ports there were before."""
        return False

    @property
    def fails(self) -> bool:
        """There were enough responses to confirm it, and neither they nor ports do."""
        return self._weighed >= RESPONSES_NEEDED and not (self.confirmed or self.port_follows)

    @property
    def strays(self) -> bool:
        """There were enough responses, none of them near the requests: not as when it fitted."""
        return False

    @property
    def confirmed(self) -> bool:
        """Nothing more needs to be seen this time."""
        own = (0, self.pairing.port)
        other = self.pairing.port is not None and any(
            r.port not in own for r in self._rows.values()
        )
        return self._agreement.shown and not other

    @property
    def refuted(self) -> bool:
        """The flows do not belong to one connection."""
        own = self.pairing.port
        changed = own is not None and any(
            row.is_long and row.port != own for row in self._rows.values()
        )
        return changed or self._agreement.refuted


class StatedCheck(Check):
    """A pairing that a handshake, a host's agent or a person stated.

    One response that fits closely, or a port that follows from both queue pairs, confirms it. Where
    no response fits at all, these speak against it:

    - impossible responses, but not where READs are so large that hardly any is;
    - other ports of both flows than those of an earlier look: a program can change them
      (mlx5dv_modify_qp_udp_sport), but hardly both.
    """

    answer_limit = LATE_ANSWER_LIMIT
    history = round((LATE_ANSWER_LIMIT + 1.5) / SAMPLE_SPACING)

    def __init__(self, pairing: Pairing, now: float, earlier: Seen) -> None:
        super().__init__(pairing, now)
        self._earlier = earlier
        self._fits = False
        self._impossible = 0
        self._close = 0
        self._near = 0
        self._astray = 0
        self._off = 0

    def _weigh(self, verdict: Verdict, psn: int, distance: int, *, bounded: bool) -> None:
        self._near += distance <= CLOSE
        self._astray += CLOSE < distance < HALF_SPACE
        if verdict is Verdict.SHOWN:
            self._fits = True
            if distance <= (CLOSER * self._earlier.off or CLOSE):
                self._close += 1
                self._off = max(self._off, distance)
        elif verdict is Verdict.IMPOSSIBLE and bounded:
            self._impossible += 1

    @property
    def seen(self) -> Seen:
        """What the next look is compared with."""
        earlier = self._earlier
        # Ports that followed from the queue pairs say more than any later ones.
        if earlier.ports is not None and (not self.confirmed or earlier.ports == self._own_ports):
            ports: Ports | None = earlier.ports
        else:
            ports = self._ports
        off = min(CLOSE, self._off) if self.confirmed else 0
        return Seen(off or earlier.off, ports)

    @property
    def confirmed(self) -> bool:
        """Something fits closely; where ports changed, all that can tell."""
        if self.ports_changed:
            followed = self._earlier.ports == self._own_ports
            return not followed and self._close >= RESPONSES_NEEDED and not self._impossible
        return self._close > 0 or self.port_follows

    @property
    def strays(self) -> bool:
        return self.fails and not self._near and self._astray >= RESPONSES_NEEDED

    @property
    def refuted(self) -> bool:
        """What was seen does not belong to one connection."""
        if self.ports_changed and self._earlier.ports == self._own_ports:
            return True
        if self._fits or self.port_follows:
            return False
        against = self._weighed if self.ports_changed else self._impossible
        return against >= RESPONSES_NEEDED

    @property
    def ports_changed(self) -> bool:
        """Whether both flows had one port each in an earlier look, and have others now."""
        earlier, now = self._earlier.ports, self._ports
        return (
            earlier is not None
            and now is not None
            and all(one != other for one, other in zip(earlier, now, strict=True))
            and any(row.is_long for row in self._rows.values())
        )

    @property
    def _ports(self) -> Ports | None:
        """Of both flows, where all packets of each had the same."""
        forth, back = self._rows.values()
        seen = forth.port and back.port
        return (forth.port, back.port) if seen and forth.constant and back.constant else None
