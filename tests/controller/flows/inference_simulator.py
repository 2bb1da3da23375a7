"""Simulates hosts and PEs for the tests of inference: connections without CM, as PEs report them.

Run it for many seeds, with a table of what was inferred under which conditions:

    .venv/bin/python tests/controller/flows/inference_simulator.py 10000

Time is simulated. A connection is some runs of packets at equal distances, of requests and of the
responses to them (inference_traffic.py); a PE reports at most one packet of a flow per learning
window, maybe late, maybe not at all.
"""

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from ipaddress import ip_address

from inference_traffic import Kind, PacketRun, Trouble, Work, exchange

from fcn.controller.flows.inference import NOTHING, Agreement, Inference
from fcn.controller.flows.key import FlowKey, host_pair, is_forth
from fcn.controller.flows.trail import Sample, connection_port

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
VRF = "blue"
CONCLUDE_EVERY = 0.25
PSN_SPACE = 1 << 24
LONGEST = 1 << 23
"""Packets a requester has outstanding at most (IBTA volume 1, 9.7.2)."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a simulation varies. Times in seconds, rates in packets per second, sizes in packets."""

    connections: int = 8
    kind: str = Kind.WRITE
    message: int = 1
    rate: float = 2000.0
    in_step: bool = False
    """All connections have exactly the same rate."""
    depth: int = 1
    """READs a requester has outstanding."""
    both_ways: bool = False
    bursts: tuple[float, float] = (1e9, 0.0)
    """Seconds of sending, seconds of pause."""
    psns: str = "random"
    """random, equal, near or wrapping."""
    ports: str = "queue pairs"
    """queue pairs (mlx5, Linux), per queue pair, per connection, or one."""
    trouble: str = Trouble.NONE
    churn: bool = False
    """Connections begin and end at any time."""
    round_trip: float = 0.02
    window: float = 0.01
    loss: float = 0.0
    """Share of reports that are lost."""
    report_delay: float = 0.006
    report_gap: float = 0.0
    """For so long the reports of one PE are lost."""
    hidden: bool = False
    """Some connections have a direction no PE reports; inference is told so."""
    seconds: float = 5.0


@dataclass(slots=True)
class Connection:
    """Queue pairs of A and B, and what they send: packets A to B, packets B to A."""

    a_qp: int
    b_qp: int
    ports: tuple[int, int]
    packets: tuple[list[PacketRun], list[PacketRun]]
    visible: tuple[bool, bool] = (True, True)

    @property
    def flows(self) -> tuple[FlowKey, FlowKey]:
        """A to B, B to A."""
        return FlowKey(VRF, A, B, self.b_qp), FlowKey(VRF, B, A, self.a_qp)


@dataclass(slots=True)
class Outcome:
    """How many flows were bound to the right queue pair, to a wrong one, and not at all."""

    right: int = 0
    wrong: int = 0
    unknown: int = 0
    reports: int = 0
    bound: dict[FlowKey, int] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    """Why connections stayed unknown."""


