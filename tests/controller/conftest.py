"""A network of memory switches and the control plane that runs it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from switches import MemorySwitch, memory_switches
from virtual import virtual_switches, virtual_time_loop

from fcn import controller
from fcn.controller.config import Config, parse_config
from fcn.controller.node import session

EXAMPLE = Path(controller.__file__).parent / "examples" / "network.yaml"


def in_virtual_time(item: pytest.Item) -> bool:
    """Whether a test is marked so."""
    return item.get_closest_marker("virtual_time") is not None


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The event loop of a test."""
    factory = virtual_time_loop if in_virtual_time(item) else asyncio.new_event_loop
    return {"loop": factory}


@pytest.fixture(autouse=True)
def impatient(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the wait for the next session where it takes real time."""
    if not in_virtual_time(request.node):
        monkeypatch.setattr(session, "LAST_RETRY", session.FIRST_RETRY)


@pytest.fixture
def network() -> dict[str, Any]:
    """The example as plain data, without its fixed ports."""
    data: dict[str, Any] = yaml.load(EXAMPLE.read_text(), yaml.CSafeLoader)
    data |= {"api": "127.0.0.1:0", "insecure": ["api"]}
    del data["metrics"]
    return data


@pytest.fixture
async def switches(
    request: pytest.FixtureRequest, network: dict[str, Any]
) -> AsyncIterator[dict[str, MemorySwitch]]:
    """A memory switch for every node of `network`, whose addresses are set to theirs. In virtual
    time they are VirtualSwitches."""
    started = virtual_switches if in_virtual_time(request.node) else memory_switches
    async with started(len(network["nodes"])) as found:
        by_name = dict(zip(network["nodes"], found, strict=True))
        for name, switch in by_name.items():
            network["nodes"][name]["grpc"] = switch.address
            network["nodes"][name]["device_id"] = switch.device_id
        yield by_name


@pytest.fixture
def config(network: dict[str, Any], switches: dict[str, MemorySwitch]) -> Config:
    """The network's configuration once its switches run."""
    return parse_config(yaml.safe_dump(network))
