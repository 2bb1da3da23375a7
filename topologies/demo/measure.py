"""Evaluates the record of a run. Pure functions; times in milliseconds."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, exp, log
from statistics import median
from typing import Literal

from fcn.hosts.roce.log import Event, RoceLog
from fcn.topologies.demo.congestion import Congestion, Onset, congestions, onsets, pauses_ms
from fcn.topologies.demo.modes import DEPTHS, Mode
from fcn.topologies.demo.other_traffic import Seen
from fcn.topologies.demo.scenario import MTU, Flow, Scenario, by_switch
from fcn.topologies.demo.traffic import RunRecord, flow_endpoints
from fcn.topologies.model import NS_PER_MS

# The peak of an onset is taken over this time after it, in milliseconds.
FIRST_MS = 300

PERCENT = 99

QueueSource = Literal["traffic manager", "packets in and out"]


class MeasureError(ValueError):
    """The record of a run lacks what is to be measured; the message says what."""


@dataclass(frozen=True, slots=True)
class Series:
    """Values over time; `times_ms` counts from the start of the run."""

    times_ms: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Cuts:
    """The rate cuts of a queue pair. slowing: sum of the logarithms of the rates before over
    those after, so that a cut by a half is worth the same at any rate."""

    count: int
    slowing: float

    @property
    def depth(self) -> float:
        """The part of the rate that a cut takes, geometric mean."""
        return 1 - exp(-self.slowing / self.count) if self.count else 0.0


@dataclass(frozen=True, slots=True)
class Other:
    """What one flow of other traffic saw.

    delay_ms: the 99th percentile of its packets' time on the way beyond propagation, None where
    none arrived.
    """

    place: str
    sent: int
    lost: int
    delay_ms: float | None


def jain(values: Iterable[float]) -> float | None:
    """Jain's fairness index: 1 when all are equal, 1/n when one has all; None where all are 0."""
    numbers = list(values)
    squares = sum(value**2 for value in numbers)
    return sum(numbers) ** 2 / (len(numbers) * squares) if squares else None


def percentile(values: Iterable[float]) -> float | None:
    """The 99th percentile: the least of the values that 99 % do not exceed; None of nothing."""
    ordered = sorted(values)
    return ordered[ceil(PERCENT * len(ordered) / 100) - 1] if ordered else None


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run's results.

    `queue` is in packets: read from the traffic manager every 2 ms, or counted on the wire
    (packets in less packets out and lost), as `queue_source` says. `onsets`: of the rounds, where
    all senders were in the same state, which modes are compared by; `disturbed`: how many others
    there were. Of each onset, `peaks`: the longest queue within FIRST_MS, `above_ms`: how long the
    queue was above level 1 in that congestion, and `round_above_ms`: the same until the end of the
    round, with the congestions of senders that have recovered.
    `congestions` are all for which a sender cut its rate, later ones of a round, too; in a mode
    that tells senders there is at least one.
    `pauses_ms`: from each onset to the first PAUSE frame that holds a sender, where one does,
    `pause_frames`: when one came. `held`: packets that waited in nodes, once for each.
    `goodputs_bps`: of each sender's queue pairs, while all send, and `cuts` of the same;
    `fairness`: Jain's index over all of them.
    """

    mode: Mode
    onsets: tuple[Onset, ...]
    disturbed: int
    above_ms: tuple[float, ...]
    round_above_ms: tuple[float, ...]
    peaks: tuple[float, ...]
    congestions: tuple[Congestion, ...]
    queue: Series
    queue_source: QueueSource
    peak_queue: float
    sent: int
    received: int
    lost: int
    ce_seen: int
    rates_bps: dict[str, Series]
    cnps_from_pe: tuple[float, ...]
    cnps_from_receiver: tuple[float, ...]
    notices: tuple[float, ...]
    pauses_ms: tuple[float, ...]
    pause_frames: tuple[float, ...]
    held: int
    goodput_bps: float
    goodputs_bps: dict[str, tuple[float, ...]]
    cuts: dict[str, tuple[Cuts, ...]]
    fairness: float | None
    others: tuple[Other, ...]

    @property
    def total_rate_bps(self) -> Series:
        """Sum of the senders' rates, at every change of one of them."""
        changes = sorted(
            (time, name, value)
            for name, series in self.rates_bps.items()
            for time, value in zip(series.times_ms, series.values, strict=True)
        )
        current: dict[str, float] = {}
        sums = []
        for _, name, value in changes:
            current[name] = value
            sums.append(sum(current.values()))
        return Series(tuple(time for time, _, _ in changes), tuple(sums))

    @property
    def answers(self) -> list[Congestion]:
        """Those of the onsets."""
        return [each.answer for each in self.onsets if each.answer is not None]

    @property
    def reactions_ms(self) -> list[float]:
        """From onset to first rate cut, in ascending order."""
        return sorted(each.reaction_ms for each in self.answers)

    @property
    def reaction_ms(self) -> float | None:
        """The median of `reactions_ms`; None where nobody cut."""
        return median(self.reactions_ms) if self.reactions_ms else None

    @property
    def time_above_ms(self) -> float:
        """The median of `above_ms`."""
        return median(self.above_ms)

    @property
    def round_time_above_ms(self) -> float:
        return median(self.round_above_ms)

    @property
    def total_goodput_bps(self) -> float:
        """Of all senders, while all send."""
        return sum(map(sum, self.goodputs_bps.values()))

    @property
    def caused_by_pe(self) -> int:
        """Congestions whose first cut the ingress PE's CNP caused."""
        return sum(each.by_pe for each in self.congestions)

    @property
    def pause_ms(self) -> float | None:
        """The median of `pauses_ms`; None where no sender was paused."""
        return median(self.pauses_ms) if self.pauses_ms else None

    @property
    def dropped(self) -> int:
        """Packets that did not arrive, of other traffic too."""
        return self.lost + sum(other.lost for other in self.others)

    @property
    def sender_goodputs_bps(self) -> dict[str, float]:
        """Of each sender, while all send."""
        return {sender: sum(of_qps) for sender, of_qps in self.goodputs_bps.items()}


