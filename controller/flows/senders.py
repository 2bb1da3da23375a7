"""The source queue pair of each flow, the origin of that information, and how long it is kept.

Precedence: connection manager and manual registration, then host agents, then inference.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fcn.controller.config.types import Address
from fcn.controller.flows.flow import Origin
from fcn.controller.flows.key import FlowKey


@dataclass(slots=True)
class Sender:
    """The queue pair that sends a flow. `timeout`: microseconds without a packet after which its
    label is released (None: as configured); `silent_since`: when its label was released, if so."""

    source_qp: int
    origin: Origin
    timeout: int | None = None
    silent_since: float | None = None


_Pair = tuple[str, Address, Address, int]
"""VRF, source, destination, source queue pair."""


class Senders:
    """Senders of all flows, with and without a label. `clock` is monotonic, in seconds; `memory` is
    how many seconds the sender of a flow without a label is kept."""

    def __init__(self, clock: Callable[[], float], memory: float) -> None:
        self._clock = clock
        self._memory = memory
        self._senders: dict[FlowKey, Sender] = {}
        self._by_pair: dict[_Pair, set[FlowKey]] = {}

    def __contains__(self, key: FlowKey) -> bool:
        return key in self._senders

    def __iter__(self) -> Iterator[tuple[FlowKey, Sender]]:
        return iter(self._senders.items())

    def sending(self, key: FlowKey) -> Sender | None:
        """The sender of a flow that has a label or is about to get one; None when not known."""
        sender = self._senders.get(key)
        if sender is not None:
            sender.silent_since = None
        return sender

    def learn(
        self, key: FlowKey, source_qp: int, origin: Origin, timeout: int | None = None
    ) -> Sender:
        """Record the sender of a flow in place of any earlier one; the flow counts as silent until
        it has a label."""
        return self._put(key, Sender(source_qp, origin, timeout, self._clock()))

    def restore(self, key: FlowKey, source_qp: int) -> None:
        """Record a sender read back from a switch, unless one is known already."""
        if key not in self._senders:
            self._put(key, Sender(source_qp, Origin.RESTORED))

    def believes_agent(self, key: FlowKey, source_qp: int) -> bool:
        """Whether a host agent's report of this queue pair is new and takes precedence."""
        sender = self._senders.get(key)
        if sender is None:
            return True
        if sender.origin in (Origin.CM, Origin.MANUAL):
            return False
        return (sender.origin, sender.source_qp) != (Origin.AGENT, source_qp)

    def forget(self, key: FlowKey) -> None:
        """Delete the sender of a flow."""
        sender = self._senders.pop(key, None)
        if sender is not None:
            pair = (key.vrf, key.src, key.dst, sender.source_qp)
            self._by_pair[pair].discard(key)
            if not self._by_pair[pair]:
                del self._by_pair[pair]

    def fell_silent(self, key: FlowKey) -> None:
        """Record that the flow's label was released. Inferred and reported senders, which can be
        learned again, are deleted, because the queue pair may be another one afterwards."""
        sender = self._senders.get(key)
        if sender is None:
            return
        sender.silent_since = self._clock()
        if sender.origin in (Origin.INFERRED, Origin.AGENT):
            self.forget(key)

    def expire(self) -> None:
        """Delete senders of flows without a label after `memory` seconds, except manual ones."""
        limit = self._clock() - self._memory
        for key, sender in list(self._senders.items()):
            silent = sender.silent_since is not None and sender.silent_since < limit
            if silent and sender.origin is not Origin.MANUAL:
                self.forget(key)

    def sent_by(self, vrf: str, src: Address, dst: Address, source_qp: int) -> list[FlowKey]:
        """Flows from `src` to `dst` that this queue pair sends."""
        return list(self._by_pair.get((vrf, src, dst, source_qp), ()))

    def _put(self, key: FlowKey, sender: Sender) -> Sender:
        self.forget(key)
        self._senders[key] = sender
        pair = (key.vrf, key.src, key.dst, sender.source_qp)
        self._by_pair.setdefault(pair, set()).add(key)
        return sender
