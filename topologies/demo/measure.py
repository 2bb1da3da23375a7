"""From what a run recorded to what the demo is about. Pure functions; times in milliseconds.

Congestion begins when, after the last sender joined, the bottleneck's queue reaches level 1. That
shows in several places: a packet with a CE mark or a Fast CNP leaves the node (stamped by the
kernel on the link), a sample of the queue is over the threshold, a marked packet reaches a
receiver. None can be seen before it happened, so the earliest, less the propagation delay on its
way, is the best bound on the onset. (Marks from before are bursts that a busy machine makes of
evenly paced packets.)
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from topologies.demo.scenario import MTU, Flow, Mode, Scenario
from topologies.demo.traffic import RunRecord, flow_endpoints
from topologies.roce.log import Event

NS_PER_MS = 1_000_000
# How long "the first" of a congestion lasts, in milliseconds.
FIRST_MS = 300

QueueSource = Literal["traffic manager", "packets in and out"]


class MeasureError(ValueError):
    """A run lacks what is to be measured; the message says what."""


@dataclass(frozen=True, slots=True)
class Series:
    """Values over time; `times_ms` counts from the start of the run."""

    times_ms: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run's results.

    `queue` is in packets: read from the traffic manager every 2 ms, or counted on the wire
    (packets in less packets out and lost), as `queue_source` says. `bound_ms` is the propagation
    delay of the notification that made the first cut; `first_peak_queue` is the peak within
    FIRST_MS of the onset.
    """

    mode: Mode
    onset_ms: float
    first_cut_ms: float
    first_cut_host: str
    first_cut_source: str
    bound_ms: float
    first_cut_by_pe: bool
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
    fast_cnps: tuple[float, ...]
    goodput_bps: float

    @property
    def reaction_ms(self) -> float:
        """From congestion onset to the first rate cut."""
        return self.first_cut_ms - self.onset_ms


def measure(scenario: Scenario, record: RunRecord) -> Measurement:
    """Measure one run. Raises MeasureError when there was no congestion or no reaction."""
    onset_ns = _onset_ns(scenario, record)
    onset_ms = (onset_ns - record.start_ns) / NS_PER_MS
    flow, cut = _first_cut(scenario, record, onset_ns)
    from_pe = cut["src"] != scenario.address(flow, flow.receiver)
    bottleneck = scenario.bottleneck[0]
    topology = scenario.topology
    bound_ms = (
        topology.delay_ms(bottleneck, flow.sender)
        if from_pe
        else topology.delay_ms(bottleneck, flow.receiver)
        + topology.delay_ms(flow.receiver, flow.sender)
    )
    queue, queue_source = _queue(scenario, record)
    cnps = [
        (_ms(record, event), event["src"] == scenario.address(each, each.receiver))
        for each, sender, _ in flow_endpoints(scenario, record)
        for event in sender.named("cnp")
    ]
    sent = sum(log.total("qp_summary", "packets") for log in record.senders.values())
    received = sum(log.total("qp_summary", "packets") for log in record.receivers.values())
    return Measurement(
        mode=record.mode,
        onset_ms=onset_ms,
        first_cut_ms=_ms(record, cut),
        first_cut_host=flow.sender,
        first_cut_source=cut["src"],
        first_cut_by_pe=from_pe,
        bound_ms=bound_ms,
        queue=queue,
        queue_source=queue_source,
        peak_queue=max(queue.values, default=0.0),
        first_peak_queue=max(
            (
                depth
                for time, depth in zip(queue.times_ms, queue.values, strict=True)
                if 0 <= time - onset_ms <= FIRST_MS
            ),
            default=0.0,
        ),
        sent=sent,
        received=received,
        lost=sent - received,
        ce_seen=sum(log.total("qp_summary", "ce") for log in record.receivers.values()),
        rates_bps={name: _rates(record, name) for name in record.senders},
        cnps_from_pe=tuple(sorted(time for time, by_receiver in cnps if not by_receiver)),
        cnps_from_receiver=tuple(sorted(time for time, by_receiver in cnps if by_receiver)),
        fast_cnps=tuple((stamp - record.start_ns) / NS_PER_MS for stamp in record.fast_cnps_ns),
        goodput_bps=received * MTU * 8 / scenario.seconds,
    )


def _ms(record: RunRecord, event: Event) -> float:
    return (event.time_ns - record.start_ns) / NS_PER_MS


def _onset_ns(scenario: Scenario, record: RunRecord) -> int:
    evidence = [*record.ce_ns, *record.fast_cnps_ns]
    threshold = scenario.settings.thresholds[0]
    # A packet is marked when, after it left, so many wait; the sample is of the same count.
    evidence += [sample.time_ns for sample in record.queue if sample.depth > threshold]
    for flow, _, receiver in flow_endpoints(scenario, record):
        delay_ms = scenario.topology.delay_ms(scenario.bottleneck[0], flow.receiver)
        evidence += [e.time_ns - round(delay_ms * NS_PER_MS) for e in receiver.named("ce")]
    overload_ns = record.start_ns + round(scenario.overload_s * 1000 * NS_PER_MS)
    after = [stamp for stamp in evidence if stamp >= overload_ns]
    if not record.ce_ns or not after:
        raise MeasureError(f"{record.mode}: no packet was marked, the bottleneck never congested")
    return min(after)


def _first_cut(scenario: Scenario, record: RunRecord, onset_ns: int) -> tuple[Flow, Event]:
    cuts = [
        (event.time_ns, flow, event)
        for flow, sender, _ in flow_endpoints(scenario, record)
        for event in sender.named("cnp")
        if event["cut"] and event.time_ns >= onset_ns
    ]
    if not cuts:
        raise MeasureError(f"{record.mode}: no sender cut its rate")
    _, flow, event = min(cuts, key=lambda cut: cut[0])
    return flow, event


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
    # What the queue dropped never leaves; receivers miss it about when it would have arrived.
    changes += [
        (event.time_ns, -event["packets"])
        for log in record.receivers.values()
        for event in log.named("loss")
    ]
    changes.sort()
    depths = accumulate(change for _, change in changes)
    points = [
        ((stamp - record.start_ns) / NS_PER_MS, float(max(depth, 0)))
        for (stamp, _), depth in zip(changes, depths, strict=True)
        if stamp >= record.start_ns
    ]
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
            # Lines of one moment, one per queue pair, make one point.
            values[-1] = sum(rates.values())
    return Series(tuple(times), tuple(values))
