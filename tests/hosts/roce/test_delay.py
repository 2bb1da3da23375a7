"""TIMELY and Swift against the pseudo code of their papers."""

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from roce_testing import Driver

from fcn.lab.controls import Swift, Timely

LINE, FLOOR, PACKET_BITS = 1e10, 1e7, 8000
TIMELY, SWIFT = Timely(), Swift.model_construct(most_window=50.0)


@dataclass
class TimelyModel:
    """Mittal et al., SIGCOMM 2015, algorithm 1; hyperactive increase after five (section 4.3)."""

    rate: float = LINE
    previous: int | None = None
    rtt_diff: float = 0
    completions: int = 0

    def rtt(self, new_rtt: int) -> None:
        new_diff = 0 if self.previous is None else new_rtt - self.previous
        self.previous = new_rtt
        self.rtt_diff = (1 - TIMELY.ewma) * self.rtt_diff + TIMELY.ewma * new_diff
        gradient = self.rtt_diff / TIMELY.least_rtt
        self.rate = min(LINE, max(FLOOR, self.next_rate(new_rtt, gradient)))

    def next_rate(self, new_rtt: int, gradient: float) -> float:
        if new_rtt < TIMELY.low:
            return self.rate + TIMELY.additive_increase
        self.completions = self.completions + 1 if gradient <= 0 and new_rtt <= TIMELY.high else 0
        if new_rtt > TIMELY.high:
            return self.rate * (1 - TIMELY.beta * (1 - TIMELY.high / new_rtt))
        if gradient <= 0:
            n = 5 if self.completions >= 5 else 1
            return self.rate + n * TIMELY.additive_increase
        return self.rate * (1 - TIMELY.beta * gradient)


@dataclass
class SwiftModel:
    """Kumar et al., SIGCOMM 2020, algorithm 1 and section 3.5."""

    window: float = SWIFT.most_window
    last_rtt: int = 0
    last_decrease: int | None = None

    def target(self) -> float:
        most = 1 / sqrt(SWIFT.scaling_most)
        alpha = SWIFT.scaling / (1 / sqrt(SWIFT.scaling_least) - most)
        beta = -alpha * most
        scaled = max(0.0, min(alpha / sqrt(self.window) + beta, SWIFT.scaling))
        return SWIFT.base_target + scaled

    def may_decrease(self, now: int) -> bool:
        return self.last_decrease is None or now - self.last_decrease >= self.last_rtt

    def decrease(self, now: int, factor: float) -> None:
        self.window = max(SWIFT.least_window, self.window * factor)
        self.last_decrease = now

    def ack(self, now: int, delay: int, acked: int) -> None:
        target = self.target()
        if delay < target:
            gain = SWIFT.window_increase * acked
            self.window += gain / self.window if self.window >= 1 else gain
            self.window = min(self.window, SWIFT.most_window)
        elif self.may_decrease(now):
            fall = 1 - SWIFT.beta * (delay - target) / delay
            self.decrease(now, max(fall, 1 - SWIFT.max_decrease))
        self.last_rtt = delay

    def lost(self, now: int, *, everything: bool) -> None:
        if everything:
            self.decrease(now, 0)
        elif self.may_decrease(now):
            self.decrease(now, 1 - SWIFT.max_decrease)


def start(driver: Driver, which: Timely | Swift) -> None:
    driver(
        " ".join(
            map(str, (type(which).__name__.lower(), LINE, FLOOR, *which.model_dump().values()))
        )
    )


def answer(text: str) -> tuple[float, float, bool]:
    rate, window, cut = text.split()
    return float(rate), float(window), cut == "1"


ROUND_TRIPS = st.lists(st.integers(5_000, 900_000), min_size=1, max_size=60)
SAME_DRIVER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@SAME_DRIVER
@given(ROUND_TRIPS)
def test_timely_is_algorithm_1(driver: Driver, round_trips: list[int]) -> None:
    start(driver, TIMELY)
    model = TimelyModel()
    for number, rtt in enumerate(round_trips):
        before = model.rate
        model.rtt(rtt)
        rate, _, cut = answer(driver(f"rtt {number} {rtt} 1"))
        assert rate == pytest.approx(model.rate, rel=1e-6)
        assert cut == (model.rate < before)


def test_timely_rises_five_times_as_fast_after_five_gradients_that_do_not_rise(
    driver: Driver,
) -> None:
    start(driver, TIMELY)
    driver("rtt 0 900000 1")
    rates = [answer(driver(f"rtt {n} {400_000 - 1000 * n} 1"))[0] for n in range(1, 8)]
    steps = [after - before for before, after in pairwise(rates)]
    assert steps == pytest.approx([1e7] * 3 + [5e7] * 3, rel=1e-3)


@SAME_DRIVER
@given(st.lists(st.tuples(st.integers(0, 200_000), st.integers(5_000, 900_000),
                          st.integers(1, 40), st.sampled_from(["ack", "ack", "nak", "timeout"])),
                min_size=1, max_size=60))  # fmt: skip
def test_swift_is_algorithm_1(driver: Driver, events: list[tuple[int, int, int, str]]) -> None:
    start(driver, SWIFT)
    model, now = SwiftModel(), 0
    for later, delay, acked, what in events:
        now += later
        before = model.window
        if what == "ack":
            model.ack(now, delay, acked)
            rate, window, cut = answer(driver(f"rtt {now} {delay} {acked}"))
            paced = model.window * PACKET_BITS * 1e9 / delay
            assert rate == pytest.approx(paced if model.window < 1 else LINE, rel=1e-6)
        else:
            model.lost(now, everything=what == "timeout")
            _, window, cut = answer(driver(f"loss {now} {what == 'timeout':d}"))
        assert window == pytest.approx(model.window, rel=1e-9)
        assert cut == (model.window < before)
