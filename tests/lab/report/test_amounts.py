"""Amounts as people read them."""

import pytest

from fcn.lab.report.amounts import NOTHING, Unit, scale, show


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (500_541, "ns", "500.5 µs"),
        (-98_000_000, "ns", "-98 ms"),
        (0, "ns", "0 ns"),
        (92_437_000_000, "bps", "92.44 Gb/s"),
        (999, "bps", "999 b/s"),
        (12_345_678e12, "octets", "12,345,678 TB"),
        (1_234_567, "count", "1,234,567"),
        (0.25, "count", "0.2"),
        (1.00004, "ratio", "1.0000"),
        (0.12345, "share", "12.35 %"),
        (float("nan"), "ns", NOTHING),
        (None, "count", NOTHING),
    ],
)
def test_show(value: float | None, unit: Unit, text: str) -> None:
    assert show(value, unit) == text


def test_the_multiple_fits_the_largest() -> None:
    assert scale(40_000_000, "ns") == (1e6, "ms")
    assert scale(0, "bps") == (1, "b/s")
