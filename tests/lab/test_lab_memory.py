"""Memory of frames in flight."""

import resource
import subprocess
import sys
from pathlib import Path

from lab_networks import GIGABIT, Rates, wan

from fcn.lab.core import Simulation

FRAMES = 40_000
MOST = 400
"""Octets of a frame of zeros."""


def resident() -> int:
    """Octets of this process; its peak would be that of the process that started it, if larger."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def grown(payload: int) -> float:
    """How much memory a frame takes when so many are on a link."""
    long = Rates((100 * GIGABIT, 500), (100 * GIGABIT, 500), (100 * GIGABIT, 1_000_000_000))
    with Simulation() as simulation:
        network = wan(simulation, long, 4000, features="[]")
        frame = network.frame(payload)
        network.left.send_series([frame], per_second=2e6, count=FRAMES)
        simulation.run_until(100_000)
        before = resident()
        simulation.run_until(500_000_000)
        on_the_way = network.left.counters().sent - network.right.counters().received
        assert on_the_way == FRAMES
        return (resident() - before) / FRAMES


def test_frames_in_flight_take_no_memory_for_their_zeros() -> None:
    """In a process of its own, which has no memory that others gave back."""
    run = subprocess.run(
        [sys.executable, __file__, "4096"], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parent, timeout=120,
    )  # fmt: skip
    assert 200 < float(run.stdout) < MOST


if __name__ == "__main__":
    sys.stdout.write(str(grown(int(sys.argv[1]))))
