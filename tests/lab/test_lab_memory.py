"""Memory of frames in flight."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from lab_networks import GIGABIT, Rates, wan

from fcn.lab.core import Simulation

FRAMES = 40_000
MOST = 1.3
"""Of a frame's octets."""


def resident() -> int:
    """Octets of this process; its peak would be that of the process that started it, if larger."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def grown(payload: int) -> float:
    """How much memory is taken when so many frames are on a link, to their octets."""
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
        return (resident() - before) / (FRAMES * len(frame))


@pytest.mark.parametrize("payload", ["1024", "4096"])
def test_a_frame_in_flight_takes_little_more_than_its_octets(payload: str) -> None:
    """In a process of its own, which has no memory that others gave back."""
    run = subprocess.run(
        [sys.executable, __file__, payload], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parent, timeout=120,
    )  # fmt: skip
    assert 1 < float(run.stdout) < MOST


if __name__ == "__main__":
    sys.stdout.write(str(grown(int(sys.argv[1]))))
