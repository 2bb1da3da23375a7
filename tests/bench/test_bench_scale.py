"""The benchmark of a provider edge with many flows, with a few."""

from pathlib import Path

import pytest

from fcn.bench.scale import measure


@pytest.mark.exhaustive
def test_every_flow_is_installed_read_back_and_written_again(tmp_path: Path) -> None:
    """The controller's process fails where it has another number of flows than it should."""
    found = measure(tmp_path, 300, None)
    assert found.flows == 300
    assert min(found.raw_rate, found.learn_rate, found.refill_rate) > 0
    assert found.shell_rate is None