def conditions(rng: random.Random) -> Conditions:
    """Any of the conditions inference has to live with."""
    count = rng.choice([4, 4, 8, 8, 8, 16, 16, 32, 64])
    mtu = rng.choice([256, 1024, 4096, 4096])
    size = 1 << rng.choice([0, 6, 10, 12, 16, 16, 20, 20, 24, 26, 28, 30, 31])
    message = max(1, size // mtu)
    return Conditions(
        connections=count,
        kind=rng.choice(list(Kind)),
        message=message,
        rate=rng.choice([3.0, 300.0, 5e3, 5e4, 2e5, 1e6]) * rng.uniform(0.5, 2),
        in_step=rng.random() < 0.5,
        depth=max(1, min(rng.choice([1, 1, 2, 4, 16]), LONGEST // message)),
        both_ways=rng.random() < 0.3,
        bursts=rng.choice([(1e9, 0.0), (1e9, 0.0), (0.05, 0.2), (0.3, 1.0)]),
        psns=rng.choice(["random", "random", "random", "equal", "near", "wrapping"]),
        ports=rng.choice(["queue pairs", "per queue pair", "per connection", "one"]),
        trouble=rng.choice([Trouble.NONE, Trouble.NONE, *Trouble]),
        churn=rng.random() < 0.15,
        round_trip=rng.choice([0.0001, 0.003, 0.02, 0.02, 0.1, 0.3]),
        window=rng.choice([0.01, 0.02, 0.05]) if count < 32 else 0.05,
        loss=rng.choice([0.0, 0.0, 0.05, 0.3]),
        report_delay=rng.choice([0.006, 0.006, 0.05, 0.2]),
        report_gap=rng.choice([0.0, 0.0, 0.0, 0.5, 2.0]),
        hidden=rng.random() < 0.05,
        seconds=rng.choice([4.0, 6.0, 10.0]) if count < 32 else 5.0,
    )


def connect(given: Conditions, rng: random.Random) -> list[Connection]:
    """Connections from A to B under these conditions."""
    count = given.connections
    a_qps = rng.sample(range(0x11, 0x11 + 4 * count), count)
    b_qps = rng.sample(range(0x80, 0x80 + 4 * count), count)
    one_port = rng.randrange(0xC000, 0x10000)
    first_psns = _first_psns(given, rng)
    begin = rng.uniform(0, 0.2)
    found = []
    for a_qp, b_qp in zip(a_qps, b_qps, strict=True):
        speed = given.rate * (1.0 if given.in_step else rng.uniform(0.8, 1.25))
        start = begin if given.in_step else rng.uniform(0, 0.2)
        stop = given.seconds
        if given.churn:
            start = rng.uniform(0, given.seconds * 0.7)
            stop = start + rng.uniform(0.01, given.seconds)
        there: list[PacketRun] = []
        back: list[PacketRun] = []
        sides = [(there, back), (back, there)] if given.both_ways else [(there, back)]
        if given.churn and rng.random() < 0.5:
            sides = [sides[0][::-1]]
        for out, home in sides:
            work = Work(given.kind, given.message, speed, given.depth, given.bursts, given.trouble)
            requests, responses = exchange(
                work, rng, next(first_psns), start, stop, given.round_trip
            )
            out += requests
            home += responses
        visible = (True, True)
        if given.hidden:
            visible = rng.choice([(True, True), (True, False), (False, True)])
        ports = _ports(given, rng, a_qp, b_qp, one_port)
        found.append(Connection(a_qp, b_qp, ports, (there, back), visible))
    return found


def _first_psns(given: Conditions, rng: random.Random) -> Iterator[int]:
    base = rng.getrandbits(24)
    near = rng.choice([1, 100, 5000, 66000, given.message, given.depth * given.message])
    wrapping = PSN_SPACE - rng.randrange(1, 3 + int(given.rate * given.seconds))
    number = 0
    while True:
        match given.psns:
            case "equal":
                yield 0
            case "near":
                yield (base + number * near) % PSN_SPACE
            case "wrapping":
                yield (wrapping + rng.randrange(1 << 16)) % PSN_SPACE
            case _:
                yield rng.getrandbits(24)
        number += 1


def _ports(
    given: Conditions, rng: random.Random, a_qp: int, b_qp: int, one_port: int
) -> tuple[int, int]:
    some, other = rng.randrange(0xC000, 0x10000), rng.randrange(0xC000, 0x10000)
    match given.ports:
        case "queue pairs":
            return connection_port(a_qp, b_qp), connection_port(a_qp, b_qp)
        case "per queue pair":
            return some, other
        case "per connection":
            return some, some
        case _:
            return one_port, one_port


def simulate(
    given: Conditions,
    seed: int,
    *,
    all_connections: list[Connection] | None = None,
    complete: Callable[[object], bool] | None = None,
) -> Outcome:
    """Let the PEs report for some seconds and conclude as the controller does."""
    rng = random.Random(seed)
    connections = all_connections or connect(given, rng)
    now = 0.0
    inference = Inference(lambda: now, complete or (lambda _: not given.hidden))
    outcome = Outcome()
    reported = reports(given, connections, rng)
    next_look = CONCLUDE_EVERY
    for when, flow, sample in reported:
        while when >= next_look:
            now = next_look
            _conclude(inference, outcome)
            next_look += CONCLUDE_EVERY
        if flow not in outcome.bound:
            now = when
            inference.observe(flow, sample)
            outcome.reports += 1
    for _ in range(12):
        now = next_look
        _conclude(inference, outcome)
        next_look += CONCLUDE_EVERY
    truth = {
        flow: qp
        for each in connections
        for flow, qp in zip(each.flows, (each.a_qp, each.b_qp), strict=True)
    }
    seen = {flow for _, flow, _ in reported}
    outcome.right = sum(truth[flow] == qp for flow, qp in outcome.bound.items())
    outcome.wrong = len(outcome.bound) - outcome.right
    outcome.unknown = len(seen - outcome.bound.keys())
    left = (each for each in connections if each.flows[0] not in outcome.bound)
    outcome.reasons.update(_reason(inference, each.flows) for each in left)
    return outcome


def _reason(inference: Inference, flows: tuple[FlowKey, FlowKey]) -> str:
    """The rule that was against this pairing in the last look."""
    pair = inference._pairs.get(host_pair(flows[0]))
    if pair is None or any(flow.dest_qp not in pair.side(flow) for flow in flows):
        return "a flow of it was not reported"
    forth, back = (flow.dest_qp for flow in sorted(flows, key=is_forth, reverse=True))

    def agreement(one: int, other: int) -> Agreement:
        return pair.agreement.get(one, {}).get(other, NOTHING)

    if not agreement(forth, back).shown:
        return "fewer than four responses agree"
    if agreement(forth, back).widest > pair._near:
        return "a rival may be as near by chance"
    rivals = [agreement(forth, other) for other in pair.back if other != back]
    rivals += [agreement(other, back) for other in pair.forth if other != forth]
    possible = [each for each in rivals if not each.refuted]
    if any(each.supports for each in possible):
        return "a rival agrees, too"
    if any(each.late <= pair._near for each in possible):
        return "a rival's answers may wait behind READs"
    return "nothing speaks against a rival" if possible else "not everything was reported"


def _conclude(inference: Inference, outcome: Outcome) -> None:
    for pairing in inference.conclude():
        for flow, source_qp in pairing.sources:
            assert flow not in outcome.bound, "concluded twice"
            outcome.bound[flow] = source_qp


def reports(
    given: Conditions, connections: list[Connection], rng: random.Random
) -> list[tuple[float, FlowKey, Sample]]:
    """What arrives at the controller, in this order."""
    gap_side = rng.randrange(2)
    gap = rng.uniform(0, given.seconds)
    found: list[tuple[float, FlowKey, Sample]] = []
    for connection in connections:
        for side, flow in enumerate(connection.flows):
            if not connection.visible[side]:
                continue
            port = connection.ports[side]
            for time, psn, opcode in _sampled(connection.packets[side], given):
                if side == gap_side and gap <= time < gap + given.report_gap:
                    continue
                if given.loss and rng.random() < given.loss:
                    continue
                arrival = time + rng.random() * given.report_delay
                found.append((arrival, flow, Sample(opcode, psn, port)))
    found.sort(key=lambda each: each[0])
    return found


def _sampled(runs: list[PacketRun], given: Conditions) -> Iterator[tuple[float, int, int]]:
    """The first packet of a flow, and the first after each learning window since the last."""
    waiting = sorted(runs, key=lambda run: -run.start)
    active: list[PacketRun] = []
    due = 0.0
    while True:
        first, packet = 1e18, None
        for run in list(active):
            index = run.index_at(due)
            if index >= run.count:
                active.remove(run)
            elif run.start + index * run.interval < first:
                first, packet = run.start + index * run.interval, (run, index)
        while waiting and waiting[-1].start < first:
            run = waiting.pop()
            index = run.index_at(due)
            if index < run.count:
                active.append(run)
                if run.start + index * run.interval < first:
                    first, packet = run.start + index * run.interval, (run, index)
        if packet is None or first >= given.seconds:
            return
        run, index = packet
        yield first, (run.psn + index * run.stride) % PSN_SPACE, run.opcode
        due = first + given.window


def total(outcomes: list[Outcome]) -> Counter[str]:
    """Sums over several outcomes."""
    found: Counter[str] = Counter()
    for each in outcomes:
        found.update(right=each.right, wrong=each.wrong, unknown=each.unknown, reports=each.reports)
    return found


# -- many seeds ---------------------------------------------------------------------------------


def _classes(given: Conditions) -> Iterator[tuple[str, str]]:
    """The conditions a simulation counts for in the table."""
    yield "all", ""
    yield "connections", f"{given.connections:2}"
    yield "traffic", given.kind
    yield "message, packets", f"10^{len(str(given.message)) - 1}"
    yield "first PSN", given.psns
    yield "ports", given.ports
    yield "trouble", given.trouble
    yield "reports lost", f"{given.loss:.0%}" + (" and a gap" if given.report_gap else "")
    yield "packets/s", f"10^{len(str(int(given.rate))) - 1}"
    yield "ports, first PSN, connections", f"{given.ports}, {given.psns}, {given.connections:2}"
    if given.ports != "queue pairs" and given.psns == "random":
        yield "PSN alone, random: traffic", given.kind
        yield "PSN alone, random: message", f"10^{len(str(given.message)) - 1}"
        yield "PSN alone, random: connections", f"{given.connections:2}"
        yield "PSN alone, random: packets/s", f"10^{len(str(int(given.rate))) - 1}"


def steady(rng: random.Random) -> Conditions:
    """Nothing but WRITEs at 2000 packets/s; what is left to tell connections apart differs."""
    return Conditions(
        connections=rng.choice([8, 64]),
        psns=rng.choice(["random", "equal"]),
        ports=rng.choice(["queue pairs", "per queue pair", "one"]),
    )


def survey(
    seeds: Iterable[int], draw: Callable[[random.Random], Conditions] = conditions
) -> tuple[dict[tuple[str, str], Counter[str]], Counter[str], list[int]]:
    """Right, wrong and unknown flows by condition; why connections stayed unknown; the seeds with a
    wrong one."""
    table: dict[tuple[str, str], Counter[str]] = {}
    reasons, wrong = Counter[str](), []
    for seed in seeds:
        given = draw(random.Random(seed))
        outcome = simulate(given, seed)
        sums = total([outcome])
        reasons.update(outcome.reasons)
        for each in _classes(given):
            table.setdefault(each, Counter()).update(sums)
        if outcome.wrong:
            wrong.append(seed)
    return table, reasons, wrong


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="How much inference finds out, by condition.")
    parser.add_argument("seeds", type=int, help="how many simulations")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--steady", action="store_true", help="no trouble, WRITEs only")
    options = parser.parse_args()
    draw = steady if options.steady else conditions
    table, reasons, wrong = survey(range(options.first, options.first + options.seeds), draw)
    print(f"{'condition':56} {'right':>7} {'unknown':>8} {'wrong':>6} {'flows':>8}")
    for (name, value), sums in sorted(table.items()):
        flows = max(1, sums["right"] + sums["wrong"] + sums["unknown"])
        shares = f"{sums['right'] / flows:7.1%} {sums['unknown'] / flows:8.1%}"
        print(f"{name + ' ' + value:56} {shares} {sums['wrong']:6} {flows:8}")
    for why, count in reasons.most_common():
        print(f"unknown: {count / reasons.total():6.1%} of {reasons.total()} connections: {why}")
    for seed in wrong:
        given = draw(random.Random(seed))
        print(f"wrong: seed {seed}", *(f"{f.name}={getattr(given, f.name)}" for f in fields(given)))


if __name__ == "__main__":
    main()
