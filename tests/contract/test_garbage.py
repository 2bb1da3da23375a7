"""Programs that keep many objects do not look through them again and again."""

import gc
from collections.abc import Iterator

import pytest

from fcn.contract.garbage import collect_seldom

KEPT = 300_000
LOOKED_AT = 50_000
"""Objects in one look at most: a few milliseconds on a slow machine."""


@pytest.fixture
def sizes() -> Iterator[list[tuple[int, int]]]:
    """Generation and size of each look, as a server has it; as it was afterwards."""
    thresholds = gc.get_threshold()
    found: list[tuple[int, int]] = []

    def looks(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            generations = range(info["generation"] + 1)
            found.append(
                (info["generation"], sum(len(gc.get_objects(each)) for each in generations))
            )

    collect_seldom()
    gc.callbacks.append(looks)
    yield found
    gc.callbacks.remove(looks)
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def test_what_is_kept_is_looked_at_twice_and_in_small_parts(sizes: list[tuple[int, int]]) -> None:
    kept = [[number] for number in range(KEPT)]
    assert len(kept) == KEPT
    assert sizes, "what is not kept is found"
    assert {generation for generation, _ in sizes} == {0, 1}
    assert max(size for _, size in sizes) < LOOKED_AT
    assert sum(size for _, size in sizes) < 2 * KEPT
