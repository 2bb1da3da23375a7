"""Concurrency of Writes and arbitration, of builds and other requests; clients that time out, that
vanish, and too many of them."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from finsy import P4Schema
from finsy.proto import p4r, p4r_grpc, rpc_code
from p4rt_testing import (
    DEVICE_ID,
    FakeBackend,
    Running,
    Session,
    config,
    host_entry,
    insert,
    modify,
)

from fcn.softswitch.api import ActionCall
from fcn.softswitch.p4rt import server as server_module
from fcn.softswitch.p4rt import service as service_module
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.ports import Ports
from fcn.softswitch.p4rt.server import start_server
from fcn.softswitch.p4rt.transport import Transport

SEND = "KitchenIngress.send"


class Gate:
    """A build that lasts until the test ends it."""

    def __init__(self, running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()
        monkeypatch.setattr(running.backend, "build", self._build)

    def _build(self, device_config: bytes) -> None:
        self.entered.set()
        assert self.open.wait(10)

    async def reached(self) -> None:
        assert await asyncio.to_thread(self.entered.wait, 10)


async def test_a_new_primary_waits_for_writes_in_flight(
    running: Running, stub: p4r_grpc.P4RuntimeStub, primary: Session, schema: P4Schema
) -> None:
    await primary.write(insert(host_entry(schema, 1)))
    changed = host_entry(schema, 1)
    changed.action.action.params[0].value = b"\x03"
    async with Session(stub, 5) as second:
        writing = asyncio.create_task(primary.write(*[modify(changed)] * 20_000))
        engine = running.backend.engine
        while [entry[3] for entry in engine.entries.values()] == [ActionCall(SEND, (2,))]:  # noqa: ASYNC110
            await asyncio.sleep(0)
        taking_over = asyncio.create_task(second.arbitrate())
        demoted = await primary.arbitration()
        assert demoted.status.code == rpc_code.ALREADY_EXISTS
        assert not writing.done()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await primary.write()
        assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
        assert not taking_over.done()
        await writing
        assert (await taking_over).status.code == rpc_code.OK


WILDCARDS = 20_000
"""Of one request: what they find is more than waits on the way to a client that does not read."""


async def test_writes_go_on_during_a_read_of_many_wildcards(
    stub: p4r_grpc.P4RuntimeStub, primary: Session, schema: P4Schema
) -> None:
    """Of which later ones see what was written then."""
    await primary.write(insert(host_entry(schema, 1)))
    reading = _read_wildcards(stub, schema)
    seen = len((await anext(reading)).entities)
    await primary.write(insert(host_entry(schema, 2)))
    async for response in reading:
        seen += len(response.entities)
    assert WILDCARDS < seen < 2 * WILDCARDS


async def test_a_read_ends_where_the_pipeline_is_replaced(
    stub: p4r_grpc.P4RuntimeStub, primary: Session, schema: P4Schema
) -> None:
    await primary.write(insert(host_entry(schema, 1)))
    reading = _read_wildcards(stub, schema)
    await anext(reading)
    await primary.set_config(config(cookie=2))
    with pytest.raises(grpc.aio.AioRpcError, match="the pipeline was replaced") as refused:
        async for _response in reading:
            pass
    assert refused.value.code() == grpc.StatusCode.ABORTED


def _read_wildcards(
    stub: p4r_grpc.P4RuntimeStub, schema: P4Schema
) -> AsyncIterator[p4r.ReadResponse]:
    table = p4r.Entity(table_entry=p4r.TableEntry(table_id=schema.tables["host"].id))
    call: Any = stub.Read(p4r.ReadRequest(device_id=DEVICE_ID, entities=[table] * WILDCARDS))
    return aiter(call)


async def test_everything_goes_on_while_a_pipeline_is_built(
    running: Running, primary: Session, schema: P4Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(running, monkeypatch)
    setting = asyncio.create_task(primary.set_config(config(cookie=2)))
    await gate.reached()
    await primary.write(insert(host_entry(schema, 1)))
    response = await primary.get_config(p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY)
    assert response.config.cookie.cookie == 7
    gate.open.set()
    await setting
    assert len(running.backend.engines) == 2
    assert running.backend.engine.started


async def test_a_primary_that_lost_its_standing_does_not_commit(
    running: Running,
    stub: p4r_grpc.P4RuntimeStub,
    primary: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = Gate(running, monkeypatch)
    setting = asyncio.create_task(primary.set_config(config(cookie=2)))
    await gate.reached()
    async with Session(stub, 5) as second:
        await second.arbitrate()
        gate.open.set()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await setting
        assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
    assert len(running.backend.engines) == 1


async def test_a_commit_is_finished_for_a_client_that_gave_up(
    running: Running, primary: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(running, monkeypatch)
    setting = asyncio.create_task(primary.set_config(config(cookie=2)))
    await gate.reached()
    setting.cancel()
    gate.open.set()
    cookie = 7
    async with asyncio.timeout(5):
        while cookie != 2:
            answer = await primary.get_config(p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY)
            cookie = answer.config.cookie.cookie
    assert running.backend.engines[0].closed


async def test_writes_of_many_tasks_are_all_applied(
    running: Running, primary: Session, schema: P4Schema
) -> None:
    await asyncio.gather(*(primary.write(insert(host_entry(schema, n))) for n in range(1, 61)))
    assert len(running.backend.engine.entries) == 60


@asynccontextmanager
async def relay(address: str) -> AsyncIterator[tuple[str, Callable[[], None]]]:
    """A TCP relay to a server: where it listens, and what makes it fall silent, as a cable that is
    cut does: nothing is closed."""
    host, _, port = address.rpartition(":")
    copies: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection(host, int(port))
        writers.extend((writer, server_writer))
        copies.add(asyncio.create_task(copy(reader, server_writer)))
        copies.add(asyncio.create_task(copy(server_reader, writer)))

    def fall_silent() -> None:
        for task in copies:
            task.cancel()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", fall_silent
    finally:
        fall_silent()
        for writer in writers:
            writer.close()
        server.close()


async def test_strangers_leave_descriptors_to_the_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who connects is refused where so many are connected."""
    monkeypatch.setattr(server_module, "CONNECTIONS", 3)
    device = Device(DEVICE_ID, FakeBackend())
    server, port = await start_server(device, Ports({}, {}), Transport("127.0.0.1:0"))
    try:
        streams = [await asyncio.open_connection("127.0.0.1", port) for _ in range(4)]
        ends = [asyncio.create_task(reader.read()) for reader, _ in streams]
        # One that is served is told the settings, and read on.
        ended, _ = await asyncio.wait(ends, timeout=60, return_when=asyncio.FIRST_COMPLETED)
        assert [each.result() for each in ended] == [b""]
        for end, (_, writer) in zip(ends, streams, strict=True):
            end.cancel()
            writer.close()
    finally:
        await server.stop(None)
        await device.close()


