"""TCP beside RoCEv2: the sawtooth's mean in closed form, recovery, and ECN as RFC 3168 has it."""

from itertools import pairwise

import pytest
from lab_networks import GIGABIT, Rates, Wan, wan

from fcn.contract.ecn import Ecn
from fcn.lab.balance import balance
from fcn.lab.controls import Dcqcn
from fcn.lab.core import ETHERNET_OVERHEAD, Simulation
from fcn.lab.errors import LabError
from fcn.lab.roce import RoceOptions
from fcn.lab.tcp import TcpCounters, TcpFlow, TcpOptions

MILLISECOND = 1_000_000
BOTTLENECK = 50_000_000
DELAY = 5 * MILLISECOND
RATES = Rates((GIGABIT, 500), (BOTTLENECK, DELAY), (GIGABIT, 500))
ECE, CWR = 0x40, 0x80
QUEUE = 10
"""Packets of the queue before the bottleneck, or behind which they are marked."""


def flow_through(network: Wan, size: int, options: TcpOptions) -> TcpFlow:
    return TcpFlow(network.simulation, network.roce(1), network.roce(2), size, options=options)


def until_cut(simulation: Simulation, flow: TcpFlow, cuts: int) -> TcpCounters:
    """Go on until it has halved its window so often; a minute is more than it takes."""
    while (now := flow.counters()).cuts < cuts:
        assert simulation.now_ns < 60_000 * MILLISECOND, now
        simulation.run_until(simulation.now_ns + MILLISECOND)
    return now


@pytest.mark.parametrize("ecn", [False, True])
def test_the_mean_of_the_sawtooth_is_that_of_its_closed_form(ecn: bool) -> None:
    """The window rises from W/2 by one in a round trip. Below the bandwidth-delay product B it is
    sent once in a round trip T, above it the queue grows and the rate is that of the link, C."""
    with Simulation() as simulation:
        network = wan(
            simulation,
            RATES,
            None if ecn else QUEUE,
            features="[]",
            threshold=QUEUE if ecn else None,
        )
        flow = flow_through(network, 10**9, TcpOptions(ecn=ecn))
        first, begun = until_cut(simulation, flow, 3), simulation.now_ns
        last = until_cut(simulation, flow, 23)
        took = (simulation.now_ns - begun) / 1e9
        assert (last.timeouts, last.marked > 0) == (0, ecn)
        balance(simulation)
    segment = (14 + 40 + 20 + 20 + TcpOptions().mss + ETHERNET_OVERHEAD) * 8
    rate = BOTTLENECK / segment
    round_trip = 2 * (DELAY + 1000) / 1e9 + segment * (1 / BOTTLENECK + 2 / GIGABIT)
    product = rate * round_trip
    most = product + QUEUE + 1  # and one that is found too many, or marked
    cycle = round_trip * (product - most / 2) + (most**2 - product**2) / (2 * rate)
    expected = 3 / 8 * most**2 / cycle
    assert (last.acknowledged - first.acknowledged) / took == pytest.approx(expected, rel=0.03)


def test_what_is_lost_arrives_all_the_same() -> None:
    """Through a queue that slow start overflows, and a link that is cut for a while."""
    with Simulation() as simulation:
        network = wan(simulation, RATES, QUEUE, features="[]")
        flow = flow_through(network, 3_000_001, TcpOptions(ecn=False))
        until_cut(simulation, flow, 2)
        assert flow.counters().timeouts == 0
        network.links[1].set_up(False)
        simulation.run_until(simulation.now_ns + 500 * MILLISECOND)
        network.links[1].set_up(True)
        simulation.run_until(simulation.now_ns + 5_000 * MILLISECOND)
        now = flow.counters()
        assert now.acknowledged == -(-3_000_001 // TcpOptions().mss)
        assert now.timeouts >= 1
        assert 0 < now.completed < simulation.now_ns
        assert now.resent == now.sent - now.acknowledged
        balance(simulation)


def test_ecn_is_that_of_rfc_3168() -> None:
    """Only what is sent for the first time can be marked; the receiver echoes until it hears of the
    reduction, and there is one in a round trip."""
    with Simulation() as simulation:
        network = wan(simulation, RATES, 40, features="[]", threshold=QUEUE)
        network.links[0].tap(0, snap=64)
        network.links[0].tap(1, snap=64)
        flow = flow_through(network, 6_000_000, TcpOptions(ecn=True))
        simulation.run_until(3_000 * MILLISECOND)
        now, frames = flow.counters(), simulation.tapped()
    highest, reductions, resent = -1, [], 0
    for frame in (each for each in frames if each.direction == 0):
        number, ecn, flags = int.from_bytes(frame.data[38:42]), frame.data[15] & 3, frame.data[47]
        assert ecn == (Ecn.ECT0 if number > highest else Ecn.NOT_ECT)
        resent += number <= highest
        highest = max(highest, number)
        if flags & CWR:
            reductions.append(frame.time_ns)
    assert (now.resent, now.completed > 0) == (resent, True)
    assert now.cuts == len(reductions) > 3
    assert min(later - before for before, later in pairwise(reductions)) >= 2 * DELAY
    echoes = [bool(frame.data[47] & ECE) for frame in frames if frame.direction == 1]
    assert sum(echoes) > 2 * now.cuts, "until the sender has said that it reduced its window"
    assert not echoes[-1]


def test_flows_of_a_host_share_its_line_with_roce() -> None:
    """Where nothing is congested but that line, for which RoCEv2 has its rate."""
    with Simulation() as simulation:
        fast = Rates((GIGABIT, 500), (10 * GIGABIT, 500), (10 * GIGABIT, 500))
        network = wan(simulation, fast, 1000, features="[]")
        half = RoceOptions(dcqcn=Dcqcn.model_construct(line_rate=GIGABIT / 2))
        left, right = network.roce(1, options=half), network.roce(2)
        left.write(left.connect(right.address), 10**8)
        flows = [TcpFlow(simulation, left, right, 10**8) for _ in range(3)]
        simulation.run_until(200 * MILLISECOND)
        octets = [flow.counters().acknowledged * flow.mss for flow in flows]
        payload = right.receiver(0).payload
        # Of its half it misses times at which a segment is on the line (`max_lag`).
        assert 0.35 * GIGABIT < payload * 8 / 0.2 < 0.5 * GIGABIT
        assert (payload + sum(octets)) * 8 / 0.2 > 0.9 * GIGABIT
        assert max(octets) < 1.1 * min(octets)
        balance(simulation)


@pytest.mark.parametrize(
    ("size", "options", "wrong"),
    [
        (0, TcpOptions(), "0 octets"),
        (1, TcpOptions(mss=0), "segments of 0 octets"),
        (1, TcpOptions(mss=9001), "segments of 9001 octets"),
        (1, TcpOptions(window=0), "a window of 0 segments"),
    ],
)
def test_what_cannot_be_is_refused(size: int, options: TcpOptions, wrong: str) -> None:
    with Simulation() as simulation:
        network = wan(simulation, RATES, QUEUE, features="[]")
        with pytest.raises(LabError, match=wrong):
            flow_through(network, size, options)
