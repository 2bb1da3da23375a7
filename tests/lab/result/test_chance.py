"""What random cuts give for reactions, beside which a measured reaction says something."""

from dataclasses import replace

import pytest
from lab_results import ECN_BOUND_NS, FCN_BOUND_NS, ONSET_NS, about, congested

from fcn.lab.result.chance import by_chance
from fcn.lab.result.model import Result
from fcn.lab.result.reaction import reactions
from fcn.lab.result.tables import frame

CUTS = 400


def with_cuts(count: int) -> Result:
    """So many cuts of one sender by the ingress PE, evenly over the run."""
    result = congested("fcn")
    end = result.about.reached_ns
    rows = [
        (end * number // count, "l1", 0, "cut", 10**10, "10.1.1.1", 1) for number in range(count)
    ]
    return replace(result, notices=frame("notices", rows))


def test_the_ratio_of_random_cuts_is_far_from_that_of_cuts_that_answer() -> None:
    measured = reactions(congested("fcn"))
    chance = by_chance(congested("fcn"))
    assert measured["ratio"].iloc[0] < 1.01
    assert chance.ratio is not None
    assert chance.ratio > 2
    assert chance.answered is not None
    assert 0 < chance.answered < 1


def test_of_many_random_cuts_one_comes_soon_so_that_a_ratio_alone_says_little() -> None:
    chance = by_chance(with_cuts(CUTS))
    wait = congested("fcn").about.reached_ns / CUTS
    assert chance.answered == 1
    # The first one that propagation allows comes after the mean distance between cuts, in the mean.
    assert chance.ratio == pytest.approx(1 + wait / FCN_BOUND_NS, rel=0.1)


def test_the_same_run_has_the_same_chance_and_another_seed_another() -> None:
    result = congested("fcn")
    assert by_chance(result) == by_chance(result)
    assert by_chance(result) != by_chance(replace(result, about=about(seed=2)))


def test_shares_are_those_of_where_a_cut_can_come() -> None:
    """One cut, at any time of the run: the share is that of the time after the bound."""
    result = congested("ecn")
    one = result.notices[result.notices["what"] == "cut"].head(1)
    chance = by_chance(replace(result, notices=one), draws=2000)
    left = 1 - (ONSET_NS + ECN_BOUND_NS) / result.about.reached_ns
    assert chance.answered == pytest.approx(left, abs=0.03)


@pytest.mark.parametrize(
    "result", [Result(about()), replace(congested("fcn"), notices=frame("notices"))]
)
def test_without_congestion_or_cuts_there_is_nothing(result: Result) -> None:
    chance = by_chance(result)
    assert (chance.answered, chance.ratio) == (None, None)
