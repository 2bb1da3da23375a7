"""The configuration, scenarios and descriptions of networks read the same notation."""

import pytest

from fcn.controller.config.notation import parse_duration, parse_octets
from fcn.topologies.units import parse_delay, parse_size, parse_time


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [("50us", 50_000), ("2.5 ms", 2_500_000), ("0.25ms", 250_000), ("1 s", 10**9)],
)
def test_times(text: str, nanoseconds: int) -> None:
    assert parse_time(text) == parse_delay(text) == nanoseconds == 1000 * parse_duration(text)


@pytest.mark.parametrize(
    ("text", "octets"),
    [("1500B", 1500), ("9 kB", 9000), ("9KB", 9000), ("64KiB", 1 << 16), ("2.5 GiB", 5 << 29)],
)
def test_sizes(text: str, octets: int) -> None:
    assert parse_size(text) == parse_octets(text) == octets


@pytest.mark.parametrize("text", ["", "1", "1  ms", "-1ms", "1e3us", "1 sec", "9" * 400 + "s"])
def test_what_is_no_time(text: str) -> None:
    for parse in (parse_time, parse_delay, parse_duration):
        with pytest.raises(ValueError, match="is not a"):
            parse(text)


@pytest.mark.parametrize("text", ["", "kB", "8 cells", "-8kB", "9" * 400 + "kB"])
def test_what_is_no_size(text: str) -> None:
    for parse in (parse_size, parse_octets):
        with pytest.raises(ValueError, match=r"is (not a size|no number of octets)"):
            parse(text)
