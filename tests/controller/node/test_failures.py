"""Switches that fail in every way: what is said of it, and that the controller recovers. In virtual
time but for what the API says, which is served by gRPC."""

import asyncio
from ipaddress import ip_address
from typing import Any

import finsy as fy
import pytest
import yaml
from switches import MemorySwitch, all_up, packet_to, plane_up, until
from virtual import virtual_plane, virtual_plane_up

from fcn.contract.pipeline import load_pipeline
from fcn.controller.config import Config, parse_config
from fcn.controller.events import Event
from fcn.controller.flows.key import FlowKey
from fcn.controller.node.connection import State
from fcn.controller.node.session import SwitchAwayError
from fcn.controller.northbound.client import ControllerError, FcnClient
from fcn.controller.northbound.serving import serving
from fcn.softswitch.p4rt.errors import internal

Switches = dict[str, MemorySwitch]


@pytest.mark.virtual_time
async def test_a_switch_that_returns_with_another_device_id(
    config: Config, switches: Switches, events: list[Event], caplog: pytest.LogCaptureFixture
) -> None:
    switch = switches["pe1"]
    right = switch.device_id
    async with virtual_plane_up(config) as plane:
        await switch.stop()
        switch.device_id = 77
        await switch.start()
        await until(lambda: f"device {right} is not here" in plane.nodes["pe1"].status.detail)
        status = plane.nodes["pe1"].status
        assert status.state is State.AWAY
        assert f"are `grpc`, `device_id` ({right}) and TLS (off) right?" in status.detail
        assert f"pe1: {status.detail}" in [event.message for event in events]
        assert not [each for each in caplog.records if each.exc_info], (
            "an event tells it; finsy would, with a traceback each time"
        )
        await switch.stop()
        switch.device_id = right
        await switch.start()
        await all_up(plane)


@pytest.mark.virtual_time
async def test_requests_of_jobs_are_answered_when_the_connection_ends(
    config: Config, switches: Switches
) -> None:
    """gRPC cancels them, and with them the job that waits, if that does not look closely."""
    async with virtual_plane_up(config) as plane:
        agent = plane.nodes["pe1"]
        plane.flows.add(FlowKey("blue", ip_address("10.1.0.10"), ip_address("10.2.0.20"), 33), 17)
        thawed = switches["pe1"].freeze()
        requests = [
            asyncio.create_task(asked)
            for asked in (
                agent.counters.read(),
                agent.counters.of_flows(plane.flows.all()),
                agent.check_idle(),
            )
        ]
        await until(lambda: switches["pe1"].frozen >= 3)

        async def fail() -> None:
            raise ValueError("a job of the session failed, so it ends")

        plane._members["pe1"].connection.start("failing", fail())
        results = await asyncio.gather(*requests, return_exceptions=True)
        assert [type(result) for result in results] == [SwitchAwayError] * 3
        assert {str(result) for result in results} == {"pe1: the connection ended"}
        thawed.set()
        await all_up(plane)


@pytest.mark.virtual_time
async def test_neighbours_are_asked_again_after_a_connection_ended_while_asking(
    config: Config, switches: Switches, caplog: pytest.LogCaptureFixture
) -> None:
    async with virtual_plane_up(config) as plane:
        connection = plane._members["pe1"].connection
        # As between the end of the stream and finsy's word of it.
        client = connection.switch._p4client
        assert client is not None
        await client.close()
        assert not await connection.send_packet(1, bytes(64))
        await all_up(plane)
    assert "failed; starting it again" not in caplog.text


async def test_flows_with_counters_of_a_switch_that_went_away(
    network: dict[str, Any], switches: Switches
) -> None:
    config = parse_config(yaml.safe_dump(network))
    async with plane_up(config) as plane, serving(plane.network, "127.0.0.1:0") as address:
        plane.flows.add(FlowKey("blue", ip_address("10.1.0.10"), ip_address("10.2.0.20"), 33), 17)
        thawed = switches["pe1"].freeze()

        def ask() -> str:
            with FcnClient(address) as client, pytest.raises(ControllerError) as refused:
                client.flows(counters=True)
            return str(refused.value)

        asked = asyncio.create_task(asyncio.to_thread(ask))
        await until(lambda: switches["pe1"].frozen >= 2)
        await switches["pe1"].stop()
        thawed.set()
        assert (await asked).startswith("pe1")


@pytest.mark.virtual_time
async def test_controllers_that_take_turns(config: Config, switches: Switches) -> None:
    """What the switch reports reaches who rules at the time, however often that changes."""
    pipeline = load_pipeline("pe")
    options = fy.SwitchOptions(
        p4info=pipeline.p4info,
        p4blob=pipeline.blob,
        device_id=switches["pe1"].device_id,
        initial_election_id=999,
    )
    async with virtual_plane_up(config) as plane:
        tasks = len(asyncio.all_tasks())
        for _turn in range(10):
            async with fy.Switch("other", switches["pe1"].address, options):
                pass
        await all_up(plane)
        switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(33))
        await until(lambda: len(plane.flows.all()) == 1)
        await until(lambda: len(asyncio.all_tasks()) <= tasks)


@pytest.mark.virtual_time
async def test_a_switch_that_answers_with_errors(
    config: Config, switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = switches["pe1"]._device
    assert device is not None
    with monkeypatch.context() as patch:

        async def fail(_request: object) -> None:
            raise internal("the chip does not answer")

        patch.setattr(device, "write", fail)
        plane = virtual_plane(config)
        async with plane.running():
            await until(lambda: plane.nodes["pe1"].status.state is State.AWAY)
            detail = plane.nodes["pe1"].status.detail
            assert detail == "the chip does not answer (INTERNAL); trying again"
            patch.undo()
            await all_up(plane)
