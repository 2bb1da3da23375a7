"""Paths of a result's network: those with the fewest hops, as the controller routes."""

from itertools import pairwise

from fcn.lab.result.model import NetworkInfo


class Paths:
    """Hops and propagation delays between the nodes and hosts of a network.

    Where several paths have the fewest hops, the delay is that of the shortest in time: no packet
    can be faster.
    """

    def __init__(self, network: NetworkInfo) -> None:
        self._neighbours: dict[str, list[tuple[str, int]]] = {}
        for link in network.links:
            self._neighbours.setdefault(link.a, []).append((link.b, link.delay_ns))
            self._neighbours.setdefault(link.b, []).append((link.a, link.delay_ns))
        self._known: dict[str, dict[str, tuple[int, int]]] = {}

    def way(self, start: str, end: str) -> tuple[str, ...]:
        """The nodes of the path that delay_ns() is of, both ends included; empty without one."""
        if end not in self._from(start):
            return ()
        way = [end]
        while way[-1] != start:
            here = self._from(start)[way[-1]]
            way.append(
                next(
                    node
                    for node, delay in self._neighbours[way[-1]]
                    if self._from(start).get(node) == (here[0] - 1, here[1] - delay)
                )
            )
        return tuple(reversed(way))

    def delay_ns(self, *way: str) -> int | None:
        """Propagation delay along a way through these nodes; None when there is no path."""
        total = 0
        for start, end in pairwise(way):
            found = self._from(start).get(end)
            if found is None:
                return None
            total += found[1]
        return total

    def crosses(self, node: str, towards: str, start: str, end: str) -> bool:
        """Whether a path with the fewest hops from `start` to `end` uses this direction of a
        link."""
        before = self._from(start).get(node)
        after = self._from(towards).get(end)
        whole = self._from(start).get(end)
        return (
            before is not None
            and after is not None
            and whole is not None
            and before[0] + 1 + after[0] == whole[0]
        )

    def _from(self, start: str) -> dict[str, tuple[int, int]]:
        """Hops and delay to all that can be reached."""
        if start not in self._known:
            reached = {start: (0, 0)}
            edge = [start]
            while edge:
                found: dict[str, tuple[int, int]] = {}
                for node in edge:
                    hops, delay = reached[node]
                    for neighbour, more in self._neighbours.get(node, ()):
                        if neighbour not in reached:
                            reach = (hops + 1, delay + more)
                            found[neighbour] = min(found.get(neighbour, reach), reach)
                reached |= found
                edge = list(found)
            self._known[start] = reached
        return self._known[start]
