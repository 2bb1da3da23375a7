"""DCQCN's reaction point against an independent model of the published formulas (FCN-14)."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from roce_testing import Driver

LINE, FLOOR, G, AI, HAI = 40e6, 1e5, 1 / 16, 5e5, 5e6
ALPHA_NS, INCREASE_NS, BYTES, FAST = 55_000, 300_000, 150_000, 5
ORDER = "alpha", "increase", "cut"
"""Of what is due at the same time."""


@dataclass(frozen=True)
class Variant:
    """Choices in which DCQCN's implementations differ; the defaults are the paper's."""

    byte_counter: int = BYTES
    initial_alpha: float = 1.0
    cut_period: int = 0
    alpha_by_timer: bool = False
    clamp_target: bool = True


PAPER = Variant()
NIC = Variant(32_767, 1023 / 1024, 4_000, alpha_by_timer=True, clamp_target=False)
HPCC = Variant(0, 1.0, 4_000, alpha_by_timer=True, clamp_target=False)
"""As HPCC's ns-3 code has it: no byte counter."""


@dataclass
class Model:
    """Zhu et al., SIGCOMM 2015, equations 1 to 4 and algorithm 1, as one list of timed events."""

    cut_ns: int = 0
    variant: Variant = PAPER
    current: float = LINE
    target: float = LINE
    alpha: float = 1.0
    timers: dict[str, int] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=lambda: {"timer": 0, "bytes": 0})
    octets: int = 0
    last_cut: int | None = None
    first_cnp: int | None = None
    cnp_in_period: bool = False

    def __post_init__(self) -> None:
        self.alpha = self.variant.initial_alpha
        if not self.variant.byte_counter:
            del self.steps["bytes"]

    def run(self, now: int) -> None:
        while self.timers and min(self.timers.values()) <= now:
            name = min(self.timers, key=lambda each: (self.timers[each], ORDER.index(each)))
            if name == "alpha":
                self.alpha = (1 - G) * self.alpha + G * self.cnp_in_period
                self.cnp_in_period = False
                self.timers[name] += ALPHA_NS
            elif name == "cut":
                self.cut(self.timers.pop(name))
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
        self.cnp_in_period = self.variant.alpha_by_timer and self.first_cnp is not None
        if self.first_cnp is None:
            self.first_cnp = now
            if self.variant.alpha_by_timer:
                self.timers["alpha"] = now + ALPHA_NS
        if period := self.variant.cut_period:
            passed = (now - self.first_cnp) // period
            self.timers.setdefault("cut", self.first_cnp + (passed + 1) * period)
        else:
            self.cut(now)

    def cut(self, now: int) -> None:
        if self.last_cut is not None and now - self.last_cut < self.cut_ns:
            return
        raised = self.last_cut is None or self.steps["timer"] > 0
        if self.variant.clamp_target or raised:
            self.target = self.current
        self.current = max(self.current * (1 - self.alpha / 2), FLOOR)
        if not self.variant.alpha_by_timer:
            self.alpha = (1 - G) * self.alpha + G
            self.timers["alpha"] = now + ALPHA_NS
        self.steps = dict.fromkeys(self.steps, 0)
        self.octets = 0
        self.timers["increase"] = now + INCREASE_NS
        self.last_cut = now

    def sent(self, now: int, octets: int) -> None:
        self.run(now)
        counter = self.variant.byte_counter
        if self.last_cut is None or not counter:
            return
        self.octets += octets
        while self.octets >= counter:
            self.octets -= counter
            self.raise_rate("bytes")


def start(driver: Driver, cut_ns: int = 0, variant: Variant = PAPER) -> str:
    return driver(
        f"dcqcn {LINE} {FLOOR} {G} {AI} {HAI} {ALPHA_NS} {INCREASE_NS} {variant.byte_counter} "
        f"{FAST} {cut_ns} {variant.initial_alpha} {variant.cut_period} "
        f"{variant.alpha_by_timer:d} {variant.clamp_target:d}"
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


def test_a_cnp_cuts_at_the_end_of_its_period(driver: Driver) -> None:
    """Of periods that begin with the first one; several CNPs in it cut once."""
    start(driver, variant=HPCC)
    assert rates(driver("cnp 1000"))[0] == LINE
    assert rates(driver("cnp 2000"))[0] == LINE
    assert rates(driver("at 4999"))[0] == LINE
    assert rates(driver("at 5000"))[:2] == (LINE / 2, LINE)
    assert rates(driver("at 30000"))[:2] == (LINE / 2, LINE)
    driver("cnp 30000")
    assert rates(driver("at 32999"))[0] == LINE / 2
    assert rates(driver("at 33000"))[0] == LINE / 4


def test_alpha_rises_once_in_a_period_by_the_timer(driver: Driver) -> None:
    start(driver, variant=HPCC)
    driver("cnp 0")
    _, _, fallen = rates(driver(f"at {ALPHA_NS}"))
    assert fallen == pytest.approx(1 - G), "the first CNP only starts the timer"
    for time in (1, 2, 3):
        driver(f"cnp {ALPHA_NS + time}")
    _, _, alpha = rates(driver(f"at {2 * ALPHA_NS}"))
    assert alpha == pytest.approx((1 - G) * fallen + G)


@pytest.mark.parametrize(("variant", "target"), [(PAPER, LINE / 2), (HPCC, LINE)])
def test_without_the_clamp_the_target_stays_until_the_timer_raised_it(
    driver: Driver, variant: Variant, target: float
) -> None:
    start(driver, variant=variant)
    for time in (0, 4_000):
        driver(f"cnp {time}")
    current, found, _ = rates(driver("at 8000"))
    assert (current, found) == (LINE / 4, target)
    before, _, _ = rates(driver(f"at {INCREASE_NS + 8_000}"))
    driver(f"cnp {INCREASE_NS + 8_001}")
    _, found, _ = rates(driver(f"at {INCREASE_NS + 16_000}"))
    assert found == before


def test_without_a_byte_counter_hyper_increase_needs_the_timer_alone(driver: Driver) -> None:
    start(driver, variant=replace(HPCC, clamp_target=True))
    for time in range(10):
        driver(f"cnp {4_000 * time}")
    last = 40_000
    driver(f"sent {last} {100 * BYTES}")
    _, target, _ = rates(driver(f"at {last + (FAST - 1) * INCREASE_NS}"))
    _, additive, _ = rates(driver(f"at {last + FAST * INCREASE_NS}"))
    _, hyper, _ = rates(driver(f"at {last + (FAST + 1) * INCREASE_NS}"))
    assert (additive, hyper) == pytest.approx((target + AI, target + AI + HAI))
    assert hyper < LINE


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["cnp", "sent", "at"]), st.integers(0, 900_000), st.integers(1, 2 * BYTES)
    ),
    max_size=40,
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    events=EVENTS,
    cut_ns=st.sampled_from([0, 50_000]),
    variant=st.sampled_from([PAPER, NIC, HPCC])
    | st.builds(
        Variant,
        st.sampled_from([0, BYTES]),
        st.sampled_from([1.0, 0.5]),
        st.sampled_from([0, 4_000, 70_000]),
        st.booleans(),
        st.booleans(),
    ),
)
def test_random_histories_follow_the_model(
    driver: Driver, events: list[tuple[str, int, int]], cut_ns: int, variant: Variant
) -> None:
    start(driver, cut_ns, variant)
    model = Model(cut_ns, variant)
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
