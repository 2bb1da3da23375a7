"""The softswitch's engine as a node of a simulation."""

from collections.abc import Callable

from fcn.softswitch.api import EngineEvents
from fcn.softswitch.engine.build import CData
from fcn.softswitch.engine.control import EngineBase
from fcn.softswitch.engine.program import Program

CPU_PORT = 510


class LabEngine(EngineBase):
    """Runs a program under a simulation's clock.

    Events for the control plane end the simulation's run and wait: on an event loop for its next
    turn, otherwise for dispatch_events().
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program, cpu_port=CPU_PORT, drop_port=CPU_PORT + 1, queues=8, memory=True)
        self._tell: Callable[[], None] | None = None

    def when_listened_to(self, tell: Callable[[], None]) -> None:
        """Call this when somebody takes the events, now if somebody does."""
        self._tell = tell
        if self._events is not None:
            tell()

    def set_events(self, events: EngineEvents) -> None:
        """As the base class says."""
        super().set_events(events)
        if self._tell is not None:
            self._tell()

    def pointers(self) -> tuple[CData, CData]:
        """The native interface for simulations, and the engine."""
        return self._lib.sw_ctl_sim_api(), self._handle

    def _deliver_now(self) -> None:
        """Events of a packet-out wait like all others."""
