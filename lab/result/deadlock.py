"""Deadlocks of flow control: links that wait for each other in a circle, for ever.

A link is paused because the node at its end has no memory for more; when what fills that memory
waits for a link that is paused, too, and so on back to the first one, nothing moves any more.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fcn.lab.result.model import Result

Direction = tuple[str, str]
"""A link by the node that is paused and its neighbour."""

PAUSE_TIMES = 2
"""For so many times as long as a PAUSE says, without one end, links of a deadlock were paused:
otherwise they may be paused by chance at the end of the run."""


@dataclass(frozen=True, slots=True)
class Deadlock:
    """nodes: in the direction of their links; the last one's leads to the first. since_ns: when the
    last of the links was paused."""

    nodes: tuple[str, ...]
    since_ns: int


def deadlocks(result: Result) -> list[Deadlock]:
    """Those at the end of the run, each link in one of them at most."""
    paused = _in_circles(_paused(result))
    found = []
    while paused:
        circle = _circle(paused)
        found.append(Deadlock(tuple(a for a, _ in circle), max(paused[link] for link in circle)))
        paused = _in_circles({link: at for link, at in paused.items() if link not in circle})
    return found


def _paused(result: Result) -> dict[Direction, int]:
    """Links that are paused at the end, long enough, and since when without interruption."""
    found: dict[Direction, int] = {}
    for names, part in result.pauses.groupby(["node", "towards", "priority"]):
        node, towards, _ = map(str, names)
        since, until, length = 0, -1, 0
        ordered = part.sort_values("time_ns", kind="stable")
        for time, duration in zip(ordered["time_ns"], ordered["duration_ns"], strict=True):
            if time > until:
                since = time
            until, length = (time + duration, duration) if duration else (-1, 0)
        end = result.about.reached_ns
        if until >= end and end - since >= PAUSE_TIMES * length:
            link = node, towards
            found[link] = min(since, found.get(link, since))
    return found


def _follows(one: Direction, other: Direction) -> bool:
    """Whether packets go from one link to the other; none goes back to where it came from."""
    return one[1] == other[0] and one[0] != other[1]


def _in_circles(paused: Mapping[Direction, int]) -> dict[Direction, int]:
    """Without the links that wait for one that is not paused, or for which no other one waits."""
    left = dict(paused)
    while True:
        kept = {
            link: at
            for link, at in left.items()
            if any(_follows(link, other) for other in left)
            and any(_follows(other, link) for other in left)
        }
        if len(kept) == len(left):
            return kept
        left = kept


def _circle(paused: Mapping[Direction, int]) -> list[Direction]:
    """One circle of links, each of which has one that follows, beginning with the first by name."""
    way = [min(paused)]
    while True:
        following = min(link for link in paused if _follows(way[-1], link))
        if following in way:
            circle = way[way.index(following) :]
            first = circle.index(min(circle))
            return circle[first:] + circle[:first]
        way.append(following)
