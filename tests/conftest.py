"""What holds for all tests."""

import gc
import signal
from pathlib import Path

import pytest

NETWORKS = {"topologies", "interop"}
"""Folders of tests that start whole networks."""

AFTER = 0.4
"""Of all other files: by then the packet tests beside them are over."""


def pytest_configure() -> None:
    """Let the programs that tests start hear Ctrl-C: a background job of a shell (`make test &`)
    begins with SIGINT ignored, and so does everything it starts. Look seldom for objects in no use:
    a third of the time of collection went into looking through tests, which are all in use."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(200_000, 20, 100)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Networks wait more than they compute, so their files come one by one among the others: in the
    end nobody would compute meanwhile, and all at once they start too slowly."""
    files = list(dict.fromkeys(item.path for item in items))
    networks = [file for file in files if not NETWORKS.isdisjoint(file.parts)]
    others = [file for file in files if file not in networks]
    place: dict[Path, float] = {file: number for number, file in enumerate(others)}
    for number, file in enumerate(networks):
        place[file] = len(others) * (AFTER + (1 - AFTER) * number / len(networks)) - 0.5
    items.sort(key=lambda item: place[item.path])


def pytest_collection_finish() -> None:
    """Nobody looks through them again."""
    gc.freeze()
