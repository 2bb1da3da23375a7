"""Links that are paused in a circle."""

from collections.abc import Iterable

from lab_results import about

from fcn.lab.result.deadlock import Deadlock, deadlocks
from fcn.lab.result.model import Result
from fcn.lab.result.tables import frame

END = about().reached_ns
TIME = 300_000
RING = [("a", "b"), ("b", "c"), ("c", "a")]


def paused(links: Iterable[tuple[str, str]], since: int = END // 2) -> list[tuple[object, ...]]:
    """From then to the end, repeated after half of each pause."""
    return [(at, *link, 3, TIME) for link in links for at in range(since, END, TIME // 2)]


def found(*rows: tuple[object, ...]) -> list[Deadlock]:
    return deadlocks(Result(about(), pauses=frame("pauses", rows)))


def test_a_circle_is_one_whatever_waits_for_it() -> None:
    others = [("host", "a"), ("x", "host"), ("b", "x")]
    late = paused([("c", "a")], END // 2 + 1_000)
    rows = (*paused(RING[:2]), *late, *paused(others))
    assert found(*rows) == [Deadlock(("a", "b", "c"), END // 2 + 1_000)]


def test_circles_in_both_directions_are_two() -> None:
    back = [(towards, node) for node, towards in RING]
    assert found(*paused([*RING, *back])) == [
        Deadlock(("a", "b", "c"), END // 2),
        Deadlock(("a", "c", "b"), END // 2),
    ]


def test_what_goes_on_is_none() -> None:
    """Both directions of a link; a link that was told to go on, or was not told again, or lately;
    a way that is no circle."""
    assert found(*paused([("a", "b"), ("b", "a")])) == []
    assert found(*paused(RING), (END - 10, "b", "c", 3, 0)) == []
    ended = [row for row in paused([("b", "c")]) if int(str(row[0])) < END - 2 * TIME]
    assert found(*paused([RING[0], RING[2]]), *ended) == []
    begun_again = (END - 20, "b", "c", 3, 0), (END - 10, "b", "c", 3, TIME)
    assert found(*paused(RING), *begun_again) == []
    assert found(*paused(RING, END - TIME)) == []
    assert found(*paused([("a", "b"), ("b", "c"), ("c", "d")])) == []
    assert found() == []
