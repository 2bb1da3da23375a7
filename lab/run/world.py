"""The simulation as the world of an event loop, in which something is looked at again and again.

A task that wakes for each look would cost more than the look; between two steps of the loop the
world itself stops at the times of looks.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from fcn.lab.core import Simulation


class Closely(Protocol):
    """What is looked at so often that the core does it while it runs."""

    def run(self, until: int, before: int | None) -> int:
        """Go on until then, or until the loop has something to do; the time reached. Looks due at
        `before` or later wait."""

    def catch_up(self, before: int | None) -> None:
        """Look now, where that was due by now and before `before`."""


Looks = Iterator[tuple[int, Callable[[bool], None]]]
"""When, and what is called then; it is told whether tasks have run since the last look."""


class WatchedWorld:
    """As `fcn.lab.control.loop.World` says."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._looks: Looks = iter(())
        self._closely: Closely | None = None
        self._begun = 0
        self._next: tuple[int, Callable[[bool], None]] | None = None
        self._wait_for: int | None = None
        self._tasks_ran = True

    @property
    def now_ns(self) -> int:
        return self._simulation.now_ns

    def next_due_ns(self) -> int | None:
        """When something happens next; None when nothing will."""
        return self._simulation.next_due_ns()

    @contextmanager
    def watching(self, looks: Looks, closely: Closely, begun_ns: int) -> Iterator[None]:
        """Look at the times of these, which are since `begun_ns`, until the context ends."""
        self._looks, self._closely, self._begun = looks, closely, begun_ns
        self._proceed()
        try:
            yield
        finally:
            self._next = self._closely = None

    def wait_for(self, time_ns: int | None) -> None:
        """What is due at that time or later waits until this is called again (None: nothing does):
        a task does something then that is to be seen. What waited and is due by now is done."""
        self._wait_for = time_ns
        self.catch_up()

    def catch_up(self) -> None:
        """Do what is due by now."""
        self._tasks_ran = True
        while self._due_until(self.now_ns) is not None:
            self._look()
        if self._closely is not None:
            self._closely.catch_up(self._wait_for)

    def run_until(self, time_ns: int) -> int:
        """Go on until then, or until the loop has something to do."""
        simulation = self._simulation
        self._tasks_ran = True
        while (due := self._due_until(time_ns)) is not None:
            reached = self._run(due)
            if reached < due or simulation.native.call("stopped"):
                return reached
            self._look()
        return self._run(time_ns)

    def _run(self, time_ns: int) -> int:
        if self._closely is None:
            return self._simulation.native.call("run", time_ns)
        return self._closely.run(time_ns, self._wait_for)

    def _due_until(self, time_ns: int) -> int | None:
        """When the next look is due, if that is by then and nothing is waited for."""
        if self._next is None:
            return None
        due = self._begun + self._next[0]
        if due > time_ns or (self._wait_for is not None and due >= self._wait_for):
            return None
        return due

    def _look(self) -> None:
        if self._next is not None:
            self._next[1](self._tasks_ran)
            self._tasks_ran = False
            self._proceed()

    def _proceed(self) -> None:
        self._next = next(self._looks, None)
