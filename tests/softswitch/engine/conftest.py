"""Engines on the test programs, closed at the end of a test."""

from collections.abc import Iterator

import pytest
from engine_making import MakeEngine
from engine_scenarios import PROGRAMS

from fcn.softswitch.engine import MemoryEngine, load_program


@pytest.fixture
def make_engine() -> Iterator[MakeEngine]:
    """Makes a memory engine that runs the named test program."""
    made: list[MemoryEngine] = []

    def make(program: str, **options: int) -> MemoryEngine:
        made.append(MemoryEngine(load_program(PROGRAMS / f"{program}.json"), **options))
        return made[-1]

    yield make
    for engine in made:
        engine.close()
