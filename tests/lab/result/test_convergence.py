"""Whether the rates of long flows had settled when a run ended."""

from collections.abc import Sequence
from dataclasses import replace

from lab_results import MS, about

from fcn.lab.result.convergence import TOLERANCE, long_connections
from fcn.lab.result.model import Result
from fcn.lab.result.tables import frame


def run(
    acknowledged: Sequence[tuple[int, int]],
    messages: Sequence[tuple[int, int | None]] = ((0, None),),
    *,
    finished: bool = True,
) -> Result:
    """One connection: when how many packets were acknowledged, and its messages."""
    return Result(
        about(finished=finished),
        messages=frame(
            "messages",
            [("l1", 0, n, 4096, start, done) for n, (start, done) in enumerate(messages)],
        ),
        rates=frame("rates", [(time, "l1", 0, 1e9, count, 0) for time, count in acknowledged]),
    )


def test_a_steady_connection_has_settled() -> None:
    (found,) = long_connections(run([(10 * MS, 100), (15 * MS, 200), (20 * MS, 295)]))
    assert (found.third, found.last, found.settled) == (100, 95, True)


def test_one_that_still_changes_has_not() -> None:
    for last in (80, 125):
        (found,) = long_connections(run([(10 * MS, 100), (15 * MS, 200), (20 * MS, 200 + last)]))
        assert not found.settled
        assert abs(found.change) > TOLERANCE


def test_one_that_delivers_nothing_has_not() -> None:
    (found,) = long_connections(run([(5 * MS, 100)]))
    assert (found.third, found.last, found.settled) == (0, 0, False)


def test_a_run_of_less_than_a_round_trip_says_nothing() -> None:
    assert long_connections(run([])) == []
    assert long_connections(run([(15 * MS, 100), (20 * MS, 900)])) == []


def test_values_last_until_the_next_row() -> None:
    (found,) = long_connections(run([(9 * MS, 100), (14 * MS, 200), (19 * MS, 300)]))
    assert (found.third, found.last) == (100, 100)


def test_only_connections_that_had_all_to_send_from_before_until_the_end_are_long() -> None:
    counts = [(10 * MS, 100), (15 * MS, 200), (20 * MS, 300)]
    assert len(long_connections(run(counts, [(0, 12 * MS), (10 * MS, None)]))) == 1
    assert long_connections(run(counts, [(0, None), (11 * MS, None)])) == []
    assert long_connections(run(counts, [(0, 19 * MS)])) == []


def test_a_run_that_ended_early_says_nothing() -> None:
    assert long_connections(run([(10 * MS, 1)], finished=False)) == []


def test_samples_that_are_seldom_do_not_change_what_is_steady() -> None:
    """Of every 3 ms of 20: at 9, 15, 18 and the end."""
    steady = run([(time * MS, 10 * time) for time in (3, 6, 9, 12, 15, 18, 20)])
    queues = [(time * MS, "p1", "p2", 0, 0) for time in (*range(0, 20, 3), 20)]
    (found,) = long_connections(replace(steady, queues=frame("queues", queues)))
    assert (found.third, found.last, found.settled) == (50, 50, True)
    never = [(time * MS, "p1", "p2", 0, 0) for time in (0, 10, 20)]
    assert long_connections(replace(steady, queues=frame("queues", never))) == []
