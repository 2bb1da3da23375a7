"""Messages of the connection manager that other regions are told: of a handshake between two, the
controller of each sees the half that its own PEs report (FCN-3)."""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from fcn.controller.flows.connections import CmMessage, ConnectionTracker
from fcn.controller.flows.reports import Reports

WAITING = 1 << 17
"""Messages that wait at most for a controller of another region."""


class CmReport(NamedTuple):
    """A message, with the PE that reports it and the port it came from."""

    node: str
    port: int
    message: CmMessage


class OutboxFullError(Exception):
    """More was to be told than is taken; who asks again is told what is known then."""


class Outbox:
    """What a controller of `region` is told."""

    def __init__(self, region: str) -> None:
        self.region = region
        self._reports: deque[CmReport] = deque()
        self._filled = asyncio.Event()

    def put(self, report: CmReport) -> None:
        if len(self._reports) < WAITING:
            self._reports.append(report)
        self._filled.set()

    async def filled(self) -> None:
        await self._filled.wait()

    def take(self, most: int) -> list[CmReport]:
        """So many of those that wait. Raises OutboxFullError."""
        if len(self._reports) >= WAITING:
            raise OutboxFullError(f"more than {WAITING} messages wait")
        found = [self._reports.popleft() for _ in range(min(most, len(self._reports)))]
        if not self._reports:
            self._filled.clear()
        return found


class Regions:
    """Tells other regions of what concerns hosts there, which are behind no PE of this one."""

    def __init__(self, reports: Reports, connections: ConnectionTracker) -> None:
        self._reports = reports
        self._connections = connections
        self._outboxes: list[Outbox] = []
        self.silent: dict[tuple[str, str], str] = {}
        """Why a controller of another region, by that and its name, is not heard; empty if it
        is."""

    def tell(self, report: CmReport) -> None:
        """A PE of this region has reported this."""
        vrf, destination = report.message.vrf, report.message.dst
        for outbox in self._outboxes:
            if outbox.region in self._reports.regions(vrf, destination):
                outbox.put(report)

    @contextmanager
    def told(self, region: str) -> Iterator[Outbox]:
        """What is reported meanwhile."""
        outbox = Outbox(region)
        self._outboxes.append(outbox)
        try:
            yield outbox
        finally:
            self._outboxes.remove(outbox)

    def known(self, region: str) -> Iterator[CmReport | None]:
        """What was reported of connections that are known, and may not have been told; None for
        what does not concern the region. Others may have their turn in between."""
        for message in self._connections.halves():
            nodes = self._reports.nodes(message.vrf, message.src)
            port = self._reports.port(nodes[0], message.vrf, message.src) if nodes else None
            concerned = region in self._reports.regions(message.vrf, message.dst)
            yield CmReport(nodes[0], port, message) if concerned and port is not None else None
