"""The amounts by which modes are compared."""

import pytest

from fcn.topologies.demo.comparison import jain, percentile, rate_text, time_text


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
