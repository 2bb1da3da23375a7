"""DCQCN on a dumbbell against the published fluid model, with packets through the real programs."""

import statistics
from dataclasses import dataclass

import pytest
from lab_fluid import STEP, Fluid, Sample, integrate
from lab_networks import GIGABIT, Rates, address, wan

from fcn.lab.balance import balance
from fcn.lab.controls import Dcqcn
from fcn.lab.core import ETHERNET_OVERHEAD, Simulation
from fcn.lab.roce import RoceOptions

MILLISECOND = 1_000_000
PAYLOAD = 1024
PACKET = PAYLOAD + 20 + 8 + 12 + 4
"""Octets of an IP packet, to which DCQCN's rates refer; first packets of messages are longer."""
WIRE = PACKET + 14 + 40 + ETHERNET_OVERHEAD
"""On the bottleneck, in a tunnel."""
BOTTLENECK = 40 * GIGABIT
EVERY = MILLISECOND // 10
HOST_LINK = 500
EXHAUSTIVE = pytest.mark.exhaustive


@dataclass(frozen=True)
class Case:
    """A dumbbell: flows that start `apart` after each other, links of the core of this delay."""

    flows: int
    threshold: int
    core_ns: int
    increase_ns: int
    apart_ns: int
    length_ns: int


CASES = [
    pytest.param(Case(2, 200, 250_000, 55_000, 0, 120 * MILLISECOND), id="100-km"),
    pytest.param(
        Case(2, 200, 250_000, 55_000, 8_000_000, 120 * MILLISECOND),
        id="staggered",
        marks=EXHAUSTIVE,
    ),
    pytest.param(
        Case(4, 100, 100_000, 55_000, 3_000_000, 120 * MILLISECOND), id="40-km", marks=EXHAUSTIVE
    ),
    pytest.param(
        Case(2, 200, 250_000, 300_000, 0, 200 * MILLISECOND), id="timer-of-NICs", marks=EXHAUSTIVE
    ),
    pytest.param(
        Case(2, 200, 1_000_000, 55_000, 0, 240 * MILLISECOND), id="400-km", marks=EXHAUSTIVE
    ),
]


def by_fluid(case: Case, step: float = STEP) -> list[Sample]:
    """Samples of the model."""
    defaults = Dcqcn()
    model = Fluid(
        capacity=BOTTLENECK / 8 / WIRE,
        line=BOTTLENECK / 8 / PACKET,
        threshold=case.threshold,
        feedback=(4 * case.core_ns + 2 * HOST_LINK) / 1e9,
        increase_period=case.increase_ns / 1e9,
        byte_counter=defaults.byte_counter / PACKET,
        additive_increase=defaults.additive_increase / 8 / PACKET,
        g=defaults.g,
        cnp_interval=RoceOptions().cnp_interval / 1e9,
        alpha_period=defaults.alpha_period / 1e9,
    )
    starts = [number * case.apart_ns / 1e9 for number in range(case.flows)]
    return list(integrate(model, starts, case.length_ns / 1e9, EVERY / 1e9, step))


def by_packets(case: Case) -> list[Sample]:
    """Samples of the laboratory, from the time on at which the first packet of data can arrive."""
    core = case.core_ns
    rates = Rates((BOTTLENECK, HOST_LINK), (100 * GIGABIT, core), (BOTTLENECK, core))
    dcqcn = Dcqcn.model_construct(
        increase_period=case.increase_ns, hyper_increase=Dcqcn().additive_increase
    )
    options = RoceOptions(mtu=PAYLOAD, dcqcn=dcqcn)
    samples = []
    with Simulation(1) as simulation:
        network = wan(
            simulation, rates, None,
            buffer_octets=1 << 30, hosts=case.flows, features="[]", threshold=case.threshold,
        )  # fmt: skip
        lefts = [network.roce(1, number, options) for number in range(case.flows)]
        connecting = 2 * (2 * core + 2 * HOST_LINK) + 10_000
        for number, left in enumerate(lefts):
            network.roce(2, number, options)
            connection = left.connect(address(2, number))
            for _ in range(2):
                left.write(connection, (1 << 32) - 1, start_ns=connecting + number * case.apart_ns)
        begin = connecting + HOST_LINK + core
        engine = simulation.switches["p1"].engine
        for time in range(EVERY, case.length_ns, EVERY):
            simulation.run_until(begin + time)
            flows = [left.sender(0) for left in lefts]
            samples.append(
                Sample(
                    time / 1e9,
                    engine.port_counters(2).queue_depth,
                    tuple(flow.rate_bps / 8 / PACKET for flow in flows),
                    tuple(flow.alpha for flow in flows),
                )
            )
        assert engine.balance()["queue_full_drops"] == 0
        balance(simulation)
    return samples


def settled(samples: list[Sample]) -> dict[str, float]:
    """Means over the second half, and the highest queue of it."""
    half = samples[len(samples) // 2 :]
    return {
        "rate": statistics.mean(sum(sample.rates) for sample in half),
        "alpha": statistics.mean(statistics.mean(sample.alphas) for sample in half),
        "queue": statistics.mean(sample.queue for sample in half),
        "peak": max(sample.queue for sample in half),
    }


ERROR = {"rate": 0.05, "alpha": 0.10, "queue": 0.07, "peak": 0.05}
"""What the two may differ by. Most of alpha's: after a CNP a NIC's timer of alpha starts anew, and
CNPs come every 50 us and update alpha, too, not every 55 us."""


@pytest.mark.parametrize("case", CASES)
def test_the_same_cycle_as_the_fluid_model(case: Case) -> None:
    """Sum of rates, alpha and queue, once the flows have settled to their cycle."""
    packets, fluid = settled(by_packets(case)), settled(by_fluid(case))
    for what, error in ERROR.items():
        assert packets[what] == pytest.approx(fluid[what], rel=error), what


def test_flows_converge_as_in_the_fluid_model() -> None:
    """The second one starts 8 ms after the first, at line rate: who has how much, over time."""
    case = Case(2, 200, 250_000, 55_000, 8_000_000, 60 * MILLISECOND)

    def first_share(samples: list[Sample]) -> list[float]:
        """Of all that both send in 10 ms each, from 10 ms on."""
        window = 10 * MILLISECOND // EVERY
        parts = [
            samples[at : at + window] for at in range(window, len(samples) - window + 1, window)
        ]
        return [
            sum(sample.rates[0] for sample in part) / sum(sum(sample.rates) for sample in part)
            for part in parts
        ]

    packets, fluid = first_share(by_packets(case)), first_share(by_fluid(case))
    assert len(packets) == len(fluid) >= 4
    assert packets == pytest.approx(fluid, abs=0.03)


def test_the_step_of_the_integration_is_small_enough() -> None:
    case = Case(2, 200, 250_000, 55_000, 0, 60 * MILLISECOND)
    whole, half = settled(by_fluid(case)), settled(by_fluid(case, STEP / 2))
    assert whole == pytest.approx(half, rel=0.005)
