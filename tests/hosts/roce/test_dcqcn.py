"""DCQCN's reaction point against an independent model of the published formulas (FCN-14)."""

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from roce_testing import Driver

LINE, FLOOR, G, AI, HAI = 40e6, 1e5, 1 / 16, 5e5, 5e6
ALPHA_NS, INCREASE_NS, BYTES, FAST = 55_000, 300_000, 150_000, 5


@dataclass
class Model:
    """Zhu et al., SIGCOMM 2015, equations 1 to 4 and algorithm 1, as one list of timed events."""

    cut_ns: int = 0
    current: float = LINE
    target: float = LINE
    alpha: float = 1.0
    timers: dict[str, int] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=lambda: {"timer": 0, "bytes": 0})
    octets: int = 0
    last_cut: int | None = None

    def run(self, now: int) -> None:
        while self.timers and min(self.timers.values()) <= now:
            name = min(self.timers, key=lambda each: (self.timers[each], each))
            if name == "alpha":
                self.alpha *= 1 - G
                self.timers[name] += ALPHA_NS
            else:
                self.timers[name] += INCREASE_NS
                self.raise_rate("timer")

    def raise_rate(self, which: str) -> None:
        self.steps[which] += 1
        if max(self.steps.values()) >= FAST:
            self.target += HAI if min(self.steps.values()) > FAST else AI
        self.target = min(self.target, LINE)
        self.current = (self.current + self.target) / 2

    def cnp(self, now: int) -> None:
        self.run(now)
        if self.last_cut is not None and now - self.last_cut < self.cut_ns:
            return
        self.target = self.current
        self.current = max(self.current * (1 - self.alpha / 2), FLOOR)
        self.alpha = (1 - G) * self.alpha + G
        self.steps = {"timer": 0, "bytes": 0}
        self.octets = 0
        self.timers = {"alpha": now + ALPHA_NS, "increase": now + INCREASE_NS}
        self.last_cut = now

    def sent(self, now: int, octets: int) -> None:
        self.run(now)
        if self.last_cut is None:
            return
        self.octets += octets
        while self.octets >= BYTES:
            self.octets -= BYTES
            self.raise_rate("bytes")


def start(driver: Driver, cut_ns: int = 0) -> str:
    return driver(
        f"dcqcn {LINE} {FLOOR} {G} {AI} {HAI} {ALPHA_NS} {INCREASE_NS} {BYTES} {FAST} {cut_ns}"
    )


def rates(answer: str) -> tuple[float, float, float]:
    current, target, alpha = map(float, answer.split())
    return current, target, alpha


def test_first_cnp_halves_the_rate(driver: Driver) -> None:
    start(driver)
    assert rates(driver("at 900000000")) == (LINE, LINE, 1.0)
    assert rates(driver("cnp 900000000")) == (LINE / 2, LINE, 1.0)


def test_alpha_decays_and_makes_later_cuts_smaller(driver: Driver) -> None:
    start(driver)
    driver("cnp 0")
    _, _, alpha = rates(driver(f"at {10 * ALPHA_NS}"))
    assert alpha == pytest.approx((1 - G) ** 10)
    before, _, _ = rates(driver(f"at {10 * ALPHA_NS}"))
    after, target, _ = rates(driver(f"cnp {10 * ALPHA_NS}"))
    assert after == pytest.approx(before * (1 - alpha / 2))
    assert target == before


def test_fast_recovery_then_additive_increase(driver: Driver) -> None:
    start(driver)
    driver("cnp 0")
    driver("cnp 1")
    rate, target, _ = rates(driver("at 2"))
    assert (rate, target) == (LINE / 4, LINE / 2)
    for step in range(1, FAST):
        rate = (rate + LINE / 2) / 2
        found = rates(driver(f"at {1 + step * INCREASE_NS}"))
        assert found[:2] == pytest.approx((rate, LINE / 2))
    assert rates(driver(f"at {1 + FAST * INCREASE_NS}"))[1] == pytest.approx(LINE / 2 + AI)


def test_hyper_increase_needs_both_counters_past_fast_recovery(driver: Driver) -> None:
    start(driver)
    for time in range(5):
        driver(f"cnp {time}")
    _, before, _ = rates(driver(f"at {4 + (FAST + 1) * INCREASE_NS}"))
    now = 4 + (FAST + 1) * INCREASE_NS
    for _ in range(FAST):
        driver(f"sent {now} {BYTES}")
    _, additive, _ = rates(driver(f"at {now}"))
    assert additive == pytest.approx(before + FAST * AI)
    _, hyper, _ = rates(driver(f"sent {now} {BYTES}"))
    assert hyper == pytest.approx(additive + HAI)


def test_rate_stays_between_minimum_and_line_rate(driver: Driver) -> None:
    start(driver)
    for time in range(50):
        driver(f"cnp {time}")
    assert rates(driver("at 50"))[0] == FLOOR
    assert rates(driver("at 60000000000"))[:2] == pytest.approx((LINE, LINE))


def test_cut_interval_suppresses_cuts_only(driver: Driver) -> None:
    start(driver, cut_ns=1000)
    driver("cnp 0")
    assert rates(driver("cnp 999"))[0] == LINE / 2
    assert rates(driver("cnp 1000"))[0] == LINE / 4


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["cnp", "sent", "at"]),
        st.integers(0, 900_000),
        st.integers(1, 2 * BYTES),
    ),
    max_size=40,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(events=EVENTS, cut_ns=st.sampled_from([0, 50_000]))
def test_random_histories_follow_the_model(
    driver: Driver, events: list[tuple[str, int, int]], cut_ns: int
) -> None:
    start(driver, cut_ns)
    model = Model(cut_ns)
    now = 0
    for kind, pause, octets in events:
        now += pause
        if kind == "cnp":
            model.cnp(now)
            answer = driver(f"cnp {now}")
        elif kind == "sent":
            model.sent(now, octets)
            answer = driver(f"sent {now} {octets}")
        else:
            model.run(now)
            answer = driver(f"at {now}")
        assert rates(answer) == pytest.approx(
            (model.current, model.target, model.alpha), rel=1e-9, abs=1e-5
        )
