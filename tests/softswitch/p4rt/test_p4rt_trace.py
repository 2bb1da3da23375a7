"""The Trace service: stories over gRPC, who may ask, and what becomes of the switch meanwhile."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from finsy.proto import p4r, p4r_grpc
from p4rt_testing import Session

from fcn.bench.tracing import MemoryBackend
from fcn.contract.rpc import Stub
from fcn.softswitch.api import ActionCall, Exact
from fcn.softswitch.engine import MemoryEngine
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.ports import Ports
from fcn.softswitch.p4rt.server import start_server
from fcn.softswitch.p4rt.trace import LONGEST_MS, MOST_STORIES, _is_near
from fcn.softswitch.p4rt.transport import Transport
from fcn.softswitch.proto import trace_pb2 as pb
from fcn.softswitch.tracer.alone import Alone, read_config, updates
from fcn.softswitch.tracer.live import Where, copy_of
from fcn.softswitch.tracer.show import ShowError

KITCHEN = Path(__file__).parents[1] / "p4" / "kitchen.json"
MAC = 0x112233445566
FRAME = bytes.fromhex("1122334455660a000000000188b6")
PATIENCE = 300


@dataclass
class Switch:
    device: Device
    address: str
    stub: Any
    p4r: p4r_grpc.P4RuntimeStub

    @property
    def engine(self) -> MemoryEngine:
        engine = self.device.forwarding()
        assert isinstance(engine, MemoryEngine)
        return engine


@pytest.fixture
async def switch() -> AsyncIterator[Switch]:
    ports = Ports({}, {})
    device = Device(1, MemoryBackend(), ports.attach, ports.on_status)
    server, port = await start_server(device, ports, Transport("127.0.0.1:0"))
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        stubs = (
            Stub(channel, pb.DESCRIPTOR.services_by_name["Trace"]),
            p4r_grpc.P4RuntimeStub(channel),
        )
        yield Switch(device, f"127.0.0.1:{port}", *stubs)
    await server.stop(None)
    await device.close()


@pytest.fixture
async def kitchen(switch: Switch) -> Switch:
    await switch.device.preload(read_config(KITCHEN, None))
    forward = ActionCall("I.forward", (2, 7))
    switch.engine.table_insert("I.l2", [Exact(MAC), Exact(1)], 0, forward)
    return switch


async def _refused(switch: Switch, **request: object) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        async for _ in switch.stub.Tell(pb.TellRequest(**request), timeout=PATIENCE):
            pass
    error: grpc.aio.AioRpcError = refused.value
    return error


async def test_stories_of_packets_that_pass_meanwhile(kitchen: Switch) -> None:
    plain = kitchen.engine.program
    call = kitchen.stub.Tell(
        pb.TellRequest(port=1, count=2, match=["eth.type=0x88b6"]), timeout=PATIENCE
    )
    assert (await call.read()).ready
    assert kitchen.engine.program is not plain
    for port in (1, 3, 1):
        kitchen.engine.inject(port, FRAME)
    told = [await call.read() for _ in range(3)]
    stories = [json.loads(each.story) for each in told[:2]]
    assert [story["packet"]["port"] for story in stories] == [1, 1]
    assert all(story["complete"] for story in stories)
    assert (told[2].summary.stories, told[2].summary.passed, told[2].summary.lost) == (2, 1, 0)
    assert await call.read() is grpc.aio.EOF
    assert kitchen.engine.program is plain


async def test_it_ends_when_time_is_over(kitchen: Switch) -> None:
    call = kitchen.stub.Tell(pb.TellRequest(milliseconds=50), timeout=PATIENCE)
    told = [each.WhichOneof("what") async for each in call]
    assert told == ["ready", "summary"]


async def test_it_ends_when_the_client_is_gone(kitchen: Switch) -> None:
    plain = kitchen.engine.program
    call = kitchen.stub.Tell(pb.TellRequest(milliseconds=LONGEST_MS), timeout=PATIENCE)
    assert (await call.read()).ready
    assert kitchen.engine.program is not plain
    call.cancel()
    async with asyncio.timeout(PATIENCE):
        while kitchen.engine.program is not plain:  # noqa: ASYNC110 - the server changes it
            await asyncio.sleep(0)
    kitchen.engine.inject(1, FRAME)
    assert len(kitchen.engine.outputs()) == 1


async def test_another_pipeline_ends_it(kitchen: Switch) -> None:
    call = kitchen.stub.Tell(pb.TellRequest(milliseconds=LONGEST_MS), timeout=PATIENCE)
    assert (await call.read()).ready
    await kitchen.device.preload(read_config(KITCHEN, None))
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call.read()
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    kitchen.engine.inject(1, FRAME)


async def test_one_at_a_time(kitchen: Switch) -> None:
    call = kitchen.stub.Tell(pb.TellRequest(milliseconds=LONGEST_MS), timeout=PATIENCE)
    assert (await call.read()).ready
    error = await _refused(kitchen)
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    call.cancel()


async def test_a_copy_of_a_switch_does_what_the_switch_would(kitchen: Switch) -> None:
    info = read_config(KITCHEN, None).p4info
    table = next(t for t in info.tables if t.preamble.name == "I.l2")
    action = next(a for a in info.actions if a.preamble.name == "I.forward")
    entry = p4r.TableEntry(
        table_id=table.preamble.id,
        match=[
            p4r.FieldMatch(field_id=1, exact=p4r.FieldMatch.Exact(value=FRAME[:6])),
            p4r.FieldMatch(field_id=2, exact=p4r.FieldMatch.Exact(value=b"\3")),
        ],
    )
    entry.action.action.action_id = action.preamble.id
    for number, given in enumerate((b"\2", b"\7"), 1):
        entry.action.action.params.add(param_id=number, value=given)
    async with Session(kitchen.p4r) as session:
        await session.arbitrate()
        insert = p4r.Update(type=p4r.Update.INSERT, entity=p4r.Entity(table_entry=entry))
        await session.write(insert)
    where = Where(kitchen.address)
    config, entities = await asyncio.to_thread(copy_of, where, 1)
    alone = await asyncio.to_thread(Alone, config, updates(entities), "pe1")
    (story,) = await asyncio.to_thread(lambda: list(alone.tell([FRAME], 3)))
    assert (story.node, story.packet.steps[-1].what) == ("pe1", "port 2")
    with pytest.raises(ShowError, match="device 9 is not here"):
        await asyncio.to_thread(copy_of, where, 9)
    with pytest.raises(ShowError, match="no switch answers"):
        await asyncio.to_thread(copy_of, Where("unix:/nonexistent/switch"), 1)


async def test_what_cannot_be_is_refused(kitchen: Switch) -> None:
    for request in (
        {"count": MOST_STORIES + 1},
        {"milliseconds": LONGEST_MS + 1},
        {"match": ["eth.type=1"] * 33},
        {"match": ["eth.colour=red"]},
    ):
        error = await _refused(kitchen, **request)
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT, request


async def test_a_switch_without_a_program_says_so(switch: Switch) -> None:
    error = await _refused(switch)
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "no program yet" in (error.details() or "")


def test_who_is_on_this_machine() -> None:
    near = ("unix:", "unix:/run/x", "ipv4:127.0.0.1:4", "ipv4:127.5.0.1:4", "ipv6:%5B::1%5D:4")
    assert [peer for peer in near if not _is_near(peer)] == []
    others = ("ipv4:192.0.2.1:127", "ipv6:%5B2001:db8::1%5D:1", "ipv4:128.0.0.1:1", "ipv4:x:1", "")
    assert [peer for peer in others if _is_near(peer)] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace")
def test_who_uses_an_address_of_this_machine_is_on_it() -> None:
    program = """
from fcn.softswitch.p4rt.trace import _is_near
print(*(_is_near(f"ipv4:192.0.2.{n}:7") for n in (1, 2)), _is_near("ipv6:%5B2001:db8::1%5D:7"))
"""
    addresses = [f"ip addr add {each} dev lo" for each in ("192.0.2.1/32", "2001:db8::1/128")]
    script = "; ".join(["set -e", "ip link set lo up", *addresses, 'exec "$@"'])
    command = ["unshare", "--net", "sh", "-c", script, "sh", sys.executable, "-c", program]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.split() == ["True", "False", "True"]
