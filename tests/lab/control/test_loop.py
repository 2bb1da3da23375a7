"""The event loop in virtual time."""

import asyncio
import os
import time
from collections.abc import Iterator

import pytest
from worlds import EmptyWorld

from fcn.lab.control.loop import NS, StalledError, run

HOUR = 3600


@pytest.fixture
def world() -> EmptyWorld:
    return EmptyWorld()


@pytest.fixture
def signals() -> Iterator[list[int]]:
    """File descriptors such as those by which engines tell of events."""
    made = [os.eventfd(0, os.EFD_NONBLOCK) for _ in range(3)]
    yield made
    for fd in made:
        os.close(fd)


def tell_all(*signals: int) -> None:
    """Tell of events by all of these."""
    for fd in signals:
        os.eventfd_write(fd, 1)


def test_waiting_takes_virtual_time_only(world: EmptyWorld) -> None:
    async def main() -> float:
        await asyncio.sleep(1000 * HOUR)
        return asyncio.get_running_loop().time()

    begun = time.monotonic()
    assert run(world, main()) == 1000 * HOUR
    assert world.now_ns == 1000 * HOUR * NS
    assert time.monotonic() - begun < HOUR


@pytest.mark.parametrize("start", [0, 7, 86_400 * NS + 1])
@pytest.mark.parametrize("delay", [1, 2, 999, 1_000_003, 123_456_789_011])
def test_times_are_exact_to_the_nanosecond(world: EmptyWorld, start: int, delay: int) -> None:
    world.now_ns = start

    async def main() -> None:
        await asyncio.sleep(delay / NS)

    run(world, main())
    assert world.now_ns == start + delay


def test_tasks_go_on_in_order_of_time(world: EmptyWorld) -> None:
    told: list[tuple[int, str]] = []

    async def tick(name: str, interval: float) -> None:
        for _ in range(3):
            await asyncio.sleep(interval)
            told.append((world.now_ns, name))

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(tick("slow", 5e-6))
            group.create_task(tick("fast", 2e-6))

    run(world, main())
    assert told == [
        (2000, "fast"),
        (4000, "fast"),
        (5000, "slow"),
        (6000, "fast"),
        (10000, "slow"),
        (15000, "slow"),
    ]


def test_timeouts_are_of_virtual_time(world: EmptyWorld) -> None:
    async def main() -> None:
        async with asyncio.timeout(90):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        run(world, main())
    assert world.now_ns == 90 * NS


def test_what_the_world_tells_is_served_when_it_happens(
    world: EmptyWorld, signals: list[int]
) -> None:
    """In the order of registration where several are told at once."""
    served: list[tuple[int, int]] = []
    world.alarms = [
        (500, lambda: os.eventfd_write(signals[1], 1)),
        (700, lambda: tell_all(signals[2], signals[1], signals[0])),
    ]

    def read(number: int) -> None:
        os.eventfd_read(signals[number])
        served.append((world.now_ns, number))

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for number in (1, 2, 0):
            loop.add_reader(signals[number], read, number)
        await asyncio.sleep(1e-6)
        for fd in signals:
            loop.remove_reader(fd)

    run(world, main())
    assert served == [(500, 1), (700, 1), (700, 2), (700, 0)]
    assert world.now_ns == 1000


def test_one_can_wait_for_the_world_without_a_timer(world: EmptyWorld, signals: list[int]) -> None:
    world.alarms = [(5 * NS, lambda: os.eventfd_write(signals[0], 1))]

    async def main() -> int:
        told = asyncio.Event()
        asyncio.get_running_loop().add_reader(signals[0], told.set)
        await told.wait()
        asyncio.get_running_loop().remove_reader(signals[0])
        return world.now_ns

    assert run(world, main()) == 5 * NS


def test_waiting_for_what_cannot_happen_is_an_error(world: EmptyWorld) -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(StalledError, match="nothing more happens"):
        run(world, main())


def test_work_for_a_thread_is_done_in_place(world: EmptyWorld) -> None:
    async def main() -> tuple[int, int]:
        await asyncio.sleep(1e-6)
        result = await asyncio.to_thread(lambda: os.getpid())
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 // 0)
        return result, world.now_ns

    assert run(world, main()) == (os.getpid(), 1000)


def test_it_runs_inside_a_running_loop_as_in_a_notebook(world: EmptyWorld) -> None:
    async def main() -> int:
        await asyncio.sleep(HOUR)
        return 7

    async def cell() -> int:
        return run(world, main())

    assert asyncio.run(cell()) == 7
    assert world.now_ns == HOUR * NS
