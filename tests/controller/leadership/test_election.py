"""Who leads, by what switches say; and election IDs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcn.controller.leadership.election import Seat, standing
from fcn.controller.leadership.ids import (
    CONTROLLERS,
    LAST_ROUND,
    STANDBY,
    WEAK,
    ElectionId,
    above,
    number_of,
)

ORDER = ("a", "b", "c", "d")


def seats(holders: str) -> dict[str, Seat]:
    """One letter a switch: 1 to 9 the controller that is primary, `-` none, `x` other software,
    a space that it is not reached."""
    found = {}
    for name, letter in zip(ORDER, holders, strict=True):
        if letter.isdigit():
            value = ElectionId(3, int(letter)).value
            found[name] = Seat(value, value)
        elif letter != " ":
            found[name] = Seat(None if letter == "-" else 999, 999)
    return found


@pytest.mark.parametrize(
    ("holders", "vacant"),
    [
        ("2---", True),
        ("-2-2", True),
        ("2--2", False),
        ("22--", False),
        ("2-- ", False),
        ("2-xx", True),
        ("2xxx", False),
        ("1---", False),
        ("23--", True),
    ],
)
def test_nobody_can_have_most_but_this_one(holders: str, vacant: bool) -> None:
    assert standing(seats(holders), ORDER, 1).vacant == vacant


@pytest.mark.parametrize(
    ("holders", "first", "held", "most"),
    [
        ("----", None, 0, False),
        ("    ", None, 0, False),
        ("xxxx", None, 0, False),
        ("1111", 1, 4, True),
        ("1---", 1, 1, False),
        ("222 ", 2, 0, False),
        ("1122", 1, 2, True),
        ("2211", 2, 2, False),
        ("2111", 1, 3, True),
        ("11  ", 1, 2, True),
        ("  11", 1, 2, False),
        ("213-", 2, 1, False),
        ("x111", 1, 3, True),
    ],
)
def test_standing(holders: str, first: int | None, held: int, most: bool) -> None:
    found = standing(seats(holders), ORDER, 1)
    assert (found.first, found.held, found.switches, found.most) == (first, held, 4, most)


@pytest.mark.parametrize(
    ("holders", "silent", "vacant"),
    [("2222", None, False), ("2222", 2, True), ("3222", 2, True), ("3322", 2, False)],
)
def test_a_first_one_that_is_silent_is_as_good_as_gone(
    holders: str, silent: int | None, vacant: bool
) -> None:
    assert standing(seats(holders), ORDER, 1, silent).vacant == vacant


@given(st.lists(st.sampled_from("123- x"), min_size=4, max_size=4))
def test_of_all_controllers_one_at_most_has_most(holders: list[str]) -> None:
    seen = seats("".join(holders))
    assert sum(standing(seen, ORDER, me).most for me in (1, 2, 3)) <= 1


number = st.integers(0, CONTROLLERS - 1)


@given(st.integers(1, LAST_ROUND), number)
def test_election_ids_are_read_as_written(turn: int, controller: int) -> None:
    found = ElectionId(turn, controller)
    assert ElectionId.parse(found.value) == found
    assert max(WEAK, *STANDBY) < found.value < 1 << 128


@given(st.integers(0, (1 << 128) - 1), number)
def test_a_bid_is_above_all_that_was_seen(highest: int, controller: int) -> None:
    bid = above(highest, controller)
    assert (bid is None) == (highest >> 64 == LAST_ROUND)
    assert bid is None or bid > highest


@pytest.mark.parametrize("value", [0, 1, WEAK, 999, *STANDBY, 0xFC << 56, 1 << 64, (1 << 100) + 7])
def test_the_ids_of_others_are_not_ours(value: int) -> None:
    assert ElectionId.parse(value) is None
    assert Seat(value, value).is_foreign == (value > WEAK)


def test_names_have_numbers_of_their_own() -> None:
    assert number_of("east") != number_of("west")
    assert number_of("east") < CONTROLLERS
