"""Random early detection (RED) at switches' ports, as DCQCN's authors use it: on the queue's depth
of the moment (SIGCOMM 2015, section 3.1)."""

from dataclasses import dataclass

from fcn.lab.errors import LabError
from fcn.lab.native_handle import NativeLab

MOST_OCTETS = (1 << 32) - 1
_SCALE = 1 << 32


@dataclass(frozen=True, slots=True)
class Red:
    """How a port marks: no packet that leaves up to `kmin` octets in the port's queues behind it,
    all that leave more than `kmax`, and between with a probability that grows from 0 to `pmax`.
    Frames count with all their octets. What is not ECN-capable is never marked. Which packets are
    chosen follows from the simulation's seed; every port draws by itself."""

    kmin: int
    kmax: int
    pmax: float

    def probability(self, octets: int) -> float:
        """That a packet is marked that leaves so many octets behind it."""
        if octets <= self.kmin:
            return 0.0
        if octets > self.kmax:
            return 1.0
        draws = round(self.pmax * _SCALE) * (octets - self.kmin) // (self.kmax - self.kmin)
        return draws / _SCALE


def set_red(native: NativeLab, node: int, port: int, red: Red) -> None:
    """Let a switch's port mark so from now on. Raises LabError."""
    if not 0 <= red.kmin <= red.kmax <= MOST_OCTETS:
        raise LabError(f"RED from {red.kmin} to {red.kmax} octets: give 0 <= kmin <= kmax < 2^32")
    if not 0 <= red.pmax <= 1:
        raise LabError(f"RED with a probability of {red.pmax}: give 0 to 1")
    native.call("set_red", node, port, red.kmin, red.kmax, round(red.pmax * _SCALE))