def measure(scenario: Scenario, record: RunRecord) -> Measurement:
    """Measure one run. Raises MeasureError when there was no congestion, no onset with all senders
    in the same state, or no reaction in a mode that tells senders."""
    name = record.mode.name
    if record.mode.marks and not record.ce_ns:
        raise MeasureError(f"{name}: no packet was marked, the bottleneck never congested")
    found = congestions(scenario, record)
    if record.mode.told_by is not None and not found:
        raise MeasureError(f"{name}: no sender cut its rate for a congestion")
    begun = onsets(scenario, record)
    same = tuple(each for each in begun if each.same_state)
    if not same:
        raise MeasureError(
            f"{name}: of {len(begun)} onsets of congestion none found all senders as new; is the "
            "machine too busy?"
        )
    goodputs = _goodputs(scenario, record)
    queue, queue_source = _queue(scenario, record)
    sent = sum(log.total("qp_summary", "packets") for log in record.senders.values())
    received = sum(log.total("qp_summary", "packets") for log in record.receivers.values())
    taken = sum(log.total("qp_summary", "taken") for log in record.receivers.values())
    return Measurement(
        mode=record.mode,
        onsets=same,
        disturbed=len(begun) - len(same),
        above_ms=tuple(time_above(queue, DEPTHS[0], o.onset_ms, o.next_ms) for o in same),
        round_above_ms=tuple(time_above(queue, DEPTHS[0], o.onset_ms, o.end_ms) for o in same),
        peaks=tuple(_peak(queue, each.onset_ms) for each in same),
        congestions=found,
        queue=queue,
        queue_source=queue_source,
        peak_queue=max(queue.values, default=0.0),
        sent=sent,
        received=received,
        lost=sent - received,
        ce_seen=sum(log.total("qp_summary", "ce") for log in record.receivers.values()),
        rates_bps={name: _rates(record, name) for name in record.senders},
        cnps_from_pe=_heard(record, "cnp", by_switch),
        cnps_from_receiver=_heard(record, "cnp", lambda event: not by_switch(event)),
        notices=tuple((stamp - record.start_ns) / NS_PER_MS for stamp in record.notices_ns),
        pauses_ms=pauses_ms(scenario, record),
        pause_frames=_heard(record, "pause"),
        held=record.counted("HOLD_PARKED"),
        goodput_bps=taken * MTU * 8 / scenario.seconds,
        goodputs_bps=goodputs,
        cuts={
            flow.sender: _cuts(flow, sender) for flow, sender, _ in flow_endpoints(scenario, record)
        },
        fairness=jain(bps for of_qps in goodputs.values() for bps in of_qps),
        others=tuple(_other(scenario, record, seen) for seen in record.others),
    )


def time_above(queue: Series, depth: float, begin_ms: float, end_ms: float) -> float:
    """For how long, in milliseconds, the queue is longer than a depth. A value lasts until the
    next."""
    points = [*zip(queue.times_ms, queue.values, strict=True), (end_ms, 0.0)]
    return sum(
        max(0.0, min(until, end_ms) - max(since, begin_ms))
        for (since, value), (until, _) in pairwise(points)
        if value > depth
    )


def _peak(queue: Series, onset_ms: float) -> float:
    depths = zip(queue.times_ms, queue.values, strict=True)
    return max((depth for time, depth in depths if 0 <= time - onset_ms <= FIRST_MS), default=0.0)


