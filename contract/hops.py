"""Fewest hops between places."""

from collections import deque
from collections.abc import Callable, Iterable
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
