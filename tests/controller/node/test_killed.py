"""A controller that is killed while a switch gets another program."""

import asyncio
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml
from switches import Backend, MemorySwitch, all_up, packet_to, until
from virtual import virtual_plane, virtual_plane_up

from fcn.controller.config import parse_config
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.store import Store, StoreError
from fcn.softswitch.api import Engine

pytestmark = pytest.mark.virtual_time

Switches = dict[str, MemorySwitch]


def _kept(folder: Path) -> bytes | None:
    """What is kept of pe1."""
    store = Store(str(folder))
    try:
        return store.learned("pe1")
    finally:
        store.close()


async def _label(network: dict[str, Any], switches: Switches) -> int:
    """A flow is learned; its label."""
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
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
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
        return list(plane.flows.all())


async def test_what_was_learned_outlives_it(
    network: dict[str, Any], switches: Switches, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network["state"] = str(tmp_path)
    label = await _label(network, switches)
    network["flow_control"] = "service"
    await _killed_between_programs(network, switches, monkeypatch)
    assert _kept(tmp_path)
    assert [flow.label for flow in await _after(network)] == [label]
    assert switches["pe1"].engine.size("flow_ipv4") == 1
    assert _kept(tmp_path) is None


@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.exhaustive)])
async def test_whenever_it_is_killed_nothing_is_lost(
    network: dict[str, Any], switches: Switches, tmp_path: Path, step: int
) -> None:
    """At each request to the switch while that gets another program, and then its entries."""
    network["state"] = str(tmp_path)
    label, switch = await _label(network, switches), switches["pe1"]
    for request in count(0, step):
        network["flow_control"] = "off" if network.get("flow_control") == "service" else "service"
        come = switch.stop_at(request)
        plane = virtual_plane(parse_config(yaml.safe_dump(network)))
        async with plane.running():
            up = asyncio.create_task(all_up(plane))
            killed = asyncio.create_task(come.wait())
            await asyncio.wait((up, killed), return_when=asyncio.FIRST_COMPLETED)
            killed.cancel()
            up.cancel()
        switch.answer_all()
        assert [flow.label for flow in await _after(network)] == [label], request
        assert switch.engine.size("flow_ipv4") == 1, request
        assert _kept(tmp_path) is None
        if up.done() and not up.cancelled():
            break
    assert request > 20


async def test_without_a_folder_it_is_lost(
    network: dict[str, Any], switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _label(network, switches)
    network["flow_control"] = "service"
    await _killed_between_programs(network, switches, monkeypatch)
    assert await _after(network) == []


@pytest.mark.parametrize("content", [b"", b"\xff\xff nonsense"])
async def test_what_cannot_be_read_keeps_no_switch_away(
    network: dict[str, Any], switches: Switches, tmp_path: Path, content: bytes
) -> None:
    store = Store(str(tmp_path))
    store.keep_learned("pe1", content)
    store.close()
    network["state"] = str(tmp_path)
    assert await _after(network) == []
    assert _kept(tmp_path) is None


async def test_a_disk_that_is_full_stops_no_change(
    network: dict[str, Any],
    switches: Switches,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    label = await _label(network, switches)

    def full(*_arguments: object) -> None:
        raise StoreError("state.sqlite cannot be written: the disk is full")

    monkeypatch.setattr(Store, "keep_learned", full)
    network["flow_control"] = "service"
    assert [flow.label for flow in await _after(network)] == [label]
    assert "the disk is full; a controller that is killed now loses what" in caplog.text


REGISTERED = FlowKey("blue", ip_address("10.1.0.10"), ip_address("10.2.0.20"), 44)


async def _register(network: dict[str, Any]) -> None:
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
        plane.flows.add(REGISTERED, 17, 0)
        assert await plane.nodes["pe1"].settled()


async def test_a_deletion_that_was_not_yet_written_is_completed(
    network: dict[str, Any], switches: Switches, tmp_path: Path
) -> None:
    network["state"] = str(tmp_path)
    await _register(network)
    store = Store(str(tmp_path))
    store.unregister("blue", "10.1.0.10", "10.2.0.20", 44)
    store.close()
    assert switches["pe1"].engine.size("flow_ipv4") == 1
    assert await _after(network) == []
    assert switches["pe1"].engine.size("flow_ipv4") == 0


async def test_registered_flows_of_a_switch_are_taken_over_by_a_new_folder(
    network: dict[str, Any], switches: Switches, tmp_path: Path
) -> None:
    await _register(network)
    network["state"] = str(tmp_path)
    assert [flow.key for flow in await _after(network)] == [REGISTERED]
    await switches["pe1"].stop()
    await switches["pe1"].start()
    assert [flow.key for flow in await _after(network)] == [REGISTERED]
    assert switches["pe1"].engine.size("flow_ipv4") == 1
