"""What the switches report waits here until it is handled: per VRF and host, so that who sends more
than the controller can handle waits for himself."""

import asyncio
from collections.abc import Callable, Hashable

from fcn.controller.flows.fairqueue import FairQueue
from fcn.controller.flows.refusals import Reason, Refusals

LIMIT = 32768
"""Reports that wait at most, of all VRFs: REQ and REP of as many connections as fit a PE."""

SLICE = 0.001
"""Seconds of processor time for which reports are handled before the event loop reads what else has
arrived. Of time that passes a busy machine may take all but one report's, again and again."""

FEWEST, MOST = 2, 6
"""Rounds of the event loop after each slice: to receive a message, or to write, takes a few; more
than the fewest only while reports arrive. Without them who waits in a stream or for a write would
wait for the others' reports."""

SHARE = 3
"""These rounds take so many times a slice, at most: what is received must also be handled."""

BEHIND = 0.02
"""Seconds by which reports that are received are late, so that others must be waiting to be
received: then they are received first, for as long. Until then they wait in the order in which they
were sent, whoever caused them."""

BEHIND_SHARE = 4
"""Then the rounds take so many times a slice, at most."""


class Inbox:
    """Reports of all PEs. `clock` is monotonic, in seconds, `work` the processor time of this
    thread."""

    def __init__(
        self,
        refusals: Refusals,
        clock: Callable[[], float],
        work: Callable[[], float],
        limit: int = LIMIT,
    ) -> None:
        self._refusals = refusals
        self._clock = clock
        self._work = work
        self._queue: FairQueue[Callable[[], None]] = FairQueue(limit)
        self._filled = asyncio.Event()
        self._arrived = 0
        self._arrival = asyncio.Event()
        self._behind_until = 0.0
        self._heard_at = 0.0

    def __len__(self) -> int:
        """Reports that wait."""
        return len(self._queue)

    def heard(self, late: float) -> None:
        """Reports were received, so many seconds late."""
        self._arrival.set()
        self._heard_at = self._clock()
        if late > BEHIND:
            self._behind_until = self._heard_at + BEHIND

    def admits(self, node: str, vrf: str, host: Hashable) -> bool:
        """Whether a report about a packet of `host` may be put; one that may not is counted."""
        self._arrived += 1
        if self._queue.admits(vrf, host):
            return True
        self._refuse(node, vrf)
        return False

    def put(self, node: str, vrf: str, host: Hashable, handle: Callable[[], None]) -> None:
        """A report of `node` that is admitted, about a packet of `host`; `handle` is called when it
        is its turn, and must not raise."""
        dropped = self._queue.put(vrf, host, handle)
        self._filled.set()
        if dropped is not None:
            self._refuse(node, dropped)

    def _refuse(self, node: str, vrf: str) -> None:
        self._refusals.refuse(
            node,
            vrf,
            Reason.TOO_MANY_REPORTS,
            lambda: f"{vrf} causes more reports than are handled; some are dropped",
        )

    async def run(self) -> None:
        """Handle reports until cancelled."""
        while True:
            await self._filled.wait()
            end = self._work() + SLICE
            while self._queue and self._work() < end:
                self._queue.take()()
            if not self._queue:
                self._filled.clear()
            await self._let_others()

    async def _let_others(self) -> None:
        end = self._work() + SHARE * SLICE
        for number in range(MOST):
            arrived = self._arrived
            await asyncio.sleep(0)
            if number + 1 >= FEWEST and (self._arrived == arrived or self._work() >= end):
                break
        end = self._clock() + BEHIND_SHARE * SLICE
        if self._queue and self._clock() > self._heard_at + BEHIND:
            # gRPC receives in a thread of its own, which on a busy machine gets no processor while
            # this one takes it; and what is not received does not say that it is late.
            await self._arrives()
            self._heard_at = self._clock()
        while self._clock() < min(end, self._behind_until):
            if not await self._arrives():
                return

    async def _arrives(self) -> bool:
        """Wait for reports; whether some came within a slice."""
        self._arrival.clear()
        try:
            async with asyncio.timeout(SLICE):
                await self._arrival.wait()
        except TimeoutError:
            return False
        return True
