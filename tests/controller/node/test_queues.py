"""What waits at switches: asked of softswitch, and what is said of those that do not tell."""

import asyncio
from dataclasses import replace

import grpc
import pytest
from switches import MemorySwitch, plane_up

from fcn.contract.proto import trafficmanager_pb2 as tm
from fcn.contract.rpc import handler_of
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config
from fcn.controller.node import queues
from fcn.controller.northbound.client import FcnClient
from fcn.controller.northbound.serving import serving
from fcn.controller.proto import fcn_pb2 as pb
from fcn.softswitch.api import PortQueue


def _wait_at(switch: MemorySwitch, port: int, packets: int) -> None:
    switch.ports.interfaces[port] = f"port{port}"
    switch.ports.queues[port] = PortQueue()
    switch.ports.up[port] = True
    counters = switch.engine.port_counters(port)
    full = replace(counters, queue_peak=packets)
    setattr(switch.engine, "port_counters", lambda _port: full)  # noqa: B010


async def test_queues_have_levels_and_a_switch_that_is_away_has_none(
    config: Config, switches: dict[str, MemorySwitch]
) -> None:
    async with plane_up(config) as plane, serving(plane.network, "127.0.0.1:0") as api:
        first, *_, last = (each.amount for each in plane.nodes["p1"].provision.thresholds[2, 0])
        _wait_at(switches["p1"], 2, first)
        _wait_at(switches["pe1"], 1, 9)
        await switches["p2"].stop()
        with FcnClient(api) as client:
            found = await asyncio.to_thread(client.queues)
    assert sorted(found.queues, key=lambda each: each.node) == [
        pb.PortQueue(node="p1", port=2, packets=first, level=1, full=first / last),
        pb.PortQueue(node="pe1", port=1, packets=9),
    ]
    assert "p2" in found.untold["p2"]


class _Silent:
    """A traffic manager that never answers."""

    async def GetPorts(self, _request: object, _context: object) -> None:  # noqa: N802
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("service", "said"),
    [(object(), "its target does not tell how long queues are"), (_Silent(), "Deadline Exceeded")],
)
async def test_why_nobody_knows_is_said(
    config: Config,
    monkeypatch: pytest.MonkeyPatch,
    service: object,
    said: str,
) -> None:
    monkeypatch.setattr(queues, "TIMEOUT", 0.2)
    server = grpc.aio.server()
    names = tm.DESCRIPTOR.services_by_name["TrafficManager"]
    server.add_generic_rpc_handlers((handler_of(names, service),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        monkeypatch.setattr(queues, "channel_of", lambda _switch: channel)
        told = await ControlPlane(config).nodes["p1"].queues.read()
    await server.stop(None)
    assert isinstance(told, str)
    assert said in told
