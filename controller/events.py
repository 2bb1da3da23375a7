"""Events of the network, for the log and for subscribers (`fcn events`)."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from fcn.controller.clock import Clock

LOG = logging.getLogger("fcn.event")

QUEUE_SIZE = 10_000


class Kind(StrEnum):
    """Kinds of events."""

    NODE_UP = "node-up"
    NODE_DOWN = "node-down"
    NODE_BACKUP = "node-backup"
    NODE_ERROR = "node-error"
    SYNCHRONIZED = "synchronized"
    FLOW_LABELLED = "flow-labelled"
    FLOW_REMOVED = "flow-removed"
    FLOW_RESTORED = "flow-restored"
    REFUSED = "learning-refused"
    SOURCE_QP = "source-qp"
    CM_MESSAGE = "cm-message"
    FEATURES = "features"
    THRESHOLDS = "thresholds"
    NEIGHBOR = "neighbor"
    NOTIFICATIONS = "notifications"
    AGENT_REFUSED = "agent-refused"
    LOST = "events-lost"


WARNINGS = frozenset(
    {
        Kind.NODE_DOWN,
        Kind.NODE_BACKUP,
        Kind.NODE_ERROR,
        Kind.REFUSED,
        Kind.AGENT_REFUSED,
    }
)


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `time` is in seconds since the epoch; `fields` are machine-readable details."""

    kind: Kind
    node: str
    message: str
    time: float
    fields: Mapping[str, str]


class EventBus:
    """Logs every event and passes it to the subscribers.

    A subscriber has a bounded queue: when it is full the oldest event is discarded, and the
    subscriber receives an event with the number of discarded ones.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._watchers: dict[asyncio.Queue[Event], None] = {}
        self._lost: dict[asyncio.Queue[Event], int] = {}

    def emit(self, kind: Kind, node: str, message: str, **fields: object) -> None:
        """Report an event of `node` ("" for the network as a whole)."""
        details = {key: str(value) for key, value in fields.items()}
        event = Event(kind, node, message, self._clock.wall(), details)
        level = logging.WARNING if kind in WARNINGS else logging.INFO
        LOG.log(level, message, extra={"event": kind.value, "node": node, **event.fields})
        for queue in self._watchers:
            if queue.full():
                queue.get_nowait()
                self._lost[queue] = self._lost.get(queue, 0) + 1
            queue.put_nowait(event)

    @contextmanager
    def watch(self) -> Iterator[AsyncIterator[Event]]:
        """Subscribe: events emitted from the time the context is entered."""
        queue: asyncio.Queue[Event] = asyncio.Queue(QUEUE_SIZE)
        self._watchers[queue] = None
        try:
            yield self._drain(queue)
        finally:
            del self._watchers[queue]
            self._lost.pop(queue, None)

    async def _drain(self, queue: asyncio.Queue[Event]) -> AsyncIterator[Event]:
        while True:
            event = await queue.get()
            lost = self._lost.pop(queue, 0)
            if lost:
                text = f"{lost} events were lost: the reader is too slow"
                yield Event(Kind.LOST, "", text, self._clock.wall(), {})
            yield event
