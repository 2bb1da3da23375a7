"""A network of memory switches and the control plane that runs it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from switches import MemorySwitch, memory_switches

from fcn import controller
from fcn.controller.config import Config, parse_config
from fcn.controller.node import session

EXAMPLE = Path(controller.__file__).parent / "examples" / "network.yaml"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten finsy's wait of ten seconds after a connection that lasted less than two."""
    monkeypatch.setattr(session, "LAST_RETRY", session.FIRST_RETRY)


@pytest.fixture
def network() -> dict[str, Any]:
    """The example as plain data, without its fixed ports."""
    data: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
    data["api"] = "127.0.0.1:0"
    del data["metrics"]
    return data


@pytest.fixture
async def switches(network: dict[str, Any]) -> AsyncIterator[dict[str, MemorySwitch]]:
    """A memory switch for every node of `network`, whose addresses are set to theirs."""
    async with memory_switches(len(network["nodes"])) as found:
        by_name = dict(zip(network["nodes"], found, strict=True))
        for name, switch in by_name.items():
            network["nodes"][name]["grpc"] = switch.address
            network["nodes"][name]["device_id"] = switch.device_id
        yield by_name


@pytest.fixture
def config(network: dict[str, Any], switches: dict[str, MemorySwitch]) -> Config:
    """The network's configuration once its switches run."""
    return parse_config(yaml.safe_dump(network))
