"""Writes the intent to the switch: on every connection the switch is read and compared with the
intent, and the difference is written in batches. The intent can change while disconnected."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator

import finsy as fy
from finsy.p4client import P4ClientError
from finsy.p4entity import P4Entity

from fcn.contract.pipeline import Pipeline
from fcn.controller.events import EventBus, Kind
from fcn.controller.finsy_adapter import write_encoded
from fcn.controller.node.connection import Connection, State
from fcn.controller.owners.intent import Intent, Key, Refusal, Update, entity_key, entity_value
from fcn.controller.pace import Pace
from fcn.controller.timings import Timings

FEWEST, MOST = 16, 512
"""Updates per write request."""

ENOUGH = 3 * MOST
"""Updates that are waited for to be due while there are more to come."""

WRITE_TIME = 0.01
"""Seconds a write request should take at the switch: what changes meanwhile waits for it."""

CLEARLY_FASTER = 1.5

WRITE_SPACING = 0.004
"""Seconds from one write request to the next where less is due than a request takes: a request
costs as much as ten updates. What changes after a silence is written at once."""

REFUSED_RETRY = 30.0
"""Seconds until updates the switch refused are tried again, as when its table was full."""

_Failures = dict[int, tuple[fy.GRPCStatusCode, str]]

_NOTHING: Iterator[object] = iter(())


class Synchronizer:
    """Keeps one switch equal to its intent. `refused` counts updates it did not accept,
    `refusal` is the last of them with its reason; `latency`: of write requests."""

    def __init__(
        self, intent: Intent, pipeline: Pipeline, connection: Connection, bus: EventBus
    ) -> None:
        self.refused = 0
        self.refusal = ""
        self.latency = Timings()
        self._batch = FEWEST
        self._rates: dict[int, float] = {}
        """Updates a second in the last request of a size."""
        self._next_write = self._answered = 0.0
        self._way = math.inf
        self._intent = intent
        self._pipeline = pipeline
        self._connection = connection
        self._bus = bus
        self._waiters: list[asyncio.Future[bool]] = []

    async def observe(self, held: Iterable[P4Entity]) -> None:
        """Compare the intent with the entities the switch holds, but for flows."""
        found: dict[Key, bytes] = {}
        pace = Pace()
        for each in held:
            entity = each.encode(self._pipeline.schema)
            found[entity_key(entity)] = entity_value(entity)
            await pace.step()
        self._intent.observe(found)

    async def synchronize(self, entries: Callable[[], int], missing: Iterator[object]) -> None:
        """Write the difference between what was found on the switch and the intent, which has so
        many entries then; `missing` adds to the intent, some entries a step: while the switch is
        at those before. Raises P4ClientError."""
        name = self._connection.name
        self._way = math.inf
        written, held = await self._write_pending(missing, 2), entries()
        self._bus.emit(
            Kind.SYNCHRONIZED,
            name,
            f"{name} holds {held} entries, {written} of them were written now",
            entries=held,
            written=written,
        )

    async def keep_written(self) -> None:
        """Write every change of the intent, until cancelled. Raises P4ClientError."""
        clock = asyncio.get_running_loop().time
        retry_at = clock() + REFUSED_RETRY
        while True:
            self._intent.changed.clear()
            if clock() >= retry_at:
                self._intent.retry_refused()
                retry_at = clock() + REFUSED_RETRY
            await self._write_pending()
            if not self._intent.pending:
                self._resolve(True)
                try:
                    async with asyncio.timeout_at(retry_at):
                        await self._intent.changed.wait()
                except TimeoutError:
                    # A timer may fire within the clock's resolution before its time.
                    retry_at = clock()

    async def settled(self) -> bool:
        """Wait until the switch holds the intent; False, without waiting, when it is not up."""
        if not self._connection.is_up:
            return False
        if not self._intent.pending:
            return True
        return await self._told()

    async def synchronized(self) -> bool:
        """The same, but wait also while the switch is read."""
        if self._connection.status.state is State.SYNCHRONIZING:
            return await self._told()
        return await self.settled()

    async def _told(self) -> bool:
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        return await waiter

    def give_up(self) -> None:
        """The connection is lost, or another controller is primary: release everything that waits
        in `settled`."""
        self._resolve(False)

    def _resolve(self, written: bool) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(written)

    async def _write_pending(self, missing: Iterator[object] = _NOTHING, requests: int = 1) -> int:
        """Write what is due, and what is `missing`, with so many requests on their way: a switch
        may apply them in another order, but none of a tenant's entries refers to another."""
        clock, pace = asyncio.get_running_loop().time, Pace()
        written = 0
        sent = deque[tuple[list[Update], asyncio.Task[_Failures]]]()
        try:
            while True:
                while self._intent.pending < ENOUGH and next(missing, _NOTHING) is not _NOTHING:
                    await pace.step()
                pending = self._intent.pending - sum(len(updates) for updates, _ in sent)
                early = self._next_write - clock()
                if not sent and early > 0 and 0 < pending < self._batch and self._connection.is_up:
                    await asyncio.sleep(early)
                # While the switch is at a request, the next is made where there are many to come.
                updates = []
                if not sent or pending >= MOST:
                    updates = self._intent.take_updates(self._batch, beside=bool(sent))
                if not updates and not sent:
                    break
                most = 1 if self._intent.common_waits else requests
                while sent and (len(sent) >= most or not updates):
                    answered, answer = sent[0]
                    written += len(answered)
                    self._settle(answered, await answer)
                    sent.popleft()
                if updates:
                    sent.append((updates, asyncio.create_task(self._write(updates))))
                    # So that it leaves.
                    await asyncio.sleep(0)
                if self._connection.status.state is State.SYNCHRONIZING:
                    pending = self._intent.pending
                    self._connection.tell(f"{written} entries written, {pending} pending")
        finally:
            for _, answer in sent:
                answer.cancel()
            await asyncio.gather(*(answer for _, answer in sent), return_exceptions=True)
        return written

    def _adapt(self, updates: int, seconds: float) -> None:
        """As many updates in the next request as a switch applies in WRITE_TIME, unless larger ones
        are as fast: where everything waits, as on a busy machine, small requests are no sooner
        done. The shortest request of a session took as long as the way there and back."""
        self._way = min(self._way, seconds)
        if updates < self._batch:
            return
        rate = self._rates[updates] = updates / seconds if seconds else math.inf
        larger, smaller = min(MOST, 2 * updates), max(FEWEST, updates // 2)
        unknown = math.inf if updates == FEWEST else 0.0
        if (
            seconds - self._way <= WRITE_TIME
            or self._rates.get(larger, unknown) > CLEARLY_FASTER * rate
        ):
            self._batch = larger
        else:
            self._batch = smaller

    async def _write(self, updates: list[Update]) -> _Failures:
        """Why updates were refused, by index. Raises P4ClientError."""
        clock = asyncio.get_running_loop().time
        began, failures = clock(), _Failures()
        self._next_write = began + WRITE_SPACING
        try:
            await write_encoded(self._connection.switch, [each.encode() for each in updates])
        except P4ClientError as error:
            failures = {
                index: (detail.canonical_code, detail.message)
                for index, detail in error.details.items()
            }
            if not failures:
                raise
        self.latency.observe(clock() - began)
        # The switch is at one after the other.
        self._adapt(len(updates), clock() - max(began, self._answered))
        self._answered = clock()
        return failures

    def _settle(self, updates: list[Update], failures: _Failures) -> None:
        for refusal in self._intent.settle(updates, failures):
            self._report(refusal)

    def _report(self, refusal: Refusal) -> None:
        self.refused += 1
        name = self._connection.name
        table = refusal.update.entity.table_entry.table_id
        where = self._pipeline.schema.tables[table].alias if table else "entity"
        said = refusal.message.partition("\n")[0]
        self.refusal = f"{refusal.update.kind} in {where}: {said} ({refusal.code.name})"
        self._bus.emit(
            Kind.NODE_ERROR,
            name,
            f"{name} refuses {self.refusal}",
            table=where,
            code=refusal.code.name,
        )
