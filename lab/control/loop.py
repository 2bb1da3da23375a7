"""An asyncio event loop in virtual time: where it would wait, it lets the simulated network go on.

Computation takes no virtual time. What asyncio would leave to a thread runs in place, so that how
long it takes changes nothing. File descriptors are served as usual, between two steps of the
network: engines signal their events by one.

async-solipsism and looptime, which are made for tests, jump to the next timer; here the network has
to go on until then, and can give the loop something to do earlier.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

NS = 1_000_000_000
"""Nanoseconds per second."""


class World(Protocol):
    """What goes on while the loop waits. Times are in ns since it began."""

    @property
    def now_ns(self) -> int:
        """The time reached."""

    def run_until(self, time_ns: int, /) -> int:
        """Go on until this time; returns the time reached, which is earlier when the loop has
        something to do: a file descriptor tells it of what. Whoever looks at a part of the world
        afterwards sees it at the time reached."""

    def next_due_ns(self) -> int | None:
        """When something happens next; None when nothing will."""


class StalledError(Exception):
    """Every task waits, and nothing more happens in the world: the program waits for ever."""


class _Selector(selectors.DefaultSelector):
    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is not None and timeout > 0:
            self._world.run_until(self._world.now_ns + round(timeout * NS))
            ready = super().select(0)
        while not ready and timeout is None:
            due = self._world.next_due_ns()
            if due is None:
                raise StalledError("every task waits, and nothing more happens in the simulation")
            self._world.run_until(due)
            ready = super().select(0)
        return self._in_order(ready)

    def _in_order(
        self, ready: list[tuple[selectors.SelectorKey, int]]
    ) -> list[tuple[selectors.SelectorKey, int]]:
        """By registration: the kernel promises no order."""
        if len(ready) < 2:
            return ready
        place = {fd: number for number, fd in enumerate(self.get_map())}
        return sorted(ready, key=lambda each: place[each[0].fd])


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is that of `world`, in seconds."""

    def __init__(self, world: World) -> None:
        self._world = world
        super().__init__(_Selector(world))
        # Timers due within the same nanosecond are due together.
        self._clock_resolution = 1 / NS

    def time(self) -> float:
        """Seconds of virtual time."""
        return self._world.now_ns / NS

    def run_in_executor(
        self,
        executor: Executor | None,
        func: Callable[[*Ts], T],
        *args: *Ts,
    ) -> asyncio.Future[T]:
        """Run it now, in this thread; whoever waits for it goes on at the same virtual time."""
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done


def run(world: World, main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the virtual time of a world, as asyncio.run does in real time.

    Called where a loop runs already, as in a notebook, it does so in another thread, and waits.
    Raises what it raises; StalledError when it waits for what cannot happen.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(world, main)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_run, world, main).result()


def _run(world: World, main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(world)) as runner:
        return runner.run(main)
