"""The data plane's state of paths against a model, over random reports and times (FAN-4, FAN-5)."""

import asyncio
import random
from dataclasses import dataclass

import pytest
from ladder_network import HOLD_DOWN_US, Ladder, run_ladder

from fcn.contract.paths import PATH_REPORTS

STEPS = 400
BAD = ("FAILED", "CONGESTED")


@dataclass
class Model:
    """What p4src/fantel/v1model/path_state.p4 keeps, as sets of slots. Times in microseconds."""

    paths: frozenset[int]
    failed: frozenset[int] = frozenset()
    congested: frozenset[int] = frozenset()
    avoided: frozenset[int] = frozenset()
    recovered: int = 0

    @property
    def wanted(self) -> frozenset[int]:
        """What is to be avoided; nothing new where all have failed."""
        for sets in (self.failed | self.congested, self.failed):
            if sets != self.paths:
                return sets
        return self.avoided

    def say(self, report: str, slot: int, now: int) -> None:
        """Take in a report."""
        waits = self.wanted != self.avoided
        before, had_failed = (self.failed, self.congested), self.failed == self.paths
        change = {slot}
        if report == "FAILED":
            self.failed |= change
        elif report == "WELL":
            self.failed -= change
        elif report == "CONGESTED":
            self.congested |= change
        else:
            self.congested -= change
        if (self.failed, self.congested) == before:
            return
        wanted = self.wanted
        after = self.avoided | wanted
        if after == self.paths:
            after = self.avoided | self.failed
        self.avoided = wanted if after == self.paths or had_failed else after
        if report not in BAD and not waits:
            self.recovered = now

    def packet(self, now: int) -> None:
        """Time passes for what waits for the hold-down."""
        if now - self.recovered >= HOLD_DOWN_US:
            self.avoided = self.wanted


def bits(value: int) -> frozenset[int]:
    """The slots of a set as the register has it."""
    return frozenset(slot for slot in range(8) if value >> slot & 1)


@pytest.mark.parametrize(
    ("paths", "backups", "seed"),
    [
        (1, 0, 1),
        pytest.param(2, 0, 2, marks=pytest.mark.exhaustive),
        pytest.param(2, 1, 3, marks=pytest.mark.exhaustive),
        (2, 2, 4),
    ],
)
def test_state_is_that_of_the_model(paths: int, backups: int, seed: int) -> None:
    rng = random.Random(seed)
    model = Model(frozenset(range(paths + backups)))

    async def main(ladder: Ladder) -> None:
        engine = ladder.world.engines["pe1"]
        cell = ladder.plane.nodes["pe1"].paths.plans[0].cell
        for step in range(STEPS):
            report, slot = rng.choice(list(PATH_REPORTS)), rng.choice(sorted(model.paths))
            ladder.say(report, slot)
            model.say(report, slot, engine.now_ns() // 1000)
            if rng.random() < 0.5:
                await asyncio.sleep(rng.choice((0.002, 0.03, 0.07)))
                ladder.send(1)
                model.packet(engine.now_ns() // 1000)
            state = engine.register_read("path_states", cell)
            failed, congested, _, avoided = (
                bits(state >> shift & 0xFF) for shift in (24, 16, 8, 0)
            )
            assert (failed, congested) == (model.failed, model.congested), step
            assert avoided == model.avoided, step
            assert avoided < model.paths, "a path is left"

    run_ladder(main, paths, backups)
