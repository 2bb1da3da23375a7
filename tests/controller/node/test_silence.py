"""Switches that answer late or not at all, or refuse: with the controller's own timeouts."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

import finsy as fy
import pytest
import yaml
from switches import all_up, packet_to, until
from tenants import DC_PORT
from virtual import VirtualSwitch, stand_still, virtual_plane, virtual_plane_up

from fcn.contract.constants import enum_members
from fcn.controller.config import Config, parse_config
from fcn.controller.events import Event, Kind
from fcn.controller.node.connection import SEND_TIMEOUT, State
from fcn.controller.node.session import BEGIN_TIMEOUT, FIRST_RETRY, LAST_RETRY, PROBE_INTERVAL
from fcn.controller.node.synchronization import REFUSED_RETRY
from fcn.softswitch.api import CounterValue

pytestmark = pytest.mark.virtual_time

Switches = dict[str, VirtualSwitch]

ANSWER_TIMEOUT = 10.0
"""Seconds finsy waits for the answer to a request."""

RECONNECT = 2.0
"""Seconds that it takes to synchronize a switch that is back, at most."""

SLACK = 0.1
"""Seconds for messages on their way, and between two looks of a test."""


async def within(seconds: float, condition: Callable[[], object]) -> float:
    """Wait for a condition at most so many seconds; returns how many it took."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await until(condition, seconds=seconds + SLACK)
    return loop.time() - begun


async def test_a_switch_that_accepts_a_stream_and_is_silent(
    config: Config, switches: Switches, events: list[Event]
) -> None:
    silent = switches["pe1"]
    await silent.go_silent()
    plane = virtual_plane(config)
    async with plane.running():
        first_two = 2 * (BEGIN_TIMEOUT + FIRST_RETRY)
        took = await within(first_two, lambda: silent.sessions == 3)
        assert took >= first_two - SLACK
        status = plane.nodes["pe1"].status
        assert status.state is State.CONNECTING
        assert f"no session with {silent.address}: nobody answers" in status.detail
        said = [event for event in events if event.kind is Kind.NODE_DOWN]
        assert [event.node for event in said] == ["pe1"], "not with every attempt"
        await silent.start()
        await within(BEGIN_TIMEOUT + LAST_RETRY, lambda: plane.nodes["pe1"].is_up)


async def test_attempts_that_fail_leave_nothing_behind(config: Config, switches: Switches) -> None:
    async with virtual_plane_up(config) as plane:
        emitter = plane._members["pe1"].connection.switch.ee
        before = {event: len(emitter.listeners(event)) for event in emitter.event_names()}
        tasks = len(asyncio.all_tasks())
        silent = switches["pe1"]
        await silent.go_silent()
        await within(5 * (BEGIN_TIMEOUT + LAST_RETRY), lambda: silent.sessions == 4)
        waiting = len(emitter.listeners(fy.SwitchEvent.CHANNEL_READY))
        assert waiting <= before[fy.SwitchEvent.CHANNEL_READY] + 1, "that of this attempt"
        await silent.start()
        await all_up(plane)
        await until(lambda: len(asyncio.all_tasks()) <= tasks)
        assert {event: len(emitter.listeners(event)) for event in before} == before


@pytest.mark.parametrize(
    "phases", [range(0, 14, 5), pytest.param(range(14), marks=pytest.mark.exhaustive)]
)
async def test_a_switch_that_is_back_is_synchronized_soon_whenever_that_is(
    config: Config, switches: Switches, phases: range
) -> None:
    """Also after many failures, none of which takes any time."""
    async with virtual_plane_up(config) as plane:
        node, switch = plane.nodes["p1"], switches["p1"]
        for away in (0.3, 1.0, 3.0, 9.0, 60.0, *(20 + phase / 7 for phase in phases)):
            await switch.stop()
            await until(lambda: node.status.state is State.AWAY)
            await asyncio.sleep(away)
            await switch.start()
            await within(RECONNECT - SLACK, lambda: node.is_up)


async def test_a_switch_that_falls_silent_is_noticed_though_nobody_asks(
    config: Config, switches: Switches, caplog: pytest.LogCaptureFixture
) -> None:
    async with virtual_plane_up(config) as plane:
        thawed = switches["p1"].freeze()
        node = plane.nodes["p1"]
        await within(PROBE_INTERVAL + ANSWER_TIMEOUT, lambda: node.status.state is State.AWAY)
        detail = node.status.detail
        assert detail == "the switch does not answer: it is stopped, or overloaded; trying again"
        assert "Traceback" not in caplog.text
        thawed.set()
        await all_up(plane)


