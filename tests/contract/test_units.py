"""Rates as files write them."""

import pytest

from fcn.contract.units import MAX_RATE_BPS, format_rate, parse_rate


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("10 Gb/s", 10**10),
        ("2.5Mb/s", 2_500_000),
        ("400 kb/s", 400_000),
        ("7 b/s", 7),
        ("4 Tb/s", MAX_RATE_BPS),
    ],
)
def test_rates(text: str, rate: int) -> None:
    assert parse_rate(text) == rate
    assert parse_rate(format_rate(rate)) == rate


def test_the_shortest_notation() -> None:
    rates = {10**10: "10 Gb/s", 2_500_000: "2500 kb/s", 7: "7 b/s"}
    assert {rate: format_rate(rate) for rate in rates} == rates


def test_the_highest_rate_fits_the_programs() -> None:
    assert MAX_RATE_BPS // 1000 < 1 << 32


@pytest.mark.parametrize(
    "value",
    [*("", "10", "10 Gbit/s", "0 Gb/s", "-1 Gb/s", "4.1 Tb/s", "0.1 b/s", "1e9 b/s", "9" * 500),
     *(10, 10.0, True, None, [], {"rate": 1}, "10 GB/s", "\u0661 Gb/s")],
)  # fmt: skip
def test_what_is_no_rate(value: object) -> None:
    with pytest.raises(ValueError, match="is not"):
        parse_rate(value)
