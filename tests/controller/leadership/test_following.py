"""A controller that waits reads from whoever leads now."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Self

import grpc
import pytest
from led import Silent, leads, one_of_three
from virtual import DELAY_NS, stand_still

from fcn.contract.rpc import handler_of
from fcn.controller.northbound.following import SIGN_OF_LIFE, SILENCE, follow
from fcn.controller.proto import fcn_pb2 as pb
from fcn.lab.control.channel import Channel
from fcn.lab.control.link import ControlLink
from fcn.lab.control.server import Server


class Peer:
    """A controller's API that says one thing, and then nothing, as one that is stopped."""

    def __init__(self, image: bytes) -> None:
        self._image = image

    async def FollowState(  # noqa: N802
        self, _request: pb.FollowStateRequest, _context: object
    ) -> AsyncIterator[pb.FollowStateResponse]:
        yield pb.FollowStateResponse(image=self._image)
        await asyncio.Event().wait()


async def _serve(address: str, image: bytes) -> grpc.aio.Server:
    server = grpc.aio.server()
    service = pb.DESCRIPTOR.services_by_name["Fcn"]
    server.add_generic_rpc_handlers((handler_of(service, Peer(image)),))
    server.add_insecure_port(address)
    await server.start()
    return server


async def test_a_leader_that_hangs_is_left_when_another_oneleads(tmp_path: Path) -> None:
    addresses = {number: f"unix:{tmp_path}/{number}" for number in (2, 3)}
    servers = [await _serve(each, str(number).encode()) for number, each in addresses.items()]
    leadership, kept = one_of_three(), asyncio.Queue[bytes]()
    following = asyncio.create_task(follow(leadership, addresses, None, kept.put_nowait))
    for turn, number in enumerate((2, 3, 2), 1):
        leads(leadership, turn, number)
        assert await asyncio.wait_for(kept.get(), 30) == str(number).encode()
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    for server in servers:
        await server.stop(None)


async def test_a_leader_that_says_nothing_is_succeeded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fcn.controller.northbound.following.SILENCE", 0.05)
    address = f"unix:{tmp_path}/2"
    server = await _serve(address, b"2")
    leadership, kept, bid = one_of_three(), asyncio.Queue[bytes](), asyncio.Event()
    leads(leadership, 1, 2)
    monkeypatch.setattr(Silent, "take", lambda _: bid.set())
    following = asyncio.create_task(follow(leadership, {2: address}, None, kept.put_nowait))
    await asyncio.wait_for(bid.wait(), 30)
    assert kept.get_nowait() == b"2"
    assert leadership.bid_for("a") is not None
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    await server.stop(None)


class Opened(Channel):
    """A channel in virtual time that is closed at the end, as gRPC's."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class Speaker:
    """A controller's API that says every second that it is there."""

    async def FollowState(  # noqa: N802
        self, _request: pb.FollowStateRequest, _context: object
    ) -> AsyncIterator[pb.FollowStateResponse]:
        while True:
            yield pb.FollowStateResponse()
            await asyncio.sleep(SIGN_OF_LIFE)


@pytest.mark.virtual_time
async def test_a_pause_of_its_own_is_no_silence_of_the_leader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As of a machine that stands still, or of a process that is stopped: what the leader says is
    there, and not yet read."""
    server = Server(lambda _method, _message: None)
    service = pb.DESCRIPTOR.services_by_name["Fcn"]
    server.add_generic_rpc_handlers((handler_of(service, Speaker()),))
    monkeypatch.setattr(
        "fcn.controller.northbound.following.channel_to",
        lambda *_: Opened(ControlLink(DELAY_NS), lambda: server),
    )
    leadership, heard, silent = one_of_three(), asyncio.Event(), list[int]()
    monkeypatch.setattr(leadership, "speaks", lambda _: heard.set())
    monkeypatch.setattr(leadership, "fell_silent", silent.append)
    leads(leadership, 1, 2)
    following = asyncio.create_task(follow(leadership, {2: "two"}, None, lambda _: None))
    for _ in range(3):
        heard.clear()
        await heard.wait()
        stand_still(4 * SILENCE)
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    assert not silent


@pytest.mark.parametrize("number", [1, 7])
async def test_nobody_else_is_followed(number: int, caplog: pytest.LogCaptureFixture) -> None:
    """Neither one under this name, nor one that the file does not name."""
    leadership, kept = one_of_three(), asyncio.Queue[bytes]()
    addresses = {2: "unix:/nowhere"}
    following = asyncio.create_task(follow(leadership, addresses, None, kept.put_nowait))
    leads(leadership, 1, number)
    while "is no other of `controllers` here" not in caplog.text:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
