"""Events of the network, for the log and for subscribers (`fcn events`)."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from fcn.controller.clock import Clock
from fcn.controller.throttle import Throttle

LOG = logging.getLogger("fcn.event")

QUEUE_SIZE = 10_000

LIMIT = 100
"""Events of one kind and VRF in LIMIT_INTERVAL: tenants cause them, and logs have an end."""

LIMIT_INTERVAL = 60.0
"""Seconds."""


class Kind(StrEnum):
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
    CONFIGURED = "configured"
    NEIGHBOR = "neighbor"
    NOTIFICATIONS = "notifications"
    HELD_LOST = "held-packets-lost"
    PATH_FAILED = "path-failed"
    PATH_WELL = "path-well"
    PATH_CONGESTED = "path-congested"
    PATH_RELIEVED = "path-relieved"
    PATH_EXPOSED = "path-exposed"
    FLOWS_MOVED = "flows-moved"
    FLOWS_AT_REST = "flows-at-rest"
    LINK_DOWN = "link-down"
    LINK_UP = "link-up"
    CLOCK = "clock"
    AGENT_REFUSED = "agent-refused"
    SUPPRESSED = "events-suppressed"
    LOST = "events-lost"


WARNINGS = frozenset({
    Kind.NODE_DOWN, Kind.NODE_BACKUP, Kind.NODE_ERROR, Kind.REFUSED, Kind.HELD_LOST,
    Kind.PATH_FAILED, Kind.PATH_CONGESTED, Kind.PATH_EXPOSED, Kind.LINK_DOWN, Kind.CLOCK,
    Kind.CONTRADICTED, Kind.AGENT_REFUSED, Kind.SUPPRESSED,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `time` is in seconds since the epoch; `fields` are machine-readable details."""

    kind: Kind
    node: str
    message: str
    time: float
    fields: Mapping[str, str]


class EventBus:
    """Logs events and passes them to the subscribers, at most LIMIT of a kind and VRF a minute; how
    many more there were is an event of its own. `clock` returns seconds and never goes back.

    A subscriber has a bounded queue: when it is full the oldest event is discarded, and the
    subscriber receives an event with the number of discarded ones.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._watchers: dict[asyncio.Queue[Event], None] = {}
        self._lost: dict[asyncio.Queue[Event], int] = {}
        self._throttle: Throttle[tuple[Kind, str]] = Throttle(
            clock.monotonic, LIMIT, LIMIT_INTERVAL
        )

    def emit(
        self, kind: Kind, node: str, message: str | Callable[[], str], **fields: object
    ) -> None:
        """Report an event of `node` ("" for the network as a whole). A callable returns the
        message; it is called only if the event is told. The field `vrf` names the tenant."""
        if self.admits(kind, str(fields.get("vrf", ""))):
            text = message if isinstance(message, str) else message()
            self.tell(kind, node, text, **fields)

    def admits(self, kind: Kind, vrf: str) -> bool:
        """Whether one more event may be told now, which the caller then does: what comes by the
        thousand need not be put into words."""
        unsaid = self._throttle.admit((kind, vrf))
        if unsaid:
            self._suppressed(kind, vrf, unsaid)
        return unsaid is not None

    def tell(self, kind: Kind, node: str, message: str, **fields: object) -> None:
        """Report an event that `admits` let through."""
        self._tell(kind, node, message, {key: str(value) for key, value in fields.items()})

    def tell_suppressed(self) -> None:
        """Say how many events were suppressed where no other of their kind says it. To be called
        now and then."""
        for (kind, vrf), unsaid in self._throttle.overdue():
            self._suppressed(kind, vrf, unsaid)

    def _suppressed(self, kind: Kind, vrf: str, count: int) -> None:
        where = f" of VRF {vrf}" if vrf else ""
        fields = {"suppressed": kind.value, "vrf": vrf, "count": str(count)}
        self._tell(Kind.SUPPRESSED, "", f"{count} more {kind} events{where} were not told", fields)

    def _tell(self, kind: Kind, node: str, message: str, fields: Mapping[str, str]) -> None:
        event = Event(kind, node, message, self._clock.wall(), fields)
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
