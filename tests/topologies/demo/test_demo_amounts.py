"""The amounts by which modes are compared."""

from dataclasses import replace

import pytest
from demo_record import record, scenario
from matplotlib.figure import Figure

from fcn.topologies.demo.bars import draw_goodput, draw_others
from fcn.topologies.demo.measure import Measurement, Other, jain, measure, percentile
from fcn.topologies.demo.report import time_text

MANY = 12


def crowded(mode: str) -> Measurement:
    """A run with many senders, and other traffic at many places."""
    goodputs: dict[str, tuple[float, ...]] = {
        f"h{number}": (1e6 * number,) for number in range(1, MANY + 1)
    }
    others = tuple(Other(f"place {number}", 100, 0, 1.0) for number in range(MANY))
    return replace(measure(scenario(), record(mode)), goodputs_bps=goodputs, others=others)


def test_every_sender_and_place_is_drawn() -> None:
    senders, places = Figure().subplots(1, 2)
    runs = [crowded("ecn"), crowded("fcn")]
    draw_goodput(senders, runs)
    draw_others(places, runs)
    assert len(senders.patches) == len(places.patches) == MANY * len(runs)
    assert max(bar.get_y() + bar.get_height() for bar in senders.patches) == pytest.approx(78)
    shades = [bar.get_alpha() for bar in senders.patches]
    assert len(set(shades)) == MANY


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
    assert (time_text(1.5), time_text(0.0025)) == ("1.50 ms", "2.50 us")
