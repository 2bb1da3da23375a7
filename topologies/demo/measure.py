"""Evaluates the record of a run. Pure functions; times in milliseconds."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Literal

from fcn.hosts.roce.log import Event, RoceLog
from fcn.topologies.demo.comparison import Figures, Other, jain, percentile
from fcn.topologies.demo.congestion import Congestion, congestions, first_onset_ms, pauses_ms
from fcn.topologies.demo.modes import Mode
from fcn.topologies.demo.other_traffic import Seen
from fcn.topologies.demo.scenario import MTU, Flow, Scenario, by_switch
from fcn.topologies.demo.traffic import RunRecord, flow_endpoints
from fcn.topologies.model import NS_PER_MS

# The peak of the first congestion is taken over this time after its onset, in milliseconds.
FIRST_MS = 300

QueueSource = Literal["traffic manager", "packets in and out"]


class MeasureError(ValueError):
    """The record of a run lacks what is to be measured; the message says what."""


@dataclass(frozen=True, slots=True)
class Series:
    """Values over time; `times_ms` counts from the start of the run."""

    times_ms: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run's results.

    `queue` is in packets: read from the traffic manager every 2 ms, or counted on the wire
    (packets in less packets out and lost), as `queue_source` says. `congestions` are those for
    which a sender cut its rate; in a mode that tells senders there is at least one. `onset_ms`:
    when the first congestion begins; `first_peak_queue` is the peak within FIRST_MS of it.
    `pauses_ms`: from each onset to the first PAUSE frame that holds a sender, where one does,
    `pause_frames`: when one came. `held`: packets that waited in nodes, once for each.
    `goodputs_bps`: of each sender, while all send; `fairness`: Jain's index over their queue pairs.
    """

    mode: Mode
    onset_ms: float
    congestions: tuple[Congestion, ...]
    queue: Series
    queue_source: QueueSource
    peak_queue: float
    first_peak_queue: float
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
    goodputs_bps: dict[str, float]
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
    def first(self) -> Congestion | None:
        """The congestion that began when the last sender started; None where nobody cut."""
        return self.congestions[0] if self.congestions else None

    @property
    def reactions_ms(self) -> list[float]:
        """From onset to first rate cut, of all congestions, in ascending order."""
        return sorted(each.reaction_ms for each in self.congestions)

    @property
    def reaction_ms(self) -> float | None:
        """The median of `reactions_ms`; None where nobody cut."""
        return median(self.reactions_ms) if self.congestions else None

    @property
    def caused_by_pe(self) -> int:
        """Congestions whose first cut the ingress PE's CNP caused."""
        return sum(each.by_pe for each in self.congestions)

    @property
    def figures(self) -> Figures:
        """What modes are compared by."""
        reaction = self.reaction_ms
        return Figures(
            title=self.mode.title,
            colour=self.mode.colour,
            reaction_ns=None if reaction is None else reaction * NS_PER_MS,
            pause_ns=median(self.pauses_ms) * NS_PER_MS if self.pauses_ms else None,
            held=self.held,
            peak_queue=self.peak_queue,
            dropped=self.lost + sum(other.lost for other in self.others),
            goodput_bps=self.goodputs_bps,
            fairness=self.fairness,
            others=self.others,
        )


def measure(scenario: Scenario, record: RunRecord) -> Measurement:
    """Measure one run. Raises MeasureError when there was no congestion, or no reaction in a mode
    that tells senders."""
    name = record.mode.name
    if record.mode.marks and not record.ce_ns:
        raise MeasureError(f"{name}: no packet was marked, the bottleneck never congested")
    found = congestions(scenario, record)
    if record.mode.told_by is not None and not found:
        raise MeasureError(f"{name}: no sender cut its rate for a congestion")
    onset_ms = first_onset_ms(scenario, record)
    goodputs = _goodputs(scenario, record)
    queue, queue_source = _queue(scenario, record)
    sent = sum(log.total("qp_summary", "packets") for log in record.senders.values())
    received = sum(log.total("qp_summary", "packets") for log in record.receivers.values())
    taken = sum(log.total("qp_summary", "taken") for log in record.receivers.values())
    return Measurement(
        mode=record.mode,
        onset_ms=onset_ms,
        congestions=found,
        queue=queue,
        queue_source=queue_source,
        peak_queue=max(queue.values, default=0.0),
        first_peak_queue=_first_peak(queue, onset_ms),
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
        goodputs_bps={sender: sum(of_qps) for sender, of_qps in goodputs.items()},
        fairness=jain(bps for of_qps in goodputs.values() for bps in of_qps),
        others=tuple(_other(scenario, record, seen) for seen in record.others),
    )


def _first_peak(queue: Series, onset_ms: float) -> float:
    """The longest queue within FIRST_MS of an onset."""
    depths = zip(queue.times_ms, queue.values, strict=True)
    return max((depth for time, depth in depths if 0 <= time - onset_ms <= FIRST_MS), default=0.0)


def _heard(
    record: RunRecord, name: str, counts: Callable[[Event], bool] = lambda _: True
) -> tuple[float, ...]:
    """When senders logged an event, in ascending order; only those that count."""
    events = (event for log in record.senders.values() for event in log.named(name))
    return tuple(sorted(_ms(record, event) for event in events if counts(event)))


def _goodputs(scenario: Scenario, record: RunRecord) -> dict[str, list[float]]:
    """Payload taken in order, in bit/s, of each sender's queue pairs, while all send."""
    seconds = scenario.seconds - scenario.overload_s
    return {
        flow.sender: [
            packets * MTU * 8 / seconds for packets in _taken(scenario, record, flow, receiver)
        ]
        for flow, _, receiver in flow_endpoints(scenario, record)
    }


def _taken(scenario: Scenario, record: RunRecord, flow: Flow, receiver: RoceLog) -> list[int]:
    """Packets taken in order by each queue pair of a receiver, of those sent while all send."""
    delay_ns = scenario.topology.delay_ns(flow.sender, flow.receiver)
    begin = record.start_ns + round(scenario.overload_s * 1000 * NS_PER_MS) + delay_ns
    taken: Counter[int] = Counter()
    for event in receiver.named("rate"):
        if begin < event.time_ns <= record.end_ns + delay_ns:
            taken[event["qp"]] += event["taken"]
    # A queue pair that took nothing has no line, or lines with nothing.
    idle = max(0, flow.qps - len(taken))
    return [*taken.values(), *[0] * idle]


def _other(scenario: Scenario, record: RunRecord, seen: Seen) -> Other:
    """Packets sent before there is congestion are left out of the delays, not of those lost."""
    flow = seen.flow
    propagation_ns = scenario.topology.delay_ns(flow.sender, flow.receiver)
    begin = record.start_ns + round(scenario.overload_s * 1000 * NS_PER_MS)
    delays = [
        float(each.latency_ns - propagation_ns) for each in seen.arrivals if each.sent_ns >= begin
    ]
    lost = seen.sent - seen.received
    return Other(place=flow.place, sent=seen.sent, lost=lost, delay_ns=percentile(delays))


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
