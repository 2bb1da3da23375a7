"""Counters are read in the order of the contract, whatever seed Python hashes names with."""

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from fcn.contract.names import COUNTERS, PORT_COUNTERS, VRF_COUNTERS
from fcn.contract.pipeline import Pipeline, load_pipeline
from fcn.controller.config import load_config
from fcn.controller.config.load import EXAMPLE
from fcn.controller.node import counters
from fcn.controller.node.provision import Provision


async def _nothing(*_: object) -> AsyncIterator[Any]:
    return
    yield


@pytest.mark.parametrize("wanted", [None, {"drops", "events", "notifications_sent", "punts"}])
async def test_order(wanted: set[str] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "read", _nothing)
    pipeline = load_pipeline("pe")
    connection: Any = SimpleNamespace(name="pe1", is_up=True, switch=None)
    reader = counters.Counters(Provision(load_config(EXAMPLE), "pe1", pipeline), connection)
    found = list(await reader.read(wanted))
    assert found == [name for name in found_in(pipeline) if wanted is None or name in wanted]


def found_in(pipeline: Pipeline) -> list[str]:
    """Counters of ports, of VRFs, then the others, as the contract lists them."""
    listed = [*PORT_COUNTERS, *VRF_COUNTERS, *COUNTERS]
    return [name for name in listed if name in pipeline.counters]
