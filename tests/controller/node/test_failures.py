"""Switches that fail in every way: what is said of it, and that the controller recovers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import finsy as fy
import finsy.p4client
import grpc
import pytest
import yaml
from finsy.proto import p4r
from switches import MemorySwitch, until

from fcn.contract.pipeline import load_pipeline
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, parse_config
from fcn.controller.events import Event, EventBus, Kind
from fcn.controller.node import session, synchronization
from fcn.controller.node.connection import State
from fcn.controller.node.session import SwitchAwayError
from fcn.controller.northbound import notifications
from fcn.controller.northbound.api import serving
from fcn.controller.northbound.client import ControllerError, FcnClient
from fcn.softswitch.p4rt.errors import internal

Switches = dict[str, MemorySwitch]


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """Every event that is emitted."""
    found: list[Event] = []

    def emit(
        _bus: EventBus, kind: Kind, node: str, message: str | Callable[[], str], **_fields: object
    ) -> None:
        found.append(Event(kind, node, message if isinstance(message, str) else message()))

    monkeypatch.setattr(EventBus, "emit", emit)
    return found


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes seconds for switches far away."""
    monkeypatch.setattr(session, "BEGIN_TIMEOUT", 1.0)
    monkeypatch.setattr(session, "PROBE_INTERVAL", 0.1)
    monkeypatch.setattr(finsy.p4client, "_DEFAULT_RPC_TIMEOUT", 2.0)


def packet_to(dest_qp: int) -> tuple[int, ...]:
    """The report of a packet of a new flow."""
    return (1, 0x0A01000A, 0x0A020014, dest_qp, 0xFFFF, 5, 50000, 4)


async def all_up(plane: ControlPlane) -> None:
    await until(lambda: all(agent.is_up for agent in plane.nodes.values()))


class Silent:
    """Accepts streams and never answers; `sessions` counts them."""

    def __init__(self) -> None:
        self.sessions = 0
        stream = grpc.stream_stream_rpc_method_handler(
            self.listen,
            p4r.StreamMessageRequest.FromString,
            p4r.StreamMessageResponse.SerializeToString,
        )
        self.service = grpc.method_handlers_generic_handler(
            "p4.v1.P4Runtime", {"StreamChannel": stream}
        )

    async def listen(
        self, requests: AsyncIterator[p4r.StreamMessageRequest], _context: object
    ) -> None:
        self.sessions += 1
        async for _request in requests:
            pass


@asynccontextmanager
async def silence(port: int) -> AsyncIterator[Silent]:
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    silent = Silent()
    server.add_generic_rpc_handlers((silent.service,))
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    try:
        yield silent
    finally:
        await server.stop(None)


async def test_a_switch_that_accepts_a_stream_and_is_silent(
    config: Config, switches: Switches, events: list[Event]
) -> None:
    await switches["pe1"].stop()
    plane = ControlPlane(config)
    async with plane.running():
        async with silence(switches["pe1"].port) as silent:
            await until(lambda: silent.sessions == 3)
            status = plane.nodes["pe1"].status
            assert status.state is State.CONNECTING
            assert f"no session with {switches['pe1'].address}: nobody answers" in status.detail
            said = [event for event in events if event.kind is Kind.NODE_DOWN]
            assert [event.node for event in said].count("pe1") <= 2, "not with every attempt"
        await switches["pe1"].start()
        await all_up(plane)


async def test_a_switch_that_returns_with_another_device_id(
    config: Config, switches: Switches, events: list[Event]
) -> None:
    switch = switches["pe1"]
    right = switch.device_id
    plane = ControlPlane(config)
    async with plane.running():
        await all_up(plane)
        await switch.stop()
        switch.device_id = 77
        await switch.start()
        await until(lambda: f"device {right} is not here" in plane.nodes["pe1"].status.detail)
        status = plane.nodes["pe1"].status
        assert status.state is State.AWAY
        assert f"are `grpc` and `device_id` ({right}) right?" in status.detail
        assert f"pe1: {status.detail}" in [event.message for event in events]
        await switch.stop()
        switch.device_id = right
        await switch.start()
        await all_up(plane)


async def test_attempts_that_fail_leave_nothing_behind(config: Config, switches: Switches) -> None:
    plane = ControlPlane(config)
    async with plane.running():
        await all_up(plane)
        emitter = plane._connections["pe1"].switch.ee
        before = {event: len(emitter.listeners(event)) for event in emitter.event_names()}
        tasks = len(asyncio.all_tasks())
        await switches["pe1"].stop()
        async with silence(switches["pe1"].port) as silent:
            await until(lambda: silent.sessions == 4)
            waiting = len(emitter.listeners(fy.SwitchEvent.CHANNEL_READY))
            assert waiting <= before[fy.SwitchEvent.CHANNEL_READY] + 1, "that of this attempt"
        await switches["pe1"].start()
        await all_up(plane)
        await until(lambda: len(asyncio.all_tasks()) <= tasks)
        assert {event: len(emitter.listeners(event)) for event in before} == before