def _heard(
    record: RunRecord, name: str, counts: Callable[[Event], bool] = lambda _: True
) -> tuple[float, ...]:
    """When senders logged an event, in ascending order; only those that count."""
    events = (event for log in record.senders.values() for event in log.named(name))
    return tuple(sorted(_ms(record, event) for event in events if counts(event)))


def _goodputs(scenario: Scenario, record: RunRecord) -> dict[str, tuple[float, ...]]:
    """Payload taken in order, in bit/s, of each sender's queue pairs, while all send."""
    seconds = scenario.rounds * scenario.together_s
    return {
        flow.sender: tuple(
            packets * MTU * 8 / seconds for packets in _taken(scenario, record, flow, receiver)
        )
        for flow, _, receiver in flow_endpoints(scenario, record)
    }


def _taken(scenario: Scenario, record: RunRecord, flow: Flow, receiver: RoceLog) -> tuple[int, ...]:
    """Packets taken in order by each queue pair of a receiver, of those sent while all send."""
    delay_ns = scenario.topology.delay_ns(flow.sender, flow.receiver)
    taken: Counter[int] = Counter()
    for event in receiver.named("rate"):
        if _together(scenario, record, event.time_ns - delay_ns):
            taken[event["qp"]] += event["taken"]
    return _per_qp(taken, flow.qps)


def _cuts(flow: Flow, sender: RoceLog) -> tuple[Cuts, ...]:
    """Of each queue pair, in the order of their numbers."""
    slowing: dict[int, list[float]] = {}
    for event in sender.named("cnp"):
        if event["cut"]:
            change = log(event["rate_before_bps"] / event["rate_bps"])
            slowing.setdefault(event["qp"], []).append(change)
    found = [Cuts(len(changes), sum(changes)) for _, changes in sorted(slowing.items())]
    return (*found, *[Cuts(0, 0.0)] * max(0, flow.qps - len(found)))


def _per_qp(counts: Counter[int], qps: int) -> tuple[int, ...]:
    """In the order of their numbers; a queue pair that is not counted has nothing."""
    return (*(counts[qp] for qp in sorted(counts)), *[0] * max(0, qps - len(counts)))


def _together(scenario: Scenario, record: RunRecord, time_ns: int) -> bool:
    number, into = divmod((time_ns - record.start_ns) / (1000 * NS_PER_MS), scenario.round_s)
    return 0 <= number < scenario.rounds and scenario.overload_s < into <= scenario.sending_s


def _other(scenario: Scenario, record: RunRecord, seen: Seen) -> Other:
    """Packets sent while there is no congestion are left out of the delays, not of those lost."""
    flow = seen.flow
    propagation_ns = scenario.topology.delay_ns(flow.sender, flow.receiver)
    delays = [
        (each.latency_ns - propagation_ns) / NS_PER_MS
        for each in seen.arrivals
        if _together(scenario, record, each.sent_ns)
    ]
    lost = seen.sent - seen.received
    return Other(place=flow.place, sent=seen.sent, lost=lost, delay_ms=percentile(delays))


def _ms(record: RunRecord, event: Event) -> float:
    return (event.time_ns - record.start_ns) / NS_PER_MS


def _queue(scenario: Scenario, record: RunRecord) -> tuple[Series, QueueSource]:
    if record.queue:
        inside = [each for each in record.queue if record.start_ns <= each.time_ns]
        return (
            Series(
                tuple((each.time_ns - record.start_ns) / NS_PER_MS for each in inside),
                tuple(float(each.depth) for each in inside),
            ),
            "traffic manager",
        )
    changes = [(stamp, 1) for stamp in record.arrivals_ns]
    changes += [(stamp, -1) for stamp in record.departures_ns]
    # What comes to a full queue is dropped, and never leaves it.
    room = scenario.bottleneck_depth
    depth, points = 0, []
    for stamp, change in sorted(changes):
        depth = min(max(depth + change, 0), room)
        if stamp >= record.start_ns:
            points.append(((stamp - record.start_ns) / NS_PER_MS, float(depth)))
    return (
        Series(tuple(time for time, _ in points), tuple(depth for _, depth in points)),
        "packets in and out",
    )


def _rates(record: RunRecord, sender: str) -> Series:
    """Sum of the queue pairs' current rates: at every log interval and at every cut."""
    rates: dict[int, float] = {}
    times: list[float] = []
    values: list[float] = []
    for event in record.senders[sender].events:
        if event.name in ("rate", "cnp"):
            rates[event["qp"]] = event["rate_bps"]
            if not times or times[-1] != _ms(record, event):
                times.append(_ms(record, event))
                values.append(0.0)
            # Lines with the same time, one per queue pair, give one point.
            values[-1] = sum(rates.values())
    return Series(tuple(times), tuple(values))
