"""Where tunnels lead through the links of the configuration, and other ways (FAN-4)."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from fcn.contract.hops import hops_from
from fcn.controller.config.model import Config

Link = tuple[tuple[str, int], tuple[str, int]]
"""Two ends, (node, port) each, the lower one first."""

MOST_TRIED = 2_000
"""Ways that are looked at for a disjoint one; networks of this size are checked in a second."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a tunnel may pass: with several shortest paths (ECMP) the nodes and links of all.

    nodes: transit nodes. certain: those that are on every one of the shortest paths, in order, the
    nodes a tunnel is told to visit included. exits: the ends by which it may leave a node, that of
    its source included. repeated: a node that it passes twice in any case.
    """

    nodes: frozenset[str]
    links: frozenset[Link]
    certain: tuple[str, ...]
    exits: frozenset[tuple[str, int]] = frozenset()
    repeated: str | None = None

    def shares(self, other: "Trace") -> bool:
        """Whether one failure of a link or a transit node can concern both."""
        return bool(self.nodes & other.nodes or self.links & other.links)


def common(traces: Sequence[Trace]) -> tuple[frozenset[str], frozenset[Link]]:
    """Transit nodes and links that all may pass."""
    return (
        frozenset.intersection(*(trace.nodes for trace in traces)),
        frozenset.intersection(*(trace.links for trace in traces)),
    )


class Topology:
    """Nodes and links of a configuration; the underlay takes shortest paths, all of them (ECMP)."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._links: dict[str, dict[str, list[Link]]] = {name: {} for name in config.nodes}
        for ends in config.link_ends():
            near, far = sorted(ends)
            for a, b in ((near[0], far[0]), (far[0], near[0])):
                if a in self._links and b in self._links:
                    self._links[a].setdefault(b, []).append((near, far))
        self._segment = cache(self._find_segment)

    def trace(self, source: str, waypoints: Sequence[str]) -> Trace | None:
        """A tunnel from `source` by these nodes, the last of which is its end; None when the links
        do not lead there."""
        nodes: set[str] = set()
        links: set[Link] = set()
        exits: set[tuple[str, int]] = set()
        passed = [source]
        for near, far in zip((source, *waypoints), waypoints, strict=False):
            segment = self._segment(near, far)
            if segment is None:
                return None
            nodes |= segment.nodes | {far}
            links |= segment.links
            exits |= segment.exits
            passed += [*segment.certain, far]
        repeated = next((name for name in passed if passed.count(name) > 1), None)
        inner = frozenset(nodes - {source, waypoints[-1]})
        certain = tuple(passed[1:-1])
        return Trace(inner, frozenset(links), certain, frozenset(exits), repeated)

    def other_way(
        self, source: str, target: str, avoid: tuple[frozenset[str], frozenset[Link]], longest: int
    ) -> tuple[str, ...] | None:
        """Nodes to visit so that a tunnel certainly avoids these nodes and links, at most
        `longest`; None when there is no such way."""
        for path in self._ways(source, target, avoid):
            visited = self._waypoints(path, avoid)
            if visited is not None and len(visited) <= longest:
                return visited
        return None

    def _ways(
        self, source: str, target: str, avoid: tuple[frozenset[str], frozenset[Link]]
    ) -> Iterator[tuple[str, ...]]:
        """Paths without a loop, the shortest first. Of links between the same two nodes nobody
        says which is taken, so none of them may be one to avoid."""
        # What is left to the target is known, so no other path is tried than one that leads there.
        left = self._distances(target, avoid)
        waiting: list[tuple[int, tuple[str, ...]]] = []
        if source in left:
            waiting.append((left[source], (source,)))
        for _ in range(MOST_TRIED):
            if not waiting:
                return
            _, path = heapq.heappop(waiting)
            if path[-1] == target:
                yield path
                continue
            for peer in self._usable(path[-1], avoid):
                if peer not in path and peer in left:
                    heapq.heappush(waiting, (len(path) + left[peer], (*path, peer)))

    def _usable(self, name: str, avoid: tuple[frozenset[str], frozenset[Link]]) -> Iterator[str]:
        """Neighbours over none of the nodes and links to avoid."""
        for peer, links in self._links[name].items():
            if peer not in avoid[0] and not avoid[1].intersection(links):
                yield peer

    def _distances(
        self, target: str, avoid: tuple[frozenset[str], frozenset[Link]]
    ) -> dict[str, int]:
        """Hops from each node that can reach the target."""
        return hops_from(target, lambda name: self._usable(name, avoid))

    def _waypoints(
        self, path: Sequence[str], avoid: tuple[frozenset[str], frozenset[Link]]
    ) -> tuple[str, ...] | None:
        """The fewest of the path's nodes to visit, so that shortest paths between them are safe."""
        visited: list[str] = []
        at = 0
        while at < len(path) - 1:
            for ahead in range(len(path) - 1, at, -1):
                name = path[ahead]
                is_end = ahead == len(path) - 1
                if not is_end and not self._config.nodes[name].end_sids:
                    continue
                segment = self._segment(path[at], name)
                if segment and not (segment.nodes & avoid[0] or segment.links & avoid[1]):
                    break
            else:
                return None
            at = ahead
            if not is_end:
                visited.append(name)
        return tuple(visited)

    def _find_segment(self, source: str, target: str) -> Trace | None:
        ahead, behind = self._counts(source), self._counts(target)
        if target not in ahead or source == target:
            return None
        hops, ways = ahead[target]
        on = {
            name
            for name, (distance, _) in ahead.items()
            if name in behind and distance + behind[name][0] == hops
        }
        taken = [
            (name, link)
            for name in on
            for peer, between in self._links[name].items()
            if peer in on and ahead[peer][0] == ahead[name][0] + 1
            for link in between
        ]
        links = frozenset(link for _, link in taken)
        exits = frozenset(end for name, link in taken for end in link if end[0] == name)
        inner = on - {source, target}
        certain = [name for name in inner if ahead[name][1] * behind[name][1] == ways]
        certain.sort(key=lambda name: ahead[name][0])
        return Trace(frozenset(inner), links, tuple(certain), exits)

    def _counts(self, start: str) -> dict[str, tuple[int, int]]:
        """Hops to each node, and how many shortest paths there are."""
        hops, ways = hops_from(start, self._links.__getitem__), {start: 1}
        for name in list(hops)[1:]:
            ways[name] = sum(ways[peer] for peer in self._links[name] if hops[peer] < hops[name])
        return {name: (hops[name], ways[name]) for name in hops}
