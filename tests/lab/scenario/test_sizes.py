"""Published distributions of sizes: what is drawn is what they say."""

import random

import pytest

from fcn.lab.scenario.sizes import DISTRIBUTIONS, WHOLE, Distribution, DistributionName

DRAWN = 40_000


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_as_many_are_below_each_size_as_the_distribution_says(name: DistributionName) -> None:
    """40,000 of them: 0.01 is four standard deviations of each share, or more."""
    distribution = DISTRIBUTIONS[name]
    rng = random.Random(2)
    drawn = [distribution.draw(rng) for _ in range(DRAWN)]
    assert min(drawn) >= 1
    assert max(drawn) <= distribution.points[-1][0]
    for size, share in distribution.points:
        below = sum(each <= size for each in drawn) / DRAWN
        assert below == pytest.approx(share / WHOLE, abs=0.01), size
    assert sum(drawn) / DRAWN == pytest.approx(distribution.mean, rel=0.05)


@pytest.mark.parametrize(
    ("name", "mean"), [("websearch", 1_711_250), ("hadoop", 120_421), ("storage", 40_870)]
)
def test_means(name: DistributionName, mean: int) -> None:
    """Computed by hand from the points."""
    assert DISTRIBUTIONS[name].mean == pytest.approx(mean, rel=1e-4)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_distribution_rises_to_the_whole(name: DistributionName) -> None:
    points = DISTRIBUTIONS[name].points
    assert points[0] == (0, 0)
    assert points[-1][1] == WHOLE
    assert list(points) == sorted(set(points))
    assert len({size for size, _ in points}) == len({share for _, share in points}) == len(points)


def test_a_line_between_two_points_has_both_ends() -> None:
    distribution = Distribution(((0, 0), (10, WHOLE)))
    assert distribution.mean == 5
    drawn = {distribution.draw(random.Random(seed)) for seed in range(200)}
    assert drawn == set(range(1, 10))
