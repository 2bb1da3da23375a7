"""Events of the network, for the log and for subscribers (`fcn events`)."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from fcn.controller.throttle import Throttle

LOG = logging.getLogger("fcn.event")

QUEUE_SIZE = 10_000

LIMIT = 200
"""Events of one kind and VRF in LIMIT_INTERVAL: tenants cause them, and logs have an end."""

LIMIT_INTERVAL = 60.0
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
    CONTRADICTED = "registration-contradicted"
    CM_MESSAGE = "cm-message"
    FEATURES = "features"
    THRESHOLDS = "thresholds"
    NEIGHBOR = "neighbor"
    NOTIFICATIONS = "notifications"
    AGENT_REFUSED = "agent-refused"
    SUPPRESSED = "events-suppressed"
    LOST = "events-lost"


WARNINGS = frozenset(
    {
        Kind.NODE_DOWN,
        Kind.NODE_BACKUP,
        Kind.NODE_ERROR,
        Kind.REFUSED,
        Kind.CONTRADICTED,
        Kind.AGENT_REFUSED,
        Kind.SUPPRESSED,
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


class EventBus:
    """Logs events and passes them to the subscribers, at most LIMIT of a kind and VRF a minute; how
    many more there were is an event of its own. `clock` returns seconds and never goes back.

    A subscriber has a bounded queue: when it is full the oldest event is discarded, and the
    subscriber receives an event with the number of discarded ones.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._watchers: set[asyncio.Queue[Event]] = set()
        self._lost: dict[asyncio.Queue[Event], int] = {}
        self._throttle: Throttle[tuple[Kind, str]] = Throttle(clock, LIMIT, LIMIT_INTERVAL)

    def emit(
        self, kind: Kind, node: str, message: str | Callable[[], str], **fields: object
    ) -> None:
        """Report an event of `node` ("" for the network as a whole). A callable returns the
        message; it is called only if the event is told. The field `vrf` names the tenant."""
        vrf = str(fields.get("vrf", ""))
        unsaid = self._throttle.admit((kind, vrf))
        if unsaid is None:
            return
        if unsaid:
            self._suppressed(kind, vrf, unsaid)
        text = message if isinstance(message, str) else message()
        self._tell(Event(kind, node, text, {key: str(value) for key, value in fields.items()}))

    def tell_suppressed(self) -> None:
        """Say how many events were suppressed where no other of their kind says it. To be called
        now and then."""
        for (kind, vrf), unsaid in self._throttle.overdue():
            self._suppressed(kind, vrf, unsaid)

    def _suppressed(self, kind: Kind, vrf: str, count: int) -> None:
        where = f" of VRF {vrf}" if vrf else ""
        fields = {"suppressed": kind.value, "vrf": vrf, "count": str(count)}
        self._tell(
            Event(Kind.SUPPRESSED, "", f"{count} more {kind} events{where} were not told", fields)
        )

    def _tell(self, event: Event) -> None:
        level = logging.WARNING if event.kind in WARNINGS else logging.INFO
        extra = {"event": event.kind.value, "node": event.node, **event.fields}
        LOG.log(level, event.message, extra=extra)
        for queue in self._watchers:
            if queue.full():
                queue.get_nowait()
                self._lost[queue] = self._lost.get(queue, 0) + 1
            queue.put_nowait(event)

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
