"""Programs that keep many objects look for unused ones in small parts."""

import asyncio
import gc
from collections import deque
from collections.abc import Iterator

import pytest

from fcn.contract.garbage_collection import PERIOD, SELDOM, collect_often, seldom_collected

KEPT, NEW = 100_000, 200
"""Objects that are kept at a time, and those made in a millisecond at most."""


@pytest.fixture
def looks() -> Iterator[list[tuple[int, int]]]:
    """Generation and size of each look; Python's own ones again afterwards."""
    thresholds = gc.get_threshold()
    found: list[tuple[int, int]] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            young = range(info["generation"] + 1)
            found.append((info["generation"], sum(len(gc.get_objects(each)) for each in young)))

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)
    gc.unfreeze()
    gc.set_threshold(*thresholds)


async def test_looks_are_short_while_objects_come_and_others_go(
    looks: list[tuple[int, int]],
) -> None:
    """As many go as come, so that Python would see no reason to look."""
    kept = deque([[number] for number in range(KEPT)], maxlen=KEPT)
    collector = asyncio.create_task(collect_often())
    await asyncio.sleep(0)
    looks.clear()
    while len(looks) < 5:
        kept.extend([number] for number in range(NEW))
        await asyncio.sleep(0.001)
    collector.cancel()
    assert {generation for generation, _ in looks} == {1}
    assert max(size for _, size in looks) < 2 * NEW * PERIOD / 0.001 < KEPT


async def test_what_is_in_no_use_any_more_is_found(looks: list[tuple[int, int]]) -> None:
    collector = asyncio.create_task(collect_often())
    await asyncio.sleep(0)
    cycle: list[object] = []
    cycle.append(cycle)
    looked = len(looks)
    number = id(cycle)
    del cycle
    while len(looks) == looked:  # noqa: ASYNC110 - another task changes it, without an event
        await asyncio.sleep(PERIOD)
    collector.cancel()
    assert all(id(each) != number for each in gc.get_objects())


def test_a_program_that_ends_soon_looks_seldom_and_others_as_before(
    looks: list[tuple[int, int]],
) -> None:
    gc.set_threshold(100, 10, 10)
    looks.clear()
    with seldom_collected():
        assert gc.get_threshold() == SELDOM
        kept = [[number] for number in range(SELDOM[0] // 2)]
        assert not looks
    kept.extend([number] for number in range(1000))
    assert looks
    assert max(size for _, size in looks) < SELDOM[0] // 2
    assert gc.get_threshold() == (100, 10, 10)
