"""How long a tenant waits beside another's flood, in virtual time where everything takes what it
takes a controller and switches with a third of a core each."""

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from ipaddress import ip_address
from typing import Any

import pytest
import yaml
from finsy.proto import p4r
from switches import all_up, until
from tenants import BLUE, DC_PORT, RED, RED_PORT, two_tenants
from virtual import Idle, VirtualSwitch, virtual_plane, virtual_switches

from fcn.contract.constants import CmAttribute
from fcn.controller.app import ControlPlane
from fcn.controller.config import parse_config
from fcn.controller.node.inbox import Inbox, Source
from fcn.controller.node.lateness import Lateness
from fcn.controller.owners.intent import Intent
from fcn.lab.control.channel import _Call
from fcn.lab.control.loop import NS, VirtualTimeLoop

US = 1_000
ROUND, LIST, REPORT, HANDLED = 100 * US, 300 * US, 15 * US, 600 * US
"""What takes the controller how long: a round of the event loop, to receive a list of reports and
each of them, to handle one."""
HAND_OVER = 2_000 * US
"""From when a list may be received until gRPC's thread hands it over; the next follows then."""
REQUEST, UPDATE = 500 * US, 15 * US
"""A request to write, and each update in it; a switch takes SLOWER times as long."""
SLOWER = 4

FLOOD, FAIR = 10_000, 100
"""Handshakes per second of either tenant."""
TICK = 0.005
SECONDS = 1.0

A, B = (int(ip_address(text)) for text in ("10.1.0.10", "10.2.0.20"))


class BusyLoop(VirtualTimeLoop):
    """Each round of it takes a while."""

    def __init__(self, world: Idle) -> None:
        super().__init__(world)
        self.world = world

    def _run_once(self) -> None:
        self.world.now_ns += ROUND
        super()._run_once()  # type: ignore[misc]


def taking(
    world: Idle, function: Callable[..., Any], cost: Callable[..., int]
) -> Callable[..., Any]:
    """The function, which takes a while that depends on its result and arguments."""

    def longer(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        result = function(*arguments, **named)
        world.now_ns += cost(result, *arguments)
        return result

    return longer


def make_busy(world: Idle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the controller's work take time."""
    following = _Call.next

    async def handed_over(self: _Call) -> bytes | None:
        await asyncio.sleep(HAND_OVER / NS)
        return await following(self)

    monkeypatch.setattr(_Call, "next", handed_over)
    put = Inbox.put

    def busy_put(
        self: Inbox,
        node: str,
        source: Source,
        handle: Callable[[], None],
        failed: Callable[[], None],
        sent: float | None = None,
    ) -> None:
        put(self, node, source, taking(world, handle, lambda *_: HANDLED), failed, sent)

    monkeypatch.setattr(Inbox, "put", busy_put)
    monkeypatch.setattr(Lateness, "of", taking(world, Lateness.of, lambda *_: LIST))
    monkeypatch.setattr(Inbox, "admits", taking(world, Inbox.admits, lambda *_: REPORT))
    monkeypatch.setattr(
        Intent,
        "take_updates",
        taking(world, Intent.take_updates, lambda updates, *_: REQUEST + UPDATE * len(updates)),
    )


def make_slow(switch: VirtualSwitch) -> None:
    """Let the switch apply one request after the other, and each takes a while."""
    device = switch._device
    assert device is not None
    write, one_at_a_time = device.write, asyncio.Lock()

    async def slow(request: p4r.WriteRequest) -> Any:  # noqa: ANN401
        async with one_at_a_time:
            await asyncio.sleep(SLOWER * (REQUEST + UPDATE * len(request.updates)) / NS)
            return await write(request)

    setattr(device, "write", slow)  # noqa: B010


def record(switch: VirtualSwitch, written: dict[tuple[int, int], float]) -> None:
    """When flows of the tenant are labelled, by source and queue pair."""
    engine, loop = switch.engine, asyncio.get_running_loop()
    insert = engine.table_insert

    def recorded(table: str, match: Sequence[Any], *more: Any) -> int:  # noqa: ANN401
        if table.endswith("flow_ipv4"):
            vrf, src, _, dest_qp = (key.value for key in match)
            if vrf == BLUE:
                written[src, dest_qp] = loop.time()
        return insert(table, match, *more)

    setattr(engine, "table_insert", recorded)  # noqa: B010


def offer(switches: dict[str, VirtualSwitch], vrf: int, first: int, count: int) -> None:
    """Handshakes whose messages the PEs report now."""
    numbers = range(first, first + count)
    port = {BLUE: DC_PORT, RED: RED_PORT}[vrf]
    requests = [(vrf, A, B, CmAttribute.REQ, 1 + n, 0, 0x100 + n, port) for n in numbers]
    replies = [
        (vrf, B, A, CmAttribute.REP, 0x80000000 + n, 1 + n, 0x800000 + n, port) for n in numbers
    ]
    switches["pe1"].engine.digest("cm_ipv4_t", *requests)
    switches["pe2"].engine.digest("cm_ipv4_t", *replies)


async def waits(
    network: dict[str, Any], world: Idle, monkeypatch: pytest.MonkeyPatch
) -> list[float]:
    """Seconds from a reply to both entries, of each handshake of the tenant beside the flood."""
    async with AsyncExitStack() as stack:
        some = await stack.enter_async_context(virtual_switches(len(network["nodes"])))
        switches = dict(zip(network["nodes"], some, strict=True))
        for name, switch in switches.items():
            network["nodes"][name] |= {"grpc": switch.address, "device_id": switch.device_id}
        plane: ControlPlane = virtual_plane(parse_config(yaml.safe_dump(network)))
        await stack.enter_async_context(plane.running())
        await all_up(plane)
        written: dict[tuple[int, int], float] = {}
        for name in ("pe1", "pe2"):
            make_slow(switches[name])
            record(switches[name], written)
        make_busy(world, monkeypatch)
        loop = asyncio.get_running_loop()
        begun, offered = loop.time(), dict.fromkeys((RED, BLUE), 0)
        sent = []
        while (passed := loop.time() - begun) < SECONDS:
            # As many as are due by now: the switches do not wait for the controller.
            for vrf, rate in ((RED, FLOOD), (BLUE, FAIR)):
                due = math.ceil(passed * rate) - offered[vrf]
                if due > 0:
                    offer(switches, vrf, offered[vrf], due)
                    offered[vrf] += due
                    sent += [loop.time()] * due if vrf == BLUE else []
            await asyncio.sleep(TICK)
        await until(lambda: len(written) == 2 * offered[BLUE])
        assert len(plane.flows.on_node("pe1")) < offered[RED] / 2, "more than it can handle"
        return [
            max(written[A, 0x800000 + number], written[B, 0x100 + number]) - when
            for number, when in enumerate(sent)
        ]


def test_a_tenant_waits_a_tenth_of_a_second_at_most(
    network: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = Idle()
    with asyncio.Runner(loop_factory=lambda: BusyLoop(world)) as runner:
        found = sorted(runner.run(waits(two_tenants(network), world, monkeypatch)))
    assert len(found) >= SECONDS * FAIR
    assert found[math.ceil(0.99 * len(found)) - 1] < 0.1
