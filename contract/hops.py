"""Fewest hops between places."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def hops_from(start: T, near: Callable[[T], Iterable[T]]) -> dict[T, int]:
    """Hops from one place to all that it reaches; near: the places next to one."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        place = queue.popleft()
        for peer in near(place):
            if peer not in found:
                found[peer] = found[place] + 1
                queue.append(peer)
    return found


def shortest(start: T, end: T, near: Mapping[T, Sequence[T]]) -> tuple[T, ...]:
    """A path of fewest hops with both its ends, of several by those that come first; near: the
    places next to each. Empty where there is none."""
    left = hops_from(end, lambda place: near.get(place, ()))
    if start not in left:
        return ()
    route = [start]
    while route[-1] != end:
        route.append(min(near[route[-1]], key=lambda place: left.get(place, len(left))))
    return tuple(route)