async def test_a_switch_that_falls_silent_is_noticed_though_nobody_asks(
    config: Config, switches: Switches, caplog: pytest.LogCaptureFixture
) -> None:
    plane = ControlPlane(config)
    async with plane.running():
        await all_up(plane)
        thawed = switches["p1"].freeze()
        await until(lambda: plane.nodes["p1"].status.state is State.AWAY)
        detail = plane.nodes["p1"].status.detail
        assert detail == "the switch does not answer: it is stopped, or overloaded; trying again"
        assert "Traceback" not in caplog.text
        thawed.set()
        await all_up(plane)


async def test_requests_of_jobs_are_answered_when_the_connection_ends(
    config: Config, switches: Switches
) -> None:
    """gRPC cancels them, and with them the job that waits, if that does not look closely."""
    plane = ControlPlane(config)
    async with plane.running():
        await all_up(plane)
        agent = plane.nodes["pe1"]
        thawed = switches["pe1"].freeze()
        requests = [
            asyncio.create_task(asked)
            for asked in (agent.counters.read(), agent.counters.of_flows(), agent.check_idle())
        ]
        await until(lambda: switches["pe1"].frozen >= 3)

        async def fail() -> None:
            raise ValueError("a job of the session failed, so it ends")

        plane._connections["pe1"].start("failing", fail())
        results = await asyncio.gather(*requests, return_exceptions=True)
        assert [type(result) for result in results] == [SwitchAwayError] * 3
        assert {str(result) for result in results} == {"pe1: the connection ended"}
        thawed.set()
        await all_up(plane)


async def test_neighbours_are_asked_again_after_a_connection_ended_while_asking(
    config: Config, switches: Switches, caplog: pytest.LogCaptureFixture
) -> None:
    plane = ControlPlane(config)
    async with plane.running():
        await all_up(plane)
        connection = plane._connections["pe1"]
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
    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    async with plane.running(), serving(plane.network, "127.0.0.1:0") as address:
        await all_up(plane)
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


async def test_a_switch_that_answers_late_hides_no_notification_of_others(
    config: Config, switches: Switches, events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "INTERVAL", 0.05)
    monkeypatch.setattr(session, "PROBE_INTERVAL", 1000.0)
    monkeypatch.setattr(finsy.p4client, "_DEFAULT_RPC_TIMEOUT", 1000.0)
    plane = ControlPlane(config)
    async with plane.running():
        await all_up(plane)
        thawed = switches["pe1"].freeze()
        await until(lambda: switches["pe1"].frozen > 0)
        sent: dict[str, dict[str, tuple[int, int]]] = {"notifications_sent": {"CNP_SENT": (0, 0)}}

        async def growing(_wanted: object = None) -> dict[str, dict[str, tuple[int, int]]]:
            packets, octets = sent["notifications_sent"]["CNP_SENT"]
            sent["notifications_sent"]["CNP_SENT"] = packets + 1, octets
            return {"notifications_sent": dict(sent["notifications_sent"])}

        monkeypatch.setattr(plane.nodes["p1"].counters, "read", growing)
        await until(lambda: "p1: CNP_SENT +1" in [event.message for event in events])
        thawed.set()


async def test_controllers_that_take_turns(config: Config, switches: Switches) -> None:
    """What the switch reports reaches who rules at the time, however often that changes."""
    pipeline = load_pipeline("pe")
    options = fy.SwitchOptions(
        p4info=pipeline.p4info,
        p4blob=pipeline.blob,
        device_id=switches["pe1"].device_id,
        initial_election_id=999,
    )
    plane = ControlPlane(config)
    async with plane.running():
        await all_up(plane)
        tasks = len(asyncio.all_tasks())
        for _turn in range(10):
            async with fy.Switch("other", switches["pe1"].address, options):
                pass
        await all_up(plane)
        switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(33))
        await until(lambda: len(plane.flows.all()) == 1)
        await until(lambda: len(asyncio.all_tasks()) <= tasks)


async def test_what_a_switch_refused_is_written_once_the_reason_is_gone(
    config: Config, switches: Switches, events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synchronization, "REFUSED_RETRY", 0.1)
    plane = ControlPlane(config)
    async with plane.running():
        await all_up(plane)
        agent, engine = plane.nodes["pe1"], switches["pe1"].engine
        engine.full = "flow_ipv4"
        engine.digest("new_flow_ipv4_t", packet_to(33))
        await until(lambda: agent.refused)
        # In the meantime others are written, and nothing is said again.
        await until(lambda: engine.size("flow_by_label_ipv4") == 1)
        writes = engine.writes
        engine.digest("new_flow_ipv4_t", packet_to(34))
        await until(lambda: agent.refused == 2)
        assert engine.writes == writes + 1
        engine.full = ""
        await until(lambda: engine.size("flow_ipv4") == 2)
        assert agent.refused == 2
        assert [event.kind for event in events].count(Kind.NODE_ERROR) == 2


async def test_a_switch_that_answers_with_errors(
    config: Config, switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = switches["pe1"]._device
    assert device is not None
    with monkeypatch.context() as patch:

        async def fail(_request: object) -> None:
            raise internal("the chip does not answer")

        patch.setattr(device, "write", fail)
        plane = ControlPlane(config)
        async with plane.running():
            await until(lambda: plane.nodes["pe1"].status.state is State.AWAY)
            detail = plane.nodes["pe1"].status.detail
            assert detail == "the chip does not answer (INTERNAL); trying again"
            patch.undo()
            await all_up(plane)
