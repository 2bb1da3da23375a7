"""A controller that is killed while a switch gets another program."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from switches import Backend, MemorySwitch, all_up, packet_to, until
from virtual import virtual_plane

from fcn.controller.config import parse_config
from fcn.controller.flows.flow import Flow
from fcn.softswitch.api import Engine

pytestmark = pytest.mark.virtual_time

Switches = dict[str, MemorySwitch]


def _files(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


async def _label(network: dict[str, Any], switches: Switches) -> int:
    """A flow is learned; its label."""
    plane = virtual_plane(parse_config(yaml.safe_dump(network)))
    async with plane.running():
        await all_up(plane)
        switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(33))
        await until(lambda: switches["pe1"].engine.size("flow_ipv4") == 1)
        (flow,) = plane.flows.all()
    return flow.label or 0


async def _killed_between_programs(
    network: dict[str, Any], switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A controller that has replaced pe1's program, and writes nothing into the new one."""
    switch = switches["pe1"]
    open_program = Backend.open

    def open_and_freeze(backend: Backend, device_config: bytes) -> Engine:
        if backend.engines is switch.engines:
            thawed.append(switch.freeze())
        return open_program(backend, device_config)

    thawed: list[Any] = []
    monkeypatch.setattr(Backend, "open", open_and_freeze)
    plane = virtual_plane(parse_config(yaml.safe_dump(network)))
    async with plane.running():
        await until(lambda: switch.frozen)
    monkeypatch.setattr(Backend, "open", open_program)
    thawed[0].set()
    assert switch.engine.size("flow_ipv4") == 0


async def _after(network: dict[str, Any]) -> list[Flow]:
    """What the next controller knows."""
    plane = virtual_plane(parse_config(yaml.safe_dump(network)))
    async with plane.running():
        await all_up(plane)
        return list(plane.flows.all())


async def test_what_was_learned_outlives_it(
    network: dict[str, Any],
    switches: Switches,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network["state"] = str(tmp_path)
    label = await _label(network, switches)
    network["flow_control"] = "service"
    await _killed_between_programs(network, switches, monkeypatch)
    assert "pe1.learned" in _files(tmp_path)
    assert [flow.label for flow in await _after(network)] == [label]
    assert switches["pe1"].engine.size("flow_ipv4") == 1
    assert _files(tmp_path) == set()


async def test_without_a_folder_it_is_lost(
    network: dict[str, Any], switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _label(network, switches)
    network["flow_control"] = "service"
    await _killed_between_programs(network, switches, monkeypatch)
    assert await _after(network) == []


@pytest.mark.parametrize("content", [b"", b"\xff\xff nonsense"])
async def test_a_damaged_file_keeps_no_switch_away(
    network: dict[str, Any], switches: Switches, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "pe1.learned").write_bytes(content)
    network["state"] = str(tmp_path)
    assert await _after(network) == []
    assert _files(tmp_path) == set()


async def test_a_folder_that_cannot_be_written_stops_no_change(
    network: dict[str, Any],
    switches: Switches,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    network["state"] = str(tmp_path)
    label = await _label(network, switches)
    (tmp_path / "pe1.unfinished").mkdir()
    network["flow_control"] = "service"
    assert [flow.label for flow in await _after(network)] == [label]
    assert "pe1.learned cannot be written (Is a directory)" in caplog.text
