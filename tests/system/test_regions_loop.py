"""A connection between two regions: the CNP goes to the queue pair that the other one helped to
find."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.parametrize("target", ["softswitch", "bmv2"])
def test_a_sender_is_notified_across_regions(
    target: str, run_system: Callable[..., dict[str, Any]]
) -> None:
    report = run_system("regions_loop", target)
    assert report["senders"] == {
        "west": [["192.168.7.1", 0x118, 0x2A5]],
        "east": [["192.168.7.2", 0x2A5, 0x118]],
    }
    assert report["is_cnp"]
