"""DCQCN's published fixed point: the closed forms, and the laboratory beside them."""

import random

import pytest

from fcn.bench.dcqcn_fixed_point import HOSTS, measured_in, plan_of, settings_of
from fcn.bench.dcqcn_models import Settings, fluid, renewal
from fcn.lab.run.runner import run_scenario

PAPER = Settings(
    capacity=5e6,
    additive_increase=5e3,
    byte_counter=1e4,
    increase_period=55e-6,
    alpha_period=55e-6,
    cnp_interval=50e-6,
    fast_recovery_steps=5,
    kmin=5e3,
    kmax=200e3,
    pmax=0.01,
)
"""40 Gb/s and packets of 1000 octets, as in SIGCOMM 2015, section 5."""


@pytest.mark.parametrize("flows", [2, 4, 8])
def test_the_fluid_model_is_at_rest_at_its_fixed_point(flows: int) -> None:
    """Equations 5 to 7 as they are written there, at the target that is left free."""
    s, point = PAPER, fluid(PAPER, flows)
    p, rate = point.probability, PAPER.capacity / flows
    cut = 1 - (1 - p) ** (s.cnp_interval * rate)
    counter = p / ((1 - p) ** -s.byte_counter - 1)
    timer = p / ((1 - p) ** (-s.increase_period * rate) - 1)
    ahead = rate * point.alpha * cut / s.cnp_interval / (rate * (counter + timer))
    later = s.fast_recovery_steps
    target = -ahead / s.cnp_interval * cut + s.additive_increase * rate * (
        (1 - p) ** (later * s.byte_counter) * counter
        + (1 - p) ** (later * s.increase_period * rate) * timer
    )
    assert target == pytest.approx(0, abs=1e-6 * s.additive_increase / s.increase_period)
    assert point.alpha == 1 - (1 - p) ** (s.alpha_period * rate)
    assert point.queue_octets == pytest.approx(5e3 + p / 0.01 * 195e3)


def test_the_fluid_model_is_near_its_published_approximation() -> None:
    """CoNEXT 2016, equation 14."""
    for flows in (2, 4, 8):
        s = PAPER
        steps = 1 / s.byte_counter + flows / (s.increase_period * s.capacity)
        share = s.additive_increase * flows**2 / (s.alpha_period * s.capacity**2)
        approximately = (share * steps**2) ** (1 / 3)
        assert fluid(s, flows).probability == pytest.approx(approximately, rel=0.25)


def reaction_point(s: Settings, p: float, rate: float, cycles: int) -> tuple[float, float]:
    """Mean rate and alpha of one that is marked with this probability, cycle by cycle."""
    draw, g = random.Random(20261125), 1 / 256
    current, alpha = rate, 0.1
    sent = passed = alphas = 0.0
    for cycle in range(2 * cycles):
        target, current = current, current * (1 - alpha / 2)
        alpha += g * (1 - alpha)
        length = s.cnp_interval + draw.expovariate(p * rate)
        steps = int(length / s.increase_period)
        counted = cycle >= cycles
        for step in range(steps + 1):
            spent = min(s.increase_period, length - step * s.increase_period)
            sent += counted * current * spent
            if step < steps:
                target += s.additive_increase * (step + 1 >= s.fast_recovery_steps)
                current = (current + target) / 2
        passed += counted * length
        alpha *= (1 - g) ** int(length / s.alpha_period)
        alphas += counted * alpha
    return sent / passed, alphas / cycles


@pytest.mark.parametrize("flows", [2, 4, 8])
def test_a_reaction_point_at_the_renewal_process_has_its_share(flows: int) -> None:
    """Marked as often as the closed form says, it neither rises nor falls: its mean rate over
    20,000 cuts is its share."""
    point, share = renewal(PAPER, flows), PAPER.capacity / flows
    rate, alpha = reaction_point(PAPER, point.probability, share, 20_000)
    assert rate == pytest.approx(share, rel=0.1)
    assert alpha == pytest.approx(point.alpha, rel=0.03)


@pytest.mark.exhaustive
@pytest.mark.parametrize("pairs", [1, 2])
def test_the_laboratory_settles_at_the_fixed_point(pairs: int) -> None:
    """Of the algorithm within 10 %; the fluid model's queue is less than that, by a quarter to two
    fifths."""
    plan = plan_of(pairs, "120ms")
    settings, flows = settings_of(plan), HOSTS * pairs
    found = measured_in(run_scenario(plan))
    exact, published = renewal(settings, flows), fluid(settings, flows)
    assert found.flows == flows
    assert found.queue_octets == pytest.approx(exact.queue_octets, rel=0.1)
    assert found.alpha == pytest.approx(exact.alpha, rel=0.1)
    assert 1 < found.queue_octets / published.queue_octets < 1.45
    assert found.alpha == pytest.approx(published.alpha, rel=0.15)
