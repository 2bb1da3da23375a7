"""Chooses the watched flows: flows of unknown source of which the PEs report samples for inference.

A watched flow causes up to one report per learning window, which must be bounded (FCN-15). So at
most `limit` flows are watched at a time, all flows of a host pair together, for WATCH seconds. Then
the host pair pauses; each further pause is twice as long, and a new flow between the hosts ends it.
Where more are to be watched, VRFs, subnets and hosts have fair shares (shares.py).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice, zip_longest

from fcn.controller.flows.key import FlowKey, HostPairKey, host_pair
from fcn.controller.flows.shares import FlowShares, NoRoomError, host_of

WATCH = 10.0
"""Seconds for which the flows of a host pair are watched."""

FIRST_REST = 10.0
"""Seconds of the first pause; each further one is twice as long."""

LONGEST_REST = 640.0


@dataclass(slots=True)
class _HostPair:
    """Flows of unknown source between two hosts. `turn`: when the watch or the pause ends; `rest`:
    seconds of the next pause."""

    vrf: str
    turn: float = 0.0
    rest: float = FIRST_REST
    watching: bool = False
    flows: dict[FlowKey, None] = field(default_factory=dict)
    watched: dict[FlowKey, None] = field(default_factory=dict)


class WatchList:
    """Flows watched at present. `clock` is monotonic, in seconds; `limit`: flows at a time;
    `refused` hears of a new flow that has to wait, because its host has the largest share."""

    def __init__(
        self,
        clock: Callable[[], float],
        limit: int,
        refused: Callable[[FlowKey], None] = lambda _flow: None,
    ) -> None:
        self._clock = clock
        self._limit = limit
        self._refused = refused
        self._pairs: dict[HostPairKey, _HostPair] = {}
        self._shares = FlowShares()

    def __contains__(self, flow: FlowKey) -> bool:
        return flow in self._shares

    def __iter__(self) -> Iterator[FlowKey]:
        return iter(self._shares)

    def __len__(self) -> int:
        """Flows watched at present, never more than the limit."""
        return len(self._shares)

    def complete(self, key: HostPairKey) -> bool:
        """Whether every known flow of unknown source between two hosts is watched."""
        pair = self._pairs.get(key)
        return pair is not None and len(pair.watched) == len(pair.flows)

    def add(self, flow: FlowKey) -> set[FlowKey]:
        """Add a flow of unknown source; returns the flows whose state changed because of it."""
        pair = self._pairs.setdefault(host_pair(flow), _HostPair(flow.vrf))
        if flow in pair.flows:
            return set()
        pair.flows[flow] = None
        changed: set[FlowKey] = set()
        if pair.watching:
            self._watch(pair, flow, changed)
        else:
            pair.rest = FIRST_REST
            changed = self._begin(pair)
        if self._limit and flow not in pair.watched:
            self._refused(flow)
        return changed

    def remove(self, flow: FlowKey) -> None:
        """Remove a flow whose source is known or which has ended."""
        key = host_pair(flow)
        pair = self._pairs.get(key)
        if pair is None or flow not in pair.flows:
            return
        del pair.flows[flow]
        self._unwatch(pair, flow)
        if not pair.flows:
            del self._pairs[key]

    def advance(self) -> set[FlowKey]:
        """End watches and pauses that are due; returns the flows whose state changed."""
        now = self._clock()
        changed: set[FlowKey] = set()
        due = sorted(
            (pair for pair in self._pairs.values() if pair.turn <= now), key=lambda each: each.turn
        )
        waiting = defaultdict[str, list[_HostPair]](list)
        for pair in due:
            if pair.watching:
                changed |= pair.watched.keys()
                self._rest(pair, now)
            else:
                waiting[pair.vrf].append(pair)
        # One of each VRF, again and again; who finds no room is last next time.
        turns = (pair for pairs in zip_longest(*waiting.values()) for pair in pairs if pair)
        for pair in islice(turns, self._limit):
            changed |= self._begin(pair)
        return changed

    def _begin(self, pair: _HostPair) -> set[FlowKey]:
        """Watch the flows of a host pair as far as there is room; if none, retry in `advance`."""
        changed: set[FlowKey] = set()
        for flow in pair.flows:
            if not self._watch(pair, flow, changed):
                break
        pair.watching = bool(pair.watched)
        pair.turn = self._clock() + (WATCH if pair.watching else 0.0)
        return changed

    def _rest(self, pair: _HostPair, now: float) -> None:
        for flow in list(pair.watched):
            self._unwatch(pair, flow)
            # Moved to the end: flows that exceeded the limit are watched first next time.
            pair.flows[flow] = pair.flows.pop(flow)
        pair.watching, pair.turn = False, now + pair.rest
        pair.rest = min(LONGEST_REST, 2 * pair.rest)

    def _watch(self, pair: _HostPair, flow: FlowKey, changed: set[FlowKey]) -> bool:
        """Watch a flow if its host may have one more, in place of another's if need be."""
        try:
            displaced = self._shares.add(host_of(flow.vrf, flow.src), flow, self._limit)
        except NoRoomError:
            return False
        if displaced is not None:
            del self._pairs[host_pair(displaced)].watched[displaced]
            changed.add(displaced)
        pair.watched[flow] = None
        changed.add(flow)
        return True

    def _unwatch(self, pair: _HostPair, flow: FlowKey) -> None:
        if flow in pair.watched:
            del pair.watched[flow]
            self._shares.remove(flow)