async def test_a_primary_whose_cable_was_cut_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing closes its connection, which the system would keep for hours."""
    monkeypatch.setattr(server_module, "KEEPALIVE_MS", 500)
    monkeypatch.setattr(server_module, "KEEPALIVE_TIMEOUT_MS", 500)
    device = Device(DEVICE_ID, FakeBackend())
    server, port = await start_server(device, Ports({}, {}), Transport("127.0.0.1:0"))
    direct = f"127.0.0.1:{port}"
    try:
        async with (
            relay(direct) as (relayed, fall_silent),
            grpc.aio.insecure_channel(direct) as near,
            grpc.aio.insecure_channel(relayed) as far,
            Session(p4r_grpc.P4RuntimeStub(near), 3) as backup,
            Session(p4r_grpc.P4RuntimeStub(far), 5) as primary,
        ):
            await primary.arbitrate()
            assert (await backup.arbitrate()).status.code == rpc_code.ALREADY_EXISTS
            fall_silent()
            lost = await asyncio.wait_for(backup.arbitration(), 60)
            assert lost.status.code == rpc_code.NOT_FOUND
    finally:
        await server.stop(None)
        await device.close()


async def test_streams_are_bounded(
    stub: p4r_grpc.P4RuntimeStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that ends makes room for another."""
    monkeypatch.setattr(service_module, "MAX_STREAMS", 2)
    async with Session(stub, 1) as one:
        await one.arbitrate()
        async with Session(stub, 2) as two:
            await two.arbitrate()
            await one.arbitration()
            async with Session(stub, 3) as three:
                # Nothing is sent: a request that meets the end of its stream hides the reason.
                with pytest.raises(grpc.aio.AioRpcError, match="2 streams are open already"):
                    await three.receive()
        assert (await one.arbitration()).status.code == rpc_code.NOT_FOUND
        async with Session(stub, 3) as three:
            await three.arbitrate()


async def test_an_error_of_work_that_its_client_left_is_told_to_nobody() -> None:
    """As of a pipeline that was compiled for a controller that is primary no more."""
    told, go = list[object](), asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(context))

    async def work() -> None:
        await go.wait()
        raise ValueError("not primary")

    waiting = asyncio.create_task(service_module._finish(work()))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    go.set()
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()}, timeout=20)
    gc.collect()
    assert not told
