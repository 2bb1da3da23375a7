"""The control channel between the controller and one switch: its delay, and whether it is there."""

import asyncio
from collections import deque
from collections.abc import Callable

from fcn.lab.control.loop import NS

Deliver = Callable[[], None]


class Direction:
    """One direction: what is sent arrives after `delay_ns`, in order, however much it is.

    While it is cut nothing arrives; what waits is sent again afterwards, as TCP does.
    """

    def __init__(self, delay_ns: int) -> None:
        if delay_ns < 0:
            raise ValueError(f"a delay of {delay_ns} ns is impossible")
        self.delay_ns = delay_ns
        self._flight: deque[tuple[float, Deliver]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._is_cut = False

    def send(self, deliver: Deliver) -> None:
        """Call `deliver` when the message arrives."""
        self._flight.append((self._arrival(), deliver))
        self._schedule()

    def cut(self) -> None:
        """Let nothing arrive any more."""
        self._is_cut = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def restore(self) -> None:
        """Let messages arrive again; those that wait are sent now."""
        self._is_cut = False
        arrival = self._arrival()
        self._flight = deque((arrival, deliver) for _, deliver in self._flight)
        self._schedule()

    def _arrival(self) -> float:
        return asyncio.get_running_loop().time() + self.delay_ns / NS

    def _schedule(self) -> None:
        if self._flight and self._timer is None and not self._is_cut:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(self._flight[0][0], self._deliver)

    def _deliver(self) -> None:
        self._timer = None
        # One timer for all: asyncio keeps no order of those that are due at the same time.
        now = self._flight[0][0]
        while self._flight and self._flight[0][0] <= now and not self._is_cut:
            self._flight.popleft()[1]()
        self._schedule()


class ControlLink:
    """Both directions of a control channel. `delay_ns`: of each, one way."""

    def __init__(self, delay_ns: int) -> None:
        self.to_switch = Direction(delay_ns)
        self.to_controller = Direction(delay_ns)
        self.is_cut = False

    def cut(self) -> None:
        """Separate controller and switch; neither is told."""
        self.is_cut = True
        self.to_switch.cut()
        self.to_controller.cut()

    def restore(self) -> None:
        """Connect them again."""
        self.is_cut = False
        self.to_switch.restore()
        self.to_controller.restore()
