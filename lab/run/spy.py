"""Stories of packets of one switch, in virtual time."""

from fcn.lab.core import End, Simulation
from fcn.lab.errors import LabError
from fcn.softswitch.api import EngineError
from fcn.softswitch.engine.tracing import Bounds
from fcn.softswitch.stories.filters import FilterError, read_filter
from fcn.softswitch.stories.story import Story
from fcn.softswitch.stories.teller import Teller

OCTETS = 256 << 20
"""For records: nobody takes them before the end."""


class Spy:
    """Tells of the next packets of a switch from a time on. port, match: as `read_filter` says."""

    def __init__(
        self, node: str, at_ns: int, port: int | None, match: list[str], count: int
    ) -> None:
        self.at_ns = at_ns
        self.stories: list[Story] = []
        self._node = node
        self._port = port
        self._match = match
        self._count = count
        self._simulation: Simulation | None = None

    def prepare(self, simulation: Simulation) -> None:
        """Before the switch has a program. Raises LabError."""
        switch = simulation.switches.get(self._node)
        if switch is None:
            names = ", ".join(simulation.switches)
            raise LabError(f"there is no switch {self._node}; the switches are: {names}")
        switch.can_tell = True

    def begin(self, simulation: Simulation) -> None:
        """Tell of packets from now on. Raises LabError."""
        engine = simulation.switches[self._node].engine
        try:
            wanted = read_filter(engine.program, self._port, self._match)
            engine.start_trace(wanted, Bounds(self._count, octets=OCTETS))
        except (EngineError, FilterError) as error:
            raise LabError(str(error)) from error
        self._simulation = simulation

    def is_done(self) -> bool:
        """Whether all stories are complete."""
        if self._simulation is None:
            return False
        state = self._simulation.switches[self._node].engine.trace_state()
        return state["stories"] == self._count and not state["live"]

    def end(self) -> None:
        """Take what was told."""
        if self._simulation is None:
            return
        engine = self._simulation.switches[self._node].engine
        teller = Teller(engine.program, self._node)
        self.stories = teller.tell(engine.trace_records())
        self.stories += teller.rest("the run ended before all of it had left the switch")
        engine.stop_trace()
        self._simulation = None


class FrameSpy(Spy):
    """Tells of one frame of a run, wherever it arrives. number: as `TappedFrame` has it."""

    def __init__(self, number: int) -> None:
        super().__init__("", 0, None, [], 1)
        self._number = number
        self._why = f"the run has no frame {number}: it ended before"

    def prepare(self, simulation: Simulation) -> None:
        """Before switches have programs."""
        for switch in simulation.switches.values():
            switch.can_tell = True
        simulation.meet(self._number, lambda end: self._meet(simulation, end))

    def begin(self, simulation: Simulation) -> None:
        """It begins with the frame."""

    def is_done(self) -> bool:
        """Whether the story is complete, or there will be none."""
        return super().is_done() or (self._simulation is None and not self._number)

    def end(self) -> None:
        """Take what was told. Raises LabError when nothing was."""
        super().end()
        if not self.stories:
            raise LabError(self._why)

    def _meet(self, simulation: Simulation, end: End) -> None:
        where, self._why = f"frame {self._number} arrives at {end.node.name}", ""
        self._number = 0
        switch = simulation.switches.get(end.node.name)
        if switch is None or not switch.is_on:
            self._why = f"{where}, which is no switch with a program: it has no story"
            return
        self._node, self._port = end.node.name, end.port
        try:
            super().begin(simulation)
        except LabError as error:
            self._why = f"{where}: {error}"
