"""TCP beside RoCEv2: the sawtooth's mean in closed form, recovery, and ECN as RFC 3168 has it."""

import pytest
from lab_networks import GIGABIT, Rates, Wan, wan

from fcn.lab.balance import balance
from fcn.lab.core import ETHERNET_OVERHEAD, Simulation
from fcn.lab.tcp import TcpCounters, TcpFlow, TcpOptions

MILLISECOND = 1_000_000
BOTTLENECK = 50_000_000
DELAY = 5 * MILLISECOND
RATES = Rates((GIGABIT, 500), (BOTTLENECK, DELAY), (GIGABIT, 500))
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
