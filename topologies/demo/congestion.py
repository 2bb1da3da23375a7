"""The congestions of a run: when each began and when a sender first cut its rate for it.

A congestion begins when the bottleneck's queue reaches level 1 after CALM_MS without congestion. It
is observed in several places: a packet with a CE mark or a notice leaves the node (timestamped by
the kernel on the link), a sample of the queue depth is over the threshold, a marked packet reaches
a receiver. No observation precedes the onset, so the earliest, less its propagation delay, is the
best bound on it. Congestions of a round before its last sender starts are left out: they are bursts
of packets that a loaded machine did not send evenly paced.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from fcn.hosts.roce.log import Event
from fcn.topologies.demo.scenario import Flow, Scenario, by_switch
from fcn.topologies.demo.traffic import RunRecord, flow_endpoints
from fcn.topologies.model import NS_PER_MS

# Two observations of congestion this far apart belong to different ones; the RTT is 16 ms.
CALM_MS = 100


@dataclass(frozen=True, slots=True)
class Congestion:
    """One congestion; milliseconds since the start of the run.

    `by_pe`: the ingress PE's CNP caused the first cut, not a receiver's; `bound_ms`: propagation
    delay of the whole path of that notification, from the bottleneck on.
    """

    onset_ms: float
    cut_ms: float
    sender: str
    by_pe: bool
    bound_ms: float

    @property
    def reaction_ms(self) -> float:
        """From the onset to the first rate cut."""
        return self.cut_ms - self.onset_ms


@dataclass(frozen=True, slots=True)
class Onset:
    """The first congestion of a round: it lasts until `next_ms`, when another one begins, or until
    `end_ms`, the end of the round.

    `same_state`: the reaction points of all senders were as new, in line rate and with alpha 1: no
    cut since the reset. `answer`: None where nobody cut.
    """

    onset_ms: float
    next_ms: float
    end_ms: float
    same_state: bool
    answer: Congestion | None


def congestions(scenario: Scenario, record: RunRecord) -> tuple[Congestion, ...]:
    """All congestions to which a sender reacted, in order; also later ones of a round."""
    cuts = _cuts(scenario, record)
    return tuple(
        found
        for begins, ends in _rounds(scenario, record)
        for onset, following in pairwise([*_onsets(scenario, record, begins, ends), ends])
        if (found := _answer(scenario, record, cuts, onset, following)) is not None
    )


def onsets(scenario: Scenario, record: RunRecord) -> tuple[Onset, ...]:
    """The first congestion of every round. Where a switch that marks nothing shows none, it begins
    when the last sender starts."""
    cuts = _cuts(scenario, record)
    found = []
    for begins, ends in _rounds(scenario, record):
        first = [*_onsets(scenario, record, begins, ends)][:2]
        if not first and record.mode.marks:
            continue
        onset, following = (*first, ends, ends)[:2] if first else (begins, ends)
        found.append(
            Onset(
                onset_ms=(onset - record.start_ns) / NS_PER_MS,
                next_ms=(following - record.start_ns) / NS_PER_MS,
                end_ms=(ends - record.start_ns) / NS_PER_MS,
                same_state=_same_state(scenario, record, onset),
                answer=_answer(scenario, record, cuts, onset, following),
            )
        )
    return tuple(found)


def pauses_ms(scenario: Scenario, record: RunRecord) -> tuple[float, ...]:
    """From the onset of each congestion to the first PAUSE frame that holds a sender, in ms."""
    begun = sorted(
        event.time_ns
        for _, sender, _ in flow_endpoints(scenario, record)
        for event in sender.named("pause")
        if event["hold_ns"] and event["qps"]
    )
    found = []
    for begins, ends in _rounds(scenario, record):
        for onset, following in pairwise([*_onsets(scenario, record, begins, ends), ends]):
            first = next((time for time in begun if onset <= time < following), None)
            if first is not None:
                found.append((first - onset) / NS_PER_MS)
    return tuple(found)


def _rounds(scenario: Scenario, record: RunRecord) -> Iterator[tuple[int, int]]:
    """From the start of the last sender to the end of each whole round."""
    for number in range(scenario.rounds):
        begins = record.start_ns + round(number * scenario.round_s * 1000 * NS_PER_MS)
        joined = begins + round(scenario.overload_s * 1000 * NS_PER_MS)
        yield joined, begins + round(scenario.round_s * 1000 * NS_PER_MS)


def _onsets(scenario: Scenario, record: RunRecord, begins: int, ends: int) -> Iterator[int]:
    last = None
    for sign in sorted(_signs(scenario, record)):
        if begins <= sign < ends:
            if last is None or sign - last > CALM_MS * NS_PER_MS:
                yield sign
            last = sign


def _signs(scenario: Scenario, record: RunRecord) -> Iterator[int]:
    yield from record.ce_ns
    yield from record.notices_ns
    # A packet is marked by the queue depth after its dequeue; samples are of the same depth.
    yield from (sample.time_ns for sample in record.queue if sample.depth > record.mode.depths[0])
    for flow, _, receiver in flow_endpoints(scenario, record):
        delay_ns = scenario.topology.delay_ns(scenario.bottleneck[0], flow.receiver)
        yield from (e.time_ns - delay_ns for e in receiver.named("ce"))


def _same_state(scenario: Scenario, record: RunRecord, onset_ns: int) -> bool:
    round_ns = round(scenario.round_s * 1000 * NS_PER_MS)
    for _, sender, _ in flow_endpoints(scenario, record):
        resets = [event.time_ns for event in sender.named("reset") if event.time_ns <= onset_ns]
        if not resets or onset_ns - resets[-1] > round_ns:
            return False
        if any(e["cut"] for e in sender.named("cnp") if resets[-1] <= e.time_ns <= onset_ns):
            return False
    return True


def _cuts(scenario: Scenario, record: RunRecord) -> list[tuple[Event, Flow]]:
    """In the order of time."""
    cuts = (
        (event, flow)
        for flow, sender, _ in flow_endpoints(scenario, record)
        for event in sender.named("cnp")
        if event["cut"]
    )
    return sorted(cuts, key=lambda cut: cut[0].time_ns)


def _answer(
    scenario: Scenario,
    record: RunRecord,
    cuts: list[tuple[Event, Flow]],
    onset_ns: int,
    following_ns: int,
) -> Congestion | None:
    """The first cut from an onset on, before the following one."""
    first = next((each for each in cuts if onset_ns <= each[0].time_ns < following_ns), None)
    if first is None:
        return None
    cut, flow = first
    by_pe = by_switch(cut)
    topology = scenario.topology
    node = scenario.bottleneck[0]
    if by_pe:
        bound_ms = topology.delay_ms(node, flow.sender)
    else:
        bound_ms = topology.delay_ms(node, flow.receiver)
        bound_ms += topology.delay_ms(flow.receiver, flow.sender)
    return Congestion(
        onset_ms=(onset_ns - record.start_ns) / NS_PER_MS,
        cut_ms=(cut.time_ns - record.start_ns) / NS_PER_MS,
        sender=flow.sender,
        by_pe=by_pe,
        bound_ms=bound_ms,
    )
