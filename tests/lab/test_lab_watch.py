"""Values that the core looks at while it runs: the changes that looks from outside find, too."""

import numpy as np
import pytest
from lab_networks import GIGABIT, Rates, wan

from fcn.lab.core import Simulation
from fcn.lab.look import Look, Probe, Watch

END = 100_000
EVERY = 700
NEVER = 1 << 63


def changes(*, by_core: bool, room: int = 1000, before: int = NEVER) -> list[list[int]]:
    """Time, place and value of each change of what links took, for a while."""
    found: list[list[int]] = []
    with Simulation(5) as simulation:
        network = wan(simulation, Rates(core2=(8 * GIGABIT, 1000)), buffer=20)
        frames = [network.frame(size) for size in (64, 1024)]
        network.left.send_series(frames, per_second=300_000, count=20, poisson=True)
        directions = range(2 * len(simulation.links))
        probes = [Probe(Look.PUT, direction) for direction in directions]
        begun = simulation.now_ns
        times = range(begun, begun + END, EVERY)
        watch = Watch(simulation.native, probes, np.zeros(len(probes), np.uint64), room)
        if by_core:
            watch.times = times
            while simulation.now_ns < begun + END:
                watch.run(begun + END, min(begun + before, NEVER))
                if watch.is_full:
                    found += watch.take().tolist()
        else:
            for time in times:
                if time < begun + before:
                    simulation.run_until(time)
                    watch.look()
        found += watch.take().tolist()
        return [[time - begun, place, value] for time, place, value in found]


def test_the_core_finds_what_looks_from_outside_find() -> None:
    expected = changes(by_core=False)
    assert 20 < len(expected) < END // EVERY * 2
    assert changes(by_core=True) == expected


@pytest.mark.parametrize("room", [0, 3])
def test_nothing_is_lost_where_there_is_little_room(room: int) -> None:
    assert changes(by_core=True, room=room) == changes(by_core=False)


def test_looks_wait_for_what_happens_at_their_time() -> None:
    at = EVERY * 50
    found = changes(by_core=True, before=at)
    assert found == changes(by_core=False, before=at)
    assert found
    assert max(time for time, _, _ in found) < at
