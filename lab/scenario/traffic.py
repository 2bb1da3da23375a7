"""Traffic patterns as connections and messages, by seed.

Every pattern has connections of its own. What is sent does not depend on how the network behaves.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import cycle

from fcn.lab.scenario.model import Pattern
from fcn.lab.scenario.sizes import DISTRIBUTIONS, Shares, Sizes, sizes_from
from fcn.lab.scenario.wiring import EndHost, Wiring

NS = 10**9
PS = 10**12
PS_PER_NS = PS // NS


@dataclass(frozen=True, slots=True)
class Flow:
    """A connection from one host to another; `pattern` is the place of its pattern, from 0; jobs
    have the places after those."""

    source: EndHost
    target: EndHost
    pattern: int


@dataclass(frozen=True, slots=True)
class Send:
    """A message of a flow (its place in `Traffic.flows`), due at a time after the beginning."""

    flow: int
    size: int
    start_ns: int


@dataclass(frozen=True, slots=True)
class TcpTransfer:
    """Octets that a host sends another one over TCP, from a time after the beginning on."""

    source: EndHost
    target: EndHost
    size: int
    start_ns: int


@dataclass
class Traffic:
    """What a scenario sends. The messages are in the order of their times."""

    flows: list[Flow] = field(default_factory=list)
    sends: list[Send] = field(default_factory=list)
    tcp: list[TcpTransfer] = field(default_factory=list)

    def open(self, source: EndHost, target: EndHost, pattern: int, qps: int) -> list[int]:
        """So many more connections."""
        first = len(self.flows)
        self.flows += [Flow(source, target, pattern)] * qps
        return list(range(first, first + qps))


def traffic_of(wiring: Wiring) -> Traffic:
    """All that the patterns of this network's scenario send."""
    traffic = Traffic()
    for number, pattern in enumerate(wiring.scenario.traffic):
        # Of its own, so that a pattern is the same whatever stands before it.
        rng = random.Random(f"{wiring.scenario.seed} {number}")
        if pattern.pattern == "poisson":
            _poisson(wiring, traffic, number, pattern, rng)
            continue
        for source, target in pairs(wiring, pattern, rng):
            if pattern.pattern == "tcp":
                each = TcpTransfer(source, target, pattern.size or 0, pattern.start)
                traffic.tcp += [each] * pattern.qps
                continue
            for flow in traffic.open(source, target, number, pattern.qps):
                traffic.sends += [
                    Send(flow, pattern.size or 0, pattern.start + each * pattern.interval)
                    for each in range(pattern.count)
                ]
    traffic.sends.sort(key=lambda send: send.start_ns)
    return traffic


def named(wiring: Wiring, names: Iterable[str]) -> list[EndHost]:
    """The hosts that names stand for, each once, in their order."""
    return list(dict.fromkeys(host for name in names for host in wiring.select(name)))


def pairs(wiring: Wiring, pattern: Pattern, rng: random.Random) -> list[tuple[EndHost, EndHost]]:
    """Who sends to whom. An impossible pair is left out: a host that sends to itself."""
    sources, targets = named(wiring, pattern.from_), named(wiring, pattern.to)
    if pattern.pattern == "permutation":
        return _permutation(sources, targets, rng)
    if pattern.pattern in ("messages", "tcp"):
        chosen = zip(sources, cycle(targets), strict=False)
        return [pair for pair in chosen if pair[0] != pair[1]]
    return [(source, target) for source in sources for target in targets if source != target]


def _permutation(
    sources: list[EndHost], targets: list[EndHost], rng: random.Random
) -> list[tuple[EndHost, EndHost]]:
    """So that nobody sends to itself; a few attempts are enough."""
    while True:
        chosen = list(zip(sources, rng.sample(targets, len(sources)), strict=True))
        if all(source != target for source, target in chosen):
            return chosen


def sizes_of(pattern: Pattern) -> Sizes:
    """Sizes of its messages. Raises as sizes_from()."""
    if pattern.distribution is not None:
        return DISTRIBUTIONS[pattern.distribution]
    if pattern.size is not None:
        return Shares(((pattern.size, 1.0),))
    return sizes_from(pattern.sizes)


def exponential(rng: random.Random, mean: int) -> int:
    """An exponentially distributed number, by von Neumann's method of comparisons (see
    lab/native/lab_random.h): logarithms are not the same on every machine, integers are."""
    whole = 0
    while True:
        fraction = before = rng.getrandbits(64)
        run = 1
        while (following := rng.getrandbits(64)) < before:
            before = following
            run += 1
        if run % 2:
            return whole + (fraction * mean >> 64)
        whole += mean


def _poisson(
    wiring: Wiring, traffic: Traffic, number: int, pattern: Pattern, rng: random.Random
) -> None:
    """Every source sends to targets at random; the times between messages are exponential."""
    sizes = sizes_of(pattern)
    connections: dict[tuple[str, str], list[int]] = {}
    for source in named(wiring, pattern.from_):
        wire = wiring.wire(source.name, source.site)
        assert wire is not None, "a host has a link"
        assert wire.rate_bps, "checked"
        targets = [host for host in named(wiring, pattern.to) if host != source]
        targets = rng.sample(targets, min(pattern.peers or len(targets), len(targets)))
        mean_gap = max(1, int(sizes.mean * 8 * PS / (wire.rate_bps * (pattern.load or 1.0))))
        time = pattern.start * PS_PER_NS + exponential(rng, mean_gap)
        while time < wiring.scenario.duration * PS_PER_NS:
            target = rng.choice(targets)
            key = source.name, target.name
            if key not in connections:
                connections[key] = traffic.open(source, target, number, pattern.qps)
            flow = rng.choice(connections[key])
            traffic.sends.append(Send(flow, sizes.draw(rng), time // PS_PER_NS))
            time += exponential(rng, mean_gap)
