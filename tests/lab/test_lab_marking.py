"""The marking probability over queue depth is the configured curve (PEC-1), in virtual time."""

from collections import Counter

import pytest

from fcn.contract.ecn import Ecn
from fcn.contract.marking import MAX_ERROR, SCALE, MarkingCurves
from fcn.contract.targets import V1MODEL
from fcn.controller.config.model import Config
from fcn.controller.config.queue_depths import queue_curves
from fcn.lab.marking import binomial_error, measure_marks, p_config

PACKETS = 10_000
"""At each depth."""

ERROR = 1e-3
"""How likely the test refuses a fair switch at any depth, for a seed chosen at random."""

SEED = 20251020


def curve_of(config: Config) -> MarkingCurves:
    return queue_curves(config, V1MODEL, config.two_threshold.depths)


def test_the_marking_probability_follows_the_curve() -> None:
    """At 24 depths, 10,000 packets each; every depth between T1 and the maximum is a step, so that
    the curve itself is measured."""
    config = p_config((4, 12, 20), 0.25, 0.75)
    curve = curve_of(config)
    measured = measure_marks(config, deepest=23, bursts=PACKETS, seed=SEED)
    assert len(measured) == 24
    for at in measured:
        codepoint, probability = curve.at(at.depth)
        assert at.packets == PACKETS
        assert set(at.codepoints) <= {Ecn.ECT0, codepoint}, "only that codepoint is set"
        marked = at.codepoints[codepoint] if codepoint else 0
        threshold = round(probability * SCALE) / SCALE
        error = binomial_error(PACKETS, marked, threshold)
        assert error > ERROR / len(measured), (at.depth, marked, probability)


@pytest.mark.parametrize(
    ("sent", "left"),
    [(Ecn.NOT_ECT, {Ecn.NOT_ECT}), (Ecn.ECT1, {Ecn.ECT1, Ecn.CE}), (Ecn.CE, {Ecn.CE})],
)
def test_what_is_no_ect0_is_never_marked_as_light(sent: Ecn, left: set[Ecn]) -> None:
    """PEC-1, PEC-5: Not-ECT and CE stay; ECT(1) becomes CE only."""
    measured = measure_marks(
        p_config((2, 6, 8), 1.0, 1.0), deepest=9, bursts=200, seed=1, sent=sent
    )
    found = sum((at.codepoints for at in measured), Counter[Ecn]())
    assert set(found) == left


def test_the_seed_decides_which_packets_are_marked() -> None:
    config = p_config((1, 3, 5), 0.5, 1.0)
    first, again, other = (
        measure_marks(config, deepest=5, bursts=200, seed=seed) for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize("depths", [(16, 48, 128), (1, 2, 3), (100, 1000, 50_000)])
@pytest.mark.parametrize("probabilities", [(0.25, 1.0), (1.0, 0.1), (0.001, 0.5)])
def test_steps_are_within_the_bound(
    depths: tuple[int, int, int], probabilities: tuple[float, float]
) -> None:
    """Every depth has one step at most, within MAX_ERROR of the curve; few are needed."""
    curve = MarkingCurves(*depths, *probabilities)
    deepest = 2 * depths[-1]
    steps = list(curve.steps(deepest))
    assert len(steps) <= sum(32 * p + 1 for p in probabilities) + 1
    known = {depth: step for step in steps for depth in range(step.low, step.high + 1)}
    assert sum(step.high - step.low + 1 for step in steps) == len(known), "they do not overlap"
    for depth in range(deepest + 1):
        codepoint, probability = curve.at(depth)
        step = known.get(depth)
        assert abs(probability - (step.probability if step else 0)) <= MAX_ERROR + 1 / SCALE
        assert step is None or step.codepoint is codepoint
    assert known[depths[-1]].probability == 1


@pytest.mark.parametrize(
    ("packets", "marked", "probability", "error"),
    [
        (4, 4, 0.5, 0.125),
        (4, 2, 0.5, 1.0),
        (10, 0, 0.1, 2 * 0.9**10),
        (5, 5, 1.0, 1.0),
        (5, 4, 1.0, 0),
    ],
)
def test_the_binomial_test_is_exact(
    packets: int, marked: int, probability: float, error: float
) -> None:
    assert binomial_error(packets, marked, probability) == pytest.approx(min(error, 1))
