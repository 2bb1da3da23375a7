"""Reports wait per tenant: a flood waits for itself, and what is dropped is counted."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from math import inf

import pytest
from switches import until

from fcn.controller.clock import SYSTEM_CLOCK
from fcn.controller.events import EventBus, Kind
from fcn.controller.flows.refusals import RefusalReason, Refusals
from fcn.controller.node.inbox import Inbox

LIMIT = 1000


class Clock:
    """Each look at it takes a while, so that a slice ends."""

    def __init__(self, step: float = 0.0005) -> None:
        self.now = 0.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@asynccontextmanager
async def running(inbox: Inbox) -> AsyncIterator[None]:
    job = asyncio.create_task(inbox.run())
    try:
        yield
    finally:
        job.cancel()


def unexpected() -> None:
    pytest.fail("no handler fails here")


def offer(inbox: Inbox, vrf: str, host: int, handle: Callable[[], None], node: str = "pe1") -> None:
    source = vrf, "port", host
    if inbox.admits(node, source):
        inbox.put(node, source, handle, unexpected)


async def test_a_tenant_does_not_wait_for_the_flood_of_another() -> None:
    handled: list[str] = []
    inbox = Inbox(Refusals(EventBus(SYSTEM_CLOCK), lambda: 0.0), Clock(), LIMIT)
    for _ in range(10 * LIMIT):
        offer(inbox, "red", 1, partial(handled.append, "red"))
    offer(inbox, "blue", 2, partial(handled.append, "blue"))
    async with running(inbox):
        await until(lambda: "blue" in handled)
        await until(lambda: not len(inbox))
    assert handled.index("blue") <= 1
    assert handled.count("red") == LIMIT - 1


async def test_the_event_loop_goes_on_while_reports_wait() -> None:
    """A report that causes the next for ever does not keep others from running."""
    inbox = Inbox(Refusals(EventBus(SYSTEM_CLOCK), lambda: 0.0), Clock(), LIMIT)
    stop = asyncio.Event()

    def again() -> None:
        if not stop.is_set():
            offer(inbox, "red", 1, again)

    again()
    async with running(inbox):
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(inbox)
        stop.set()
        await until(lambda: not len(inbox))


async def test_a_slice_is_as_long_where_others_have_the_processor_meanwhile() -> None:
    handled, at_its_end = Counter[str](), list[int]()
    inbox = Inbox(Refusals(EventBus(SYSTEM_CLOCK), lambda: 0.0), Clock(0.0001), LIMIT)

    def handle() -> None:
        handled["red"] += 1
        if handled["red"] == 1:
            asyncio.get_running_loop().call_soon(lambda: at_its_end.append(handled["red"]))

    for _ in range(LIMIT):
        offer(inbox, "red", 1, handle)
    async with running(inbox):
        await until(lambda: bool(at_its_end))
    assert at_its_end[0] >= 9


async def test_what_is_dropped_is_counted_by_tenant_and_said_once() -> None:
    bus = EventBus(SYSTEM_CLOCK)
    refusals = Refusals(bus, lambda: 0.0)
    inbox = Inbox(refusals, Clock(), LIMIT)
    with bus.watch() as events:
        for _ in range(LIMIT + 50):
            offer(inbox, "red", 1, lambda: None)
        for _ in range(20):
            offer(inbox, "blue", 2, lambda: None)
        bus.emit(Kind.NODE_UP, "pe1", "the last one")
        said = [await anext(events), await anext(events)]
    assert refusals.counts == {("red", RefusalReason.TOO_MANY_REPORTS): 70}
    assert [event.kind for event in said] == [Kind.REFUSED, Kind.NODE_UP]
    assert said[0].fields["vrf"] == "red"


async def test_what_is_dropped_was_of_the_pe_that_reported_it() -> None:
    now = 1000.0
    refusals = Refusals(EventBus(SYSTEM_CLOCK), lambda: now)
    inbox = Inbox(refusals, Clock(), LIMIT)
    for _ in range(LIMIT):
        offer(inbox, "red", 1, lambda: None)
    offer(inbox, "blue", 2, lambda: None, "pe2")
    assert refusals.complete_for("pe1", "red") == 0
    assert refusals.complete_for("pe2", "red") == refusals.complete_for("pe2", "blue") == inf
