"""Reports about a connection: why it was lost, and none when the controller closes it."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from finsy.proto import p4r
from switches import WAIT, MemorySwitch, all_up, packet_to, plane_up, until
from tenants import DC_PORT
from virtual import virtual_plane

from fcn.contract.constants import compiled_programs
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, parse_config
from fcn.controller.events import Event, Kind
from fcn.controller.node import connection
from fcn.controller.node.connection import PROGRAM_RETRY, State
from fcn.controller.owners.punt import Punt
from fcn.softswitch.p4rt.arbitration import Client
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.errors import invalid_argument
from fcn.softswitch.p4rt.service import P4RuntimeService

Switches = dict[str, MemorySwitch]


async def test_reason_of_a_failed_job_is_told_and_the_node_comes_back(
    config: Config, switches: Switches, events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with plane_up(config) as plane:
        reports = []

        def fail_once(*report: object) -> None:
            reports.append(report)
            if len(reports) == 1:
                raise ValueError("no such flow\nand more")

        # Of the jobs of a session: what reads digests, after it handled one.
        monkeypatch.setattr(plane.nodes["pe1"]._messages, "_acknowledge", fail_once)
        switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(33))
        await until(lambda: Kind.NODE_DOWN in {event.kind for event in events})
        told = [event for event in events if event.kind in (Kind.NODE_ERROR, Kind.NODE_DOWN)]
        assert [(event.node, event.message) for event in told] == [
            ("pe1", "pe1: no such flow"),
            ("pe1", "pe1: no such flow; trying again"),
        ]
        assert plane.nodes["pe1"].status.state is State.AWAY
        assert plane.nodes["pe1"].status.detail == "no such flow; trying again"
        await all_up(plane)
        switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(34))
        await until(lambda: len(reports) == 2)


async def test_switch_that_does_not_take_its_program_is_named(
    network: dict[str, Any], switches: Switches, tmp_path: Path
) -> None:
    shutil.copy(compiled_programs() / "pe.p4info.txtpb", tmp_path)
    (tmp_path / "pe.json").write_text(json.dumps({"no": "program"}))
    network["nodes"]["pe1"]["program"] = str(tmp_path)
    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    async with plane.running():
        await until(lambda: plane.nodes["pe1"].status.state is State.AWAY)
        detail = plane.nodes["pe1"].status.detail
        assert f"refused {tmp_path / 'pe.json'}: " in detail
        assert "(INVALID_ARGUMENT); trying again every 30 s" in detail


@pytest.mark.virtual_time
async def test_a_program_that_is_refused_is_sent_again_after_a_while(
    config: Config, switches: Switches, events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And at once to a switch that is started anew; it is told once."""
    sent: list[int] = []
    switch = switches["pe1"]
    take = Device.set_config

    async def refuse(device: Device, request: p4r.SetForwardingPipelineConfigRequest) -> None:
        if device is not switch._device:
            await take(device, request)
            return
        assert f"makes {plane.nodes['pe1'].provision.pipeline.blob} ready" in node.status.detail
        sent.append(1)
        raise invalid_argument("it has no room")

    monkeypatch.setattr(Device, "set_config", refuse)
    plane = virtual_plane(config)
    node = plane.nodes["pe1"]
    async with plane.running():
        await asyncio.sleep(3 * PROGRAM_RETRY + 1)
        assert len(sent) == 4
        assert "it has no room (INVALID_ARGUMENT); trying again every 30 s" in node.status.detail
        assert [event.kind for event in events if event.node == "pe1"] == [Kind.NODE_DOWN]
        await switch.stop()
        await switch.start()
        await asyncio.sleep(2)
        assert len(sent) == 5
        monkeypatch.undo()
        await asyncio.sleep(PROGRAM_RETRY)
        assert node.is_up


@pytest.fixture
def hears(switches: Switches, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """While it is not set, pe1 takes no messages."""
    read, hears = P4RuntimeService._read_stream, asyncio.Event()
    hears.set()

    async def read_some(
        service: P4RuntimeService, client: Client, requests: AsyncIterator[p4r.StreamMessageRequest]
    ) -> None:
        async def some() -> AsyncIterator[p4r.StreamMessageRequest]:
            async for each in requests:
                if service._device is switches["pe1"]._device:
                    await hears.wait()
                yield each

        await read(service, client, some())

    monkeypatch.setattr(P4RuntimeService, "_read_stream", read_some)
    return hears


async def test_a_message_on_its_way_does_not_end_the_session_when_the_configuration_changes(
    config: Config, hears: asyncio.Event, events: list[Event]
) -> None:
    async with plane_up(config) as plane:
        sender = plane._members["pe1"].connection
        sent = 0

        async def talk() -> None:
            nonlocal sent
            while True:
                await sender.send(Punt.send(DC_PORT, bytes(9000)))
                sent += 1

        hears.clear()
        sender.start("talk", talk())
        before = -1
        async with asyncio.timeout(WAIT):
            while before != sent:
                before = sent
                await asyncio.sleep(0.1)
        await sender.pause()
        hears.set()
        await sender.send(Punt.send(DC_PORT, bytes(60)))
        assert Kind.NODE_DOWN not in {event.kind for event in events}


async def test_a_switch_that_takes_no_messages_is_away(
    config: Config, hears: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers every request, so that nothing else shows it, while whoever sends waits."""
    async with plane_up(config) as plane:
        monkeypatch.setattr(connection, "SEND_TIMEOUT", 0.5)
        hears.clear()
        async with asyncio.timeout(WAIT):
            while await plane._members["pe1"].connection.send_packet(DC_PORT, bytes(9000)):
                pass
        node = plane.nodes["pe1"]
        assert node.status.state is State.UP, "until its session has ended"
        await until(lambda: node.status.state is State.AWAY)
        assert node.status.detail == (
            "the switch takes no messages: it is stopped, or overloaded; trying again"
        )
        hears.set()
        await all_up(plane)


async def test_ending_the_controller_is_no_failure_of_the_nodes(
    config: Config, switches: Switches, events: list[Event]
) -> None:
    async with plane_up(config) as plane:
        pass
    assert {event.kind for event in events} == {Kind.SYNCHRONIZED, Kind.NODE_UP}
    assert all(agent.is_up for agent in plane.nodes.values())


async def test_nothing_is_taken_before_somebody_reads_it(
    config: Config, switches: Switches
) -> None:
    """finsy would log it, with what customers' packets say."""
    plane = ControlPlane(config)
    messages = plane.nodes["pe1"]._messages
    assert not messages.admits("digest", 100)
    async with plane.running():
        await all_up(plane)
        assert messages.admits("digest", 100)
        messages.start(asyncio.Event())
        assert not messages.admits("digest", 100)
