"""How deep queues were: the most, and the means over time, of all that happened, not of samples."""

from dataclasses import dataclass

from fcn.lab.core import Simulation, SwitchNode


@dataclass(frozen=True, slots=True)
class Depths:
    """Of the queues of a port, all together, since they are measured: the most in them, for however
    short a time, and the means over time."""

    most_packets: int
    most_octets: int
    mean_packets: float
    mean_octets: float


def measure_depth(simulation: Simulation, switch: SwitchNode, port: int) -> None:
    """Measure the queues of a port from now on. Raises LabError."""
    simulation.native.call("measure_depth", switch.number, port)


def depths(simulation: Simulation, switch: SwitchNode, port: int) -> Depths:
    """Of queues that are measured. Raises LabError when they are not."""
    return Depths(**simulation.native.read("lab_depth_stats", "depth_of", switch.number, port))
