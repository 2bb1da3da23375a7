"""Concurrency of Writes and arbitration, of builds and other requests; clients that time out."""

import asyncio
import threading

import grpc
import pytest
from finsy import P4Schema
from finsy.proto import p4r, p4r_grpc, rpc_code
from p4rt_testing import Running, Session, config, host_entry, insert, modify

from fcn.softswitch.api import ActionCall

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