async def test_a_switch_that_answered_while_this_controller_stood_still_is_not_given_up(
    config: Config, switches: Switches, events: list[Event]
) -> None:
    """As on a machine that is paused, or when the process is stopped: the time for the answer is
    over before it can be read."""
    async with virtual_plane_up(config) as plane:
        node = plane.nodes["p1"]
        thawed = switches["p1"].freeze()
        await asyncio.sleep(PROBE_INTERVAL + SLACK)
        thawed.set()
        stand_still(ANSWER_TIMEOUT + BEGIN_TIMEOUT)
        await asyncio.sleep(PROBE_INTERVAL + SLACK)
        assert node.is_up
        assert not [event for event in events if event.kind is Kind.NODE_DOWN]


async def test_a_switch_that_took_a_message_while_this_controller_stood_still_is_not_given_up(
    config: Config, switches: Switches, events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with virtual_plane_up(config) as plane:
        connection = plane._members["p1"].connection
        write = connection.switch.write

        async def paused(messages: Any) -> None:  # noqa: ANN401
            stand_still(2 * SEND_TIMEOUT)
            await asyncio.sleep(SLACK)
            await write(messages)

        monkeypatch.setattr(connection.switch, "write", paused)
        assert await connection.send_packet(DC_PORT, bytes(64))
        await asyncio.sleep(SLACK)
        assert not [event for event in events if event.kind is Kind.NODE_DOWN]


async def test_a_switch_that_is_stopped_while_its_program_changes_has_refused_nothing(
    network: dict[str, Any], switches: Switches
) -> None:
    async with virtual_plane(parse_config(yaml.safe_dump(network))).running():
        await until(lambda: switches["pe1"].engines)
    thawed = switches["pe1"].freeze()
    plane = virtual_plane(parse_config(yaml.safe_dump(network | {"flow_control": "service"})))
    async with plane.running():
        node = plane.nodes["pe1"]
        await until(lambda: node.status.state is State.AWAY)
        detail = node.status.detail
        assert detail == "the switch does not answer: it is stopped, or overloaded; trying again"
        thawed.set()
        await all_up(plane)


async def test_a_switch_that_compiles_its_program_for_long_is_not_given_up(
    config: Config, switches: Switches, events: list[Event]
) -> None:
    """As on a busy machine: it answers all else."""
    time = asyncio.get_running_loop().time
    ready = time() + 2.5 * ANSWER_TIMEOUT

    async def compiled(_request: object) -> None:
        await asyncio.sleep(ready - time())

    switches["pe1"].before_program(compiled)
    async with virtual_plane(config).running():
        await until(lambda: Kind.NODE_UP in _kinds(events, "pe1"), seconds=6 * ANSWER_TIMEOUT)
    assert time() > ready
    assert Kind.NODE_DOWN not in _kinds(events, "pe1")


def _kinds(events: list[Event], node: str) -> list[Kind]:
    return [event.kind for event in events if event.node == node]


async def test_who_leads_is_written_once_however_often_a_switch_says_it(
    config: Config, switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane = virtual_plane(config)
    led, lead = list[str](), plane.store.lead

    def leads(node: str, turn: int) -> None:
        led.append(node)
        lead(node, turn)

    monkeypatch.setattr(plane.store, "lead", leads)
    async with plane.running():
        await all_up(plane)
        device = switches["pe1"]._device
        assert device is not None
        (client,) = device.arbitration.primaries()
        for _ in range(10):
            device.arbitration.complete(client)
        switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(33))
        await until(plane.flows.all)
        assert sorted(led) == sorted(switches)
        await switches["pe1"].stop()
        await until(lambda: plane.nodes["pe1"].status.state is State.AWAY)
        await switches["pe1"].start()
        await all_up(plane)
        assert led.count("pe1") == 2


async def test_a_switch_that_answers_late_hides_no_notification_of_others(
    config: Config, switches: Switches, events: list[Event]
) -> None:
    async with virtual_plane_up(config):
        thawed = switches["pe1"].freeze()
        await until(lambda: switches["pe1"].frozen > 0)
        cell, sent = enum_members("NotificationKind")["CNP"], count(1)

        def told() -> bool:
            value = CounterValue(next(sent), 0)
            switches["p1"].engine.counter_write("notifications_sent", cell, value)
            return any(event.message.startswith("p1: CNP_SENT +") for event in events)

        took = await within(ANSWER_TIMEOUT, told)
        assert took < ANSWER_TIMEOUT - SLACK
        thawed.set()


async def test_what_a_switch_refused_is_written_once_the_reason_is_gone(
    config: Config, switches: Switches, events: list[Event]
) -> None:
    async with virtual_plane_up(config) as plane:
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
        await within(2 * REFUSED_RETRY, lambda: engine.size("flow_ipv4") == 2)
        assert agent.refused == 2
        assert [event.kind for event in events].count(Kind.NODE_ERROR) == 2
