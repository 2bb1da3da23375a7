"""Evaluates the record of a run. Pure functions; times in milliseconds."""

from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import Literal

from fcn.hosts.roce.log import Event
from fcn.topologies.demo.congestion import Congestion, congestions
from fcn.topologies.demo.scenario import MTU, Mode, Scenario
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
    (packets in less packets out and lost), as `queue_source` says. `congestions` holds at least
    one, the first begins when the last sender starts; `first_peak_queue` is the peak within
    FIRST_MS of its onset.
    """

    mode: Mode
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
    fast_cnps: tuple[float, ...]
    goodput_bps: float

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
    def first(self) -> Congestion:
        """The congestion that began when the last sender started."""
        return self.congestions[0]

    @property
    def reactions_ms(self) -> list[float]:
        """From onset to first rate cut, of all congestions, in ascending order."""
        return sorted(each.reaction_ms for each in self.congestions)

    @property
    def reaction_ms(self) -> float:
        """The median of `reactions_ms`."""
        return median(self.reactions_ms)

    @property
    def caused_by_pe(self) -> int:
        """Congestions whose first cut the ingress PE's CNP caused."""
        return sum(each.by_pe for each in self.congestions)


def measure(scenario: Scenario, record: RunRecord) -> Measurement:
    """Measure one run. Raises MeasureError when there was no congestion or no reaction."""
    if not record.ce_ns:
        raise MeasureError(f"{record.mode}: no packet was marked, the bottleneck never congested")
    found = congestions(scenario, record)
    if not found:
        raise MeasureError(f"{record.mode}: no sender cut its rate for a congestion")
    queue, queue_source = _queue(scenario, record)
    cnps = [
        (_ms(record, event), event["src"] == scenario.address(each, each.receiver))
        for each, sender, _ in flow_endpoints(scenario, record)
        for event in sender.named("cnp")
    ]
    sent = sum(log.total("qp_summary", "packets") for log in record.senders.values())
    received = sum(log.total("qp_summary", "packets") for log in record.receivers.values())
    taken = sum(log.total("qp_summary", "taken") for log in record.receivers.values())
    return Measurement(
        mode=record.mode,
        congestions=found,
        queue=queue,
        queue_source=queue_source,
        peak_queue=max(queue.values, default=0.0),
        first_peak_queue=max(
            (
                depth
                for time, depth in zip(queue.times_ms, queue.values, strict=True)
                if 0 <= time - found[0].onset_ms <= FIRST_MS
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
        goodput_bps=taken * MTU * 8 / scenario.seconds,
    )


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
    # Dropped packets never leave the queue; receivers see the loss about when they would arrive.
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
            # Lines with the same time, one per queue pair, give one point.
            values[-1] = sum(rates.values())
    return Series(tuple(times), tuple(values))
