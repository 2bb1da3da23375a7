"""Chooses the flows of unknown source the PEs report on, so that their source can be inferred.

A watched flow costs the control plane up to one report per learning window (FCN-15: bounded). So at
most `limit` flows are watched at a time, those of two hosts together, for some seconds; what stays
unknown then rests, longer each time. A new flow between two hosts ends their rest.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from fcn.controller.flows.inference import HostPairKey, host_pair
from fcn.controller.flows.key import FlowKey

WATCH = 10.0
"""Seconds two hosts' flows are watched for."""

FIRST_REST = 10.0
"""Seconds of the first rest; every further one is twice as long."""

LONGEST_REST = 640.0


@dataclass(slots=True)
class _HostPair:
    """Flows of unknown source between two hosts; `turn`: when watch or rest ends."""

    turn: float = 0.0
    rest: float = FIRST_REST
    watching: bool = False
    flows: dict[FlowKey, None] = field(default_factory=dict)
    watched: set[FlowKey] = field(default_factory=set)


class WatchList:
    """Flows to be watched now. `clock` returns seconds and never goes back."""

    def __init__(self, clock: Callable[[], float], limit: int) -> None:
        self._clock = clock
        self._limit = limit
        self._pairs: dict[HostPairKey, _HostPair] = {}
        self._watched = 0

    def __contains__(self, flow: FlowKey) -> bool:
        pair = self._pairs.get(host_pair(flow))
        return pair is not None and flow in pair.watched

    def __len__(self) -> int:
        """Flows watched now, never more than the limit."""
        return self._watched

    def complete(self, key: HostPairKey) -> bool:
        """Whether every known flow of unknown source between two hosts is watched."""
        pair = self._pairs.get(key)
        return pair is not None and len(pair.watched) == len(pair.flows)

    def add(self, flow: FlowKey) -> set[FlowKey]:
        """A flow of unknown source; returns the flows this makes watched, maybe itself."""
        pair = self._pairs.setdefault(host_pair(flow), _HostPair())
        if flow in pair.flows:
            return set()
        pair.flows[flow] = None
        if not pair.watching:
            pair.rest = FIRST_REST
            return self._begin(pair)
        if self._watched < self._limit:
            self._watch(pair, flow)
        return pair.watched & {flow}

    def remove(self, flow: FlowKey) -> None:
        """The flow's source is known, or the flow is gone."""
        key = host_pair(flow)
        pair = self._pairs.get(key)
        if pair is None or flow not in pair.flows:
            return
        del pair.flows[flow]
        self._unwatch(pair, flow)
        if not pair.flows:
            del self._pairs[key]

    def advance(self) -> set[FlowKey]:
        """Let watches and rests end that are due; the flows this made watched or unwatched."""
        now = self._clock()
        changed: set[FlowKey] = set()
        due = sorted(
            (pair for pair in self._pairs.values() if pair.turn <= now), key=lambda each: each.turn
        )
        for pair in due:
            if pair.watching:
                changed |= pair.watched
                self._rest(pair, now)
        for pair in due:
            if not pair.watching and pair.turn <= now:
                changed |= self._begin(pair)
        return changed

    def _begin(self, pair: _HostPair) -> set[FlowKey]:
        """Watch two hosts' flows as far as there is room; without any, at the next opportunity."""
        room = self._limit - self._watched
        pair.watching = room > 0
        pair.turn = self._clock() + (WATCH if pair.watching else 0.0)
        for flow in list(pair.flows)[:room]:
            self._watch(pair, flow)
        return set(pair.watched)

    def _rest(self, pair: _HostPair, now: float) -> None:
        for flow in list(pair.watched):
            self._unwatch(pair, flow)
            # Where not all had room, the others are first next time.
            pair.flows[flow] = pair.flows.pop(flow)
        pair.watching, pair.turn = False, now + pair.rest
        pair.rest = min(LONGEST_REST, 2 * pair.rest)

    def _watch(self, pair: _HostPair, flow: FlowKey) -> None:
        pair.watched.add(flow)
        self._watched += 1

    def _unwatch(self, pair: _HostPair, flow: FlowKey) -> None:
        if flow in pair.watched:
            pair.watched.remove(flow)
            self._watched -= 1
