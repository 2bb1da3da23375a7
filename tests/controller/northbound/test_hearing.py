"""What controllers of another region say counts where it can be true, whatever they send."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml
from switches import until
from typer.testing import CliRunner

from fcn.contract.constants import CmAttribute
from fcn.contract.rpc import handler_of
from fcn.controller.app import ControlPlane
from fcn.controller.cli.commands import app
from fcn.controller.config import Config, parse_config
from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.regions import WAITING, CmReport, Outbox, OutboxFullError
from fcn.controller.northbound import regions
from fcn.controller.northbound.regions import LARGEST, hear
from fcn.controller.northbound.serving import serving
from fcn.controller.pace import TURN
from fcn.controller.proto import fcn_pb2 as pb

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
MANY = 10 * TURN
GOOD: dict[str, Any] = {
    "node": "pe2",
    "port": 1,
    "vrf": "blue",
    "src": B.packed,
    "dst": A.packed,
    "attribute": CmAttribute.REP,
    "local_comm_id": 2,
    "remote_comm_id": 1,
    "qpn": 33,
}
BROKEN: tuple[dict[str, Any], ...] = (
    {"src": b"", "dst": b"123"},
    {"dst": bytes(16)},
    {"qpn": 1 << 24},
    {"node": "pe2" * LARGEST},
)
UNTRUE: tuple[dict[str, Any], ...] = (
    {"node": "pe1"},
    {"node": "p2"},
    {"node": "nobody"},
    {"vrf": "red"},
    {"port": 99},
    {"src": A.packed},
    {"attribute": 0xFFFF},
)


def _page(*changes: dict[str, Any]) -> pb.FollowConnectionsResponse:
    messages = [pb.ConnectionMessage(**(GOOD | change)) for change in changes]
    return pb.FollowConnectionsResponse(messages=messages)


class Peer:
    """A controller that says everything that is wrong, and one thing that is not."""

    async def FollowConnections(  # noqa: N802
        self, request: pb.FollowConnectionsRequest, _context: object
    ) -> AsyncIterator[pb.FollowConnectionsResponse]:
        assert request.region == "west"
        for change in (*BROKEN[:-1], *UNTRUE, {}):
            yield _page(change)
        yield _page(BROKEN[-1])


async def test_what_cannot_be_is_not_believed(
    network: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    address = f"unix:{tmp_path}/east"
    network["controllers"] = {"east": address, "west": f"unix:{tmp_path}/west"}
    network["regions"] = {"east": ["east"], "west": ["west"]}
    del network["api"]
    for name, node in network["nodes"].items():
        node["region"] = "west" if name.endswith("1") else "east"
    plane = ControlPlane(parse_config(yaml.safe_dump(network)), me="west")
    request = CmMessage("blue", A, B, CmAttribute.REQ, 1, 0, 17)
    plane.flows.connection_message("pe1", 1, request)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((handler_of(pb.DESCRIPTOR.services_by_name["Fcn"], Peer()),))
    server.add_insecure_port(address)
    await server.start()
    heard: list[CmReport] = []
    silent: list[str] = []
    hearing = asyncio.create_task(hear("east", address, None, "west", heard.append, silent.append))
    await until(lambda: "larger than max" in caplog.text, "the page that is too large")
    hearing.cancel()
    assert silent[:2] == ["it has not answered yet", ""]
    assert "larger than max" in silent[2]
    await asyncio.gather(hearing, return_exceptions=True)
    await server.stop(None)
    assert len(heard) % (len(UNTRUE) + 1) == 0
    async with plane.running():
        for report in heard:
            plane.hear("east", report)
        await until(plane.flows.all)
    (flow,) = plane.flows.all()
    assert (flow.key, flow.source_qp) == (FlowKey("blue", A, B, 33), 17)


class Standstill:
    """A controller that takes calls, and answers none."""

    async def FollowConnections(  # noqa: N802
        self, _request: pb.FollowConnectionsRequest, _context: object
    ) -> AsyncIterator[pb.FollowConnectionsResponse]:
        await asyncio.Event().wait()
        yield _page()


async def test_a_controller_that_does_not_answer_is_named(
    config: Config,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(regions, "ANSWER", 0.1)
    plane, address = ControlPlane(config), f"unix:{tmp_path}/east"
    silent = plane.flows.regions.silent
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        (handler_of(pb.DESCRIPTOR.services_by_name["Fcn"], Standstill()),)
    )
    server.add_insecure_port(address)
    await server.start()
    told = partial(silent.__setitem__, ("east", "east-1"))
    hearing = asyncio.create_task(hear("east-1", address, None, "west", lambda _: None, told))
    reason = "it takes calls, and does not answer within 0.1 s"
    await until(lambda: f"{address}) is not heard: {reason}" in caplog.text, "the warning")
    line = f"no controller of region east is heard (east-1: {reason})"
    async with serving(plane.network, "127.0.0.1:0") as api:
        assert line in (await asyncio.to_thread(status, api))
        silent["east", "east-2"] = ""
        assert "no controller" not in (await asyncio.to_thread(status, api)), "one is enough"
    hearing.cancel()
    await asyncio.gather(hearing, return_exceptions=True)
    await server.stop(None)


def status(api: str) -> str:
    return CliRunner().invoke(app, ["status", "--api", api]).output


class Flood:
    """A controller that says as much at once as a page can have."""

    async def FollowConnections(  # noqa: N802
        self, _request: pb.FollowConnectionsRequest, _context: object
    ) -> AsyncIterator[pb.FollowConnectionsResponse]:
        yield _page(*[{}] * MANY)


async def test_others_have_their_turn_while_much_is_heard(tmp_path: Path) -> None:
    address, turns = f"unix:{tmp_path}/east", 0
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((handler_of(pb.DESCRIPTOR.services_by_name["Fcn"], Flood()),))
    server.add_insecure_port(address)
    await server.start()
    heard_in: list[int] = []

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def take(_report: CmReport) -> None:
        heard_in.append(turns)

    tasks = [
        asyncio.create_task(hear("east", address, None, "west", take, lambda _: None)),
        asyncio.create_task(other()),
    ]
    await until(lambda: len(heard_in) >= MANY)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await server.stop(None)
    assert max(Counter(heard_in[:MANY]).values()) <= TURN


def test_who_takes_too_little_asks_again() -> None:
    outbox = Outbox("east")
    report = CmReport("pe1", 1, CmMessage("blue", A, B, CmAttribute.REQ, 1, 0, 17))
    for _ in range(3):
        outbox.put(report)
    assert [len(outbox.take(2)), len(outbox.take(2)), len(outbox.take(2))] == [2, 1, 0]
    for _ in range(WAITING):
        outbox.put(report)
    with pytest.raises(OutboxFullError, match="messages wait"):
        outbox.take(2)
