"""The controller goes on while it reads another configuration."""

import asyncio
import threading
from typing import Any

import pytest
import yaml
from switches import MemorySwitch

from fcn.controller import app
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, parse_config

PATIENCE_S = 10.0


@pytest.mark.parametrize("question", ["apply", "differences"])
async def test_a_file_of_a_megabyte_stops_nobody(
    network: dict[str, Any],
    switches: dict[str, MemorySwitch],
    monkeypatch: pytest.MonkeyPatch,
    question: str,
) -> None:
    loop, went_on = asyncio.get_running_loop(), threading.Event()
    waited: list[bool] = []

    def slow(*given: Any) -> Config:  # noqa: ANN401
        loop.call_soon_threadsafe(went_on.set)
        waited.append(went_on.wait(PATIENCE_S))
        return parse_config(*given)

    text = yaml.safe_dump(network)
    plane = ControlPlane(parse_config(text))
    monkeypatch.setattr(app, "parse_config", slow)
    async with plane.running():
        if question == "apply":
            assert await plane.apply(text, "network.yaml") == []
        else:
            assert [each async for each in plane.differences(text, "network.yaml")] == []
    assert waited == [True]
