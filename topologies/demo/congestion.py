"""The congestions of a run: when each began and when a sender first cut its rate for it.

A congestion begins when the bottleneck's queue reaches level 1 after CALM_MS without congestion. It
is observed in several places: a packet with a CE mark or a notice leaves the node (timestamped by
the kernel on the link), a sample of the queue depth is over the threshold, a marked packet reaches
a receiver. No observation precedes the onset, so the earliest, less its propagation delay, is the
best bound on it. Congestions before the last sender starts are left out: they are bursts of packets
that a loaded machine did not send evenly paced.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

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


def congestions(scenario: Scenario, record: RunRecord) -> tuple[Congestion, ...]:
    """All congestions to which a sender reacted, in order."""
    cuts = sorted(
        (
            (event, flow)
            for flow, sender, _ in flow_endpoints(scenario, record)
            for event in sender.named("cnp")
            if event["cut"]
        ),
        key=lambda cut: cut[0].time_ns,
    )
    onsets = list(_onsets(scenario, record))
    found = []
    for onset, following in zip_longest(onsets, onsets[1:]):
        for event, flow in cuts:
            if event.time_ns >= onset and (following is None or event.time_ns < following):
                found.append(_congestion(scenario, record, onset, event, flow))
                break
    return tuple(found)


def pauses_ms(scenario: Scenario, record: RunRecord) -> tuple[float, ...]:
    """From the onset of each congestion to the first PAUSE frame that holds a sender, in ms."""
    begun = sorted(
        event.time_ns
        for _, sender, _ in flow_endpoints(scenario, record)
        for event in sender.named("pause")
        if event["hold_ns"] and event["qps"]
    )
    onsets = list(_onsets(scenario, record))
    found = []
    for onset, following in zip_longest(onsets, onsets[1:]):
        first = next((time for time in begun if time >= onset), None)
        if first is not None and (following is None or first < following):
            found.append((first - onset) / NS_PER_MS)
    return tuple(found)


def first_onset_ms(scenario: Scenario, record: RunRecord) -> float:
    """When the first congestion begins, whether or not anybody reacts; where nothing shows one,
    when the last sender starts. Milliseconds since the start of the run."""
    onset_ns = next(_onsets(scenario, record), None)
    if onset_ns is None:
        return scenario.overload_s * 1000
    return (onset_ns - record.start_ns) / NS_PER_MS


def _onsets(scenario: Scenario, record: RunRecord) -> Iterator[int]:
    overload_ns = record.start_ns + round(scenario.overload_s * 1000 * NS_PER_MS)
    last = None
    for sign in sorted(_signs(scenario, record)):
        if sign >= overload_ns and (last is None or sign - last > CALM_MS * NS_PER_MS):
            yield sign
        if sign >= overload_ns:
            last = sign


def _signs(scenario: Scenario, record: RunRecord) -> Iterator[int]:
    yield from record.ce_ns
    yield from record.notices_ns
    # A packet is marked by the queue depth after its dequeue; samples are of the same depth.
    yield from (sample.time_ns for sample in record.queue if sample.depth > record.mode.depths[0])
    for flow, _, receiver in flow_endpoints(scenario, record):
        delay_ns = scenario.topology.delay_ns(scenario.bottleneck[0], flow.receiver)
        yield from (e.time_ns - delay_ns for e in receiver.named("ce"))


def _congestion(
    scenario: Scenario, record: RunRecord, onset_ns: int, cut: Event, flow: Flow
) -> Congestion:
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
