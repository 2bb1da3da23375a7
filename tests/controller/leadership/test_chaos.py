"""Nothing is lost and nothing is there twice, whatever failed (chaos.py)."""

from pathlib import Path
from typing import Any

import pytest
from chaos import chaos
from rivals import rivals

pytestmark = pytest.mark.virtual_time


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.exhaustive)])
async def test_afterwards_all_is_in_order(
    network: dict[str, Any], tmp_path: Path, seed: int, named: bool
) -> None:
    async with rivals(network, named=named, folder=tmp_path) as found:
        _, faults = await chaos(found, seed, 25)
        assert faults == []
