"""The rate of the clock packet, and what it looks like."""

import pytest

from fcn.contract.link_clock import (
    HIGHEST_RATE,
    bmv2_commands,
    clock_packet,
    clock_rate,
    most_slots,
    round_time,
)


@pytest.mark.parametrize(
    ("slots", "interval", "rate"),
    [
        (0, 10_000, 100),
        (9, 10_000, 1000),
        (2, 1_000_000, 3),
        (1, 10_000_000, 1),
        (300, 1_000, 20_000),
    ],
)
def test_a_round_takes_an_interval(slots: int, interval: int, rate: int) -> None:
    assert clock_rate(slots, interval) == rate
    if rate < HIGHEST_RATE:
        assert round_time(slots, interval) <= interval / 1e6
    else:
        assert round_time(slots, interval) == (slots + 1) / HIGHEST_RATE


def test_the_most_slots_are_still_looked_at_in_time() -> None:
    slots = most_slots(10_000)
    assert round_time(slots, 10_000) == 0.01
    assert round_time(slots + 1, 10_000) > 0.01


def test_the_packet_has_its_token() -> None:
    assert clock_packet(0x1_0203_0405).hex() == "00" * 12 + "88b5" + "0203040500" + "00" * 41
    assert clock_packet(1, is_last=True).hex()[24:].startswith("88b50000000101")


def test_bmv2_is_told_the_rate() -> None:
    assert bmv2_commands(9, 10_000) == ("set_queue_rate 1000 507",)
