"""Events of the network, for the log and for subscribers (`fcn events`)."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

LOG = logging.getLogger("fcn.event")

QUEUE_SIZE = 10_000

LOGGED = 100
"""Events of a kind that are logged per LOG_PERIOD; tenants cause them, and a log takes room."""

LOG_PERIOD = 10.0
"""Seconds."""


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
    fields: dict[str, str] = field(default_factory=dict)
    time: float = field(default_factory=time.time)


@dataclass(slots=True)
class _Logged:
    """Events of a kind since `until` minus LOG_PERIOD that were logged, and those that were not."""

    until: float = 0.0
    count: int = 0
    omitted: int = 0


class EventBus:
    """Logs events, of each kind a limited number, and passes all to the subscribers.

    `clock` returns seconds and never goes back. A subscriber has a bounded queue: when it is full
    the oldest event is discarded, and the subscriber receives an event with the number of discarded
    ones.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logged: dict[Kind, _Logged] = {}
        self._watchers: set[asyncio.Queue[Event]] = set()
        self._lost: dict[asyncio.Queue[Event], int] = {}

    def emit(
        self, kind: Kind, node: str, message: str | Callable[[], str], **fields: object
    ) -> None:
        """Report an event of `node` ("" for the network as a whole).

        message: a function that makes it is called only where somebody gets it.
        """
        if self._omits(kind):
            self._logged[kind].omitted += 1
            return
        text = message if isinstance(message, str) else message()
        event = Event(kind, node, text, {key: str(value) for key, value in fields.items()})
        self._log(event)
        for queue in self._watchers:
            if queue.full():
                queue.get_nowait()
                self._lost[queue] = self._lost.get(queue, 0) + 1
            queue.put_nowait(event)

    def _omits(self, kind: Kind) -> bool:
        """Whether an event of this kind now would neither be logged nor be read by anybody."""
        logged = self._logged.get(kind)
        if self._watchers or logged is None or logged.count < LOGGED:
            return False
        return self._clock() < logged.until

    def _log(self, event: Event) -> None:
        kind, now = event.kind, self._clock()
        logged = self._logged.setdefault(kind, _Logged(now + LOG_PERIOD))
        level = logging.WARNING if kind in WARNINGS else logging.INFO
        if now >= logged.until:
            if logged.omitted:
                text = f"{logged.omitted} events of this kind before were not logged: too many"
                LOG.log(level, text, extra={"event": kind.value, "node": ""})
            self._logged[kind] = logged = _Logged(now + LOG_PERIOD)
        if logged.count == LOGGED:
            logged.omitted += 1
            return
        logged.count += 1
        extra = {"event": kind.value, "node": event.node, **event.fields}
        LOG.log(level, event.message, extra=extra)

    @contextmanager
    def watch(self) -> Iterator[AsyncIterator[Event]]:
        """Subscribe: events emitted from the time the context is entered."""
        queue: asyncio.Queue[Event] = asyncio.Queue(QUEUE_SIZE)
        self._watchers.add(queue)
        try:
            yield self._drain(queue)
        finally:
            self._watchers.discard(queue)
            self._lost.pop(queue, None)

    async def _drain(self, queue: asyncio.Queue[Event]) -> AsyncIterator[Event]:
        while True:
            event = await queue.get()
            lost = self._lost.pop(queue, 0)
            if lost:
                yield Event(Kind.LOST, "", f"{lost} events were lost: the reader is too slow")
            yield event
