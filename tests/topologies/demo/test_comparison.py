"""The amounts by which modes are compared."""

import pytest
from matplotlib import pyplot

from fcn.topologies.demo.comparison import (
    Figures,
    Other,
    _goodput,
    _others,
    jain,
    percentile,
    rate_text,
    time_text,
)

MANY = 12


def figures(title: str) -> Figures:
    """A run with many senders, and other traffic at many places."""
    goodput = {f"h{number}": 1e9 * number for number in range(1, MANY + 1)}
    others = tuple(Other(f"place {number}", 100, 0, 1e6) for number in range(MANY))
    return Figures(title, "#4393c3", 1e6, None, 0, 10, 0, goodput, 1.0, others)


def test_every_sender_and_place_is_drawn() -> None:
    figure, (senders, places) = pyplot.subplots(1, 2)
    runs = [figures("ecn"), figures("fcn")]
    _goodput(senders, runs)
    _others(places, runs)
    assert len(senders.patches) == len(places.patches) == MANY * len(runs)
    assert max(bar.get_y() + bar.get_height() for bar in senders.patches) == pytest.approx(78)
    shades = [bar.get_alpha() for bar in senders.patches]
    assert len(set(shades)) == MANY
    pyplot.close(figure)


def test_jains_index() -> None:
    assert jain([5.0, 5.0, 5.0]) == pytest.approx(1)
    assert jain([7.0, 0.0, 0.0, 0.0]) == pytest.approx(1 / 4)
    assert jain([0.0, 0.0]) is None
    assert jain([]) is None


def test_the_99th_percentile_is_exceeded_by_one_in_a_hundred() -> None:
    assert percentile(map(float, range(1, 101))) == 99
    assert percentile(map(float, range(1, 201))) == 198
    assert percentile([3.0, 1.0, 2.0]) == 3
    assert percentile([]) is None


def test_amounts_have_units() -> None:
    assert time_text(None) == "-"
    assert (time_text(1.5e6), time_text(2500.0)) == ("1.50 ms", "2.50 us")
    assert (rate_text(2.5e9), rate_text(2.5e6)) == ("2.50 Gb/s", "2.50 Mb/s")
