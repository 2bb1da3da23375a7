"""Which way messages went, as far as the counters of both ends tell."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from fcn.contract.hops import shortest
from fcn.page.layout import Edge, neighbours
from fcn.page.model import CENTRE, Kind, NodeView, Travel

REMEMBERED = 3
"""Frames in which what was sent may be received: nodes are looked at once a second, one by one."""

_ACROSS = (Kind.FAST_CNP, Kind.END_CON_CNP, Kind.FANTEL)
"""From a congested node to PEs."""


class Travels:
    """Sees frame after frame what nodes sent and received. Switches count by kind, not by whom a
    message is for: where several received, each has its share of what was sent."""

    def __init__(self, names: Sequence[str], edges: Sequence[Edge]) -> None:
        self._near = neighbours(names, edges)
        self._received: deque[Mapping[str, Mapping[str, int]]] = deque(maxlen=REMEMBERED)

    def see(self, nodes: Sequence[NodeView]) -> tuple[Travel, ...]:
        """The ways of what was sent since the frame before."""
        self._received.append({node.name: node.received for node in nodes})
        return tuple(travel for node in nodes for travel in self._of(node))

    def _of(self, node: NodeView) -> Iterator[Travel]:
        centre = node.name + CENTRE
        if paused := node.received.get(Kind.PAUSE):
            yield Travel(Kind.PAUSE, (centre, node.name), paused)
        for kind in Kind:
            count = node.sent.get(kind, 0)
            if not count:
                continue
            if kind in (Kind.CNP, Kind.PAUSE):
                yield Travel(kind, (node.name, centre), count)
            else:
                yield from self._shared(node.name, kind, count)

    def _shared(self, sender: str, kind: Kind, count: int) -> Iterator[Travel]:
        """A way to each node that received some of this kind."""
        heard: dict[str, int] = {}
        for frame in self._received:
            for name, received in frame.items():
                can = name != sender and (kind in _ACROSS or name in self._near[sender])
                if can and received.get(kind):
                    heard[name] = heard.get(name, 0) + received[kind]
        total = sum(heard.values())
        for name, share in heard.items():
            route = shortest(sender, name, self._near)
            if route:
                yield Travel(kind, route, max(1, round(count * share / total)))
        if not heard:
            yield Travel(kind, (sender,), count)
