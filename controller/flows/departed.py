"""Flows that were disconnected a moment ago (FCN-4).

A PE reports data and connection messages in separate batches, so a report of a flow's last packets
can arrive behind the message that ended it. It says nothing of the flow's state now.
"""

from collections import OrderedDict
from collections.abc import Callable

from fcn.controller.flows.key import FlowKey

REPORTS_ARRIVE = 3.0
"""Seconds within which every report of a packet has arrived. A flow between the same queue pairs
that no handshake announces is labelled that much later."""


class Departed:
    """`clock` returns seconds and never goes back."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: OrderedDict[FlowKey, float] = OrderedDict()
        """Soonest first."""

    def __contains__(self, key: FlowKey) -> bool:
        return self._until.get(key, 0.0) > self._clock()

    def add(self, key: FlowKey) -> None:
        """The flow was disconnected now."""
        now = self._clock()
        while self._until and next(iter(self._until.values())) <= now:
            self._until.popitem(last=False)
        self._until[key] = now + REPORTS_ARRIVE
        self._until.move_to_end(key)

    def discard(self, key: FlowKey) -> None:
        """It goes on, or begins again."""
        self._until.pop(key, None)
