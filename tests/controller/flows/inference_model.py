"""A model of hosts and PEs for the tests of inference: reported samples of connections without CM.

Time is simulated. A connection's requests advance its PSN at some rate, in bursts; responses repeat
the PSN of the last packet of a message sent one round trip earlier. A PE reports at most one packet
of a flow per learning window, with a delay, and a report can be lost.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from ipaddress import ip_address

from fcn.controller.flows.inference import Inference, Sample, connection_port
from fcn.controller.flows.key import FlowKey

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
VRF = "blue"
WRITE, ACK = 0x0A, 0x11
WINDOW = 0.01
CONCLUDE_EVERY = 0.25


class Ports(Enum):
    """Algorithms by which stacks choose UDP source ports."""

    LINUX = "from both QPs"
    RANDOM = "random per QP"
    CONSTANT = "one for all"
    SAME_RANDOM = "random per connection"


@dataclass(slots=True)
class Connection:
    """Queue pairs of A and B. `rate` in packets/s per direction that has requests."""

    a_qp: int
    b_qp: int
    ports: tuple[int, int]
    rates: tuple[float, float]
    first_psns: tuple[int, int]
    message: int = 1
    start: float = 0.0
    stop: float = 1e9
    burst: tuple[float, float] = (1.0, 0.0)
    """Seconds of sending, seconds of pause."""
    visible: tuple[bool, bool] = (True, True)

    @property
    def flows(self) -> tuple[FlowKey, FlowKey]:
        """A to B, B to A."""
        return FlowKey(VRF, A, B, self.b_qp), FlowKey(VRF, B, A, self.a_qp)

    def sent(self, side: int, now: float) -> int:
        """Requests sent by now."""
        active = min(now, self.stop) - self.start
        if active <= 0:
            return 0
        on, off = self.burst
        cycles, rest = divmod(active, on + off)
        return int((cycles * on + min(rest, on)) * self.rates[side])

    def request(self, side: int, now: float) -> int | None:
        """PSN of a request sent at `now`; None in a pause."""
        if self.sent(side, now) == self.sent(side, now - WINDOW):
            return None
        return (self.first_psns[side] + self.sent(side, now) - 1) % (1 << 24)

    def response(self, side: int, now: float, round_trip: float) -> int | None:
        """PSN of a response, sent at `now`, to the other side's requests; None if there is none."""
        asked, other = now - round_trip, 1 - side
        whole = self.sent(other, asked) // self.message
        if whole == self.sent(other, asked - WINDOW) // self.message:
            return None
        return (self.first_psns[other] + whole * self.message - 1) % (1 << 24)


@dataclass(slots=True)
class Outcome:
    """Number of flows with a correct, a wrong and an unknown source queue pair."""

    right: int = 0
    wrong: int = 0
    unknown: int = 0
    reports: int = 0
    bound: dict[FlowKey, int] = field(default_factory=dict)


def connections(
    count: int,
    rng: random.Random,
    *,
    ports: Ports = Ports.LINUX,
    first_psn: int | None = None,
    rate: float = 2000.0,
    both_ways: bool = False,
    message: int = 1,
) -> list[Connection]:
    """`count` connections from A to B at about the same rate; first_psn None: random."""
    a_qps = rng.sample(range(0x11, 0x11 + 4 * count), count)
    b_qps = rng.sample(range(0x80, 0x80 + 4 * count), count)
    constant = rng.randrange(0xC000, 0x10000)
    found = []
    for a_qp, b_qp in zip(a_qps, b_qps, strict=True):
        shared = rng.randrange(0xC000, 0x10000)
        chosen = {
            Ports.LINUX: (connection_port(a_qp, b_qp),) * 2,
            Ports.RANDOM: (rng.randrange(0xC000, 0x10000), rng.randrange(0xC000, 0x10000)),
            Ports.CONSTANT: (constant, constant),
            Ports.SAME_RANDOM: (shared, shared),
        }[ports]
        psns = [rng.getrandbits(24) if first_psn is None else first_psn for _ in range(2)]
        speed = rate * rng.uniform(0.8, 1.25)
        found.append(
            Connection(
                a_qp,
                b_qp,
                (chosen[0], chosen[1]),
                (speed, speed if both_ways else 0.0),
                (psns[0], psns[1]),
                message,
                start=rng.uniform(0, 0.2),
            )
        )
    return found


def simulate(
    all_connections: list[Connection],
    rng: random.Random,
    *,
    seconds: float = 4.0,
    round_trip: float = 0.02,
    loss: float = 0.0,
    report_delay: float = 0.006,
    complete: Callable[[object], bool] = lambda _: True,
) -> Outcome:
    """Simulate reports of the PEs for some seconds, with the controller's inference interval."""
    now = 0.0
    inference = Inference(lambda: now, complete)
    outcome = Outcome()
    reports: list[tuple[float, FlowKey, Sample]] = []
    for step in range(round(seconds / WINDOW)):
        time = step * WINDOW + rng.uniform(0, WINDOW / 2)
        for connection in all_connections:
            for side, flow in enumerate(connection.flows):
                sample = _report(connection, side, time, round_trip, rng)
                if sample is not None and rng.random() >= loss:
                    reports.append((time + rng.uniform(0, report_delay), flow, sample))
    reports.sort(key=lambda each: each[0])
    next_look = CONCLUDE_EVERY
    for when, flow, sample in reports:
        while when >= next_look:
            now = next_look
            _conclude(inference, outcome)
            next_look += CONCLUDE_EVERY
        now = when
        if flow not in outcome.bound:
            inference.observe(flow, sample)
            outcome.reports += 1
    for _ in range(8):
        now = next_look
        _conclude(inference, outcome)
        next_look += CONCLUDE_EVERY
    truth = {
        flow: qp
        for each in all_connections
        for flow, qp in zip(each.flows, (each.a_qp, each.b_qp), strict=True)
    }
    seen = {flow for _, flow, _ in reports}
    outcome.right = sum(truth[flow] == qp for flow, qp in outcome.bound.items())
    outcome.wrong = len(outcome.bound) - outcome.right
    outcome.unknown = len(seen - outcome.bound.keys())
    return outcome


def _report(
    connection: Connection, side: int, time: float, round_trip: float, rng: random.Random
) -> Sample | None:
    if not connection.visible[side]:
        return None
    packets = [
        (opcode, psn)
        for opcode, psn in (
            (WRITE, connection.request(side, time)),
            (ACK, connection.response(side, time, round_trip)),
        )
        if psn is not None
    ]
    if not packets:
        return None
    opcode, psn = rng.choice(packets)
    return Sample(opcode, psn, connection.ports[side])


def _conclude(inference: Inference, outcome: Outcome) -> None:
    for event in inference.conclude():
        assert event.flow not in outcome.bound, "concluded twice"
        outcome.bound[event.flow] = event.source_qp


def total(outcomes: list[Outcome]) -> Counter[str]:
    """Sums over several outcomes."""
    found: Counter[str] = Counter()
    for each in outcomes:
        found.update(right=each.right, wrong=each.wrong, unknown=each.unknown, reports=each.reports)
    return found
