"""finsy, the server and the packet engine together, on in-memory ports."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import finsy as fy
import grpc
import pytest
from finsy import P4Schema
from finsy.p4entity import P4Entity
from finsy.proto import U128, p4r, p4r_grpc, rpc_code
from p4rt_testing import DEVICE_ID, P4BLOB, P4INFO, Session, config, host_entry, insert

from fcn.softswitch.api import Engine
from fcn.softswitch.engine import MemoryEngine, load_program, make_program
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.ports import Ports
from fcn.softswitch.p4rt.server import start_server
from fcn.softswitch.p4rt.transport import Transport

HOST = b"\x02\x00\x00\x00\x00\x01"
HOST_MAC = "02:00:00:00:00:01"
PEER = b"\x02\x00\x00\x00\x00\x02"
SECOND = 10**9
COMPILED = Path(__file__).parents[3] / "p4src" / "compiled"


@dataclass
class MemoryBackend:
    """Programs on in-memory ports."""

    engines: list[MemoryEngine] = field(default_factory=list)

    def build(self, device_config: bytes) -> None:
        make_program(device_config)

    def open(self, device_config: bytes) -> Engine:
        self.engines.append(MemoryEngine(make_program(device_config)))
        return self.engines[-1]

    def start(self, engine: Engine) -> None:
        """In-memory ports need no thread."""

    def close(self, engine: Engine) -> None:
        engine.close()

    def pause(self, engine: Engine) -> None:
        """In-memory ports only move when a test advances time."""

    def statistics(self, engine: Engine) -> dict[str, int]:
        return self.engine.statistics()

    @property
    def engine(self) -> MemoryEngine:
        return self.engines[-1]


@dataclass
class Served:
    """A device on in-memory ports and where it listens."""

    backend: MemoryBackend
    address: str

    def switch(self, p4info: Path, p4blob: Path) -> fy.Switch:
        options = fy.SwitchOptions(p4info=p4info, p4blob=p4blob, device_id=DEVICE_ID)
        return fy.Switch("sw", self.address, options)


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    backend = MemoryBackend()
    ports = Ports({1: "one", 2: "two", 3: "three"}, {})
    device = Device(DEVICE_ID, backend, ports.attach, ports.on_status)
    server, port = await start_server(device, ports, Transport("127.0.0.1:0"))
    yield Served(backend, f"127.0.0.1:{port}")
    await server.stop(None)
    await device.close()


@pytest.fixture
async def switch(served: Served) -> AsyncIterator[fy.Switch]:
    await built(P4BLOB)
    async with served.switch(P4INFO, P4BLOB) as switch:
        yield switch


async def built(program: Path) -> None:
    """Build it before finsy asks, whose requests end after ten seconds."""
    await asyncio.to_thread(load_program, program)


async def read(switch: fy.Switch, *entities: P4Entity) -> list[Any]:
    found: Any = switch.read(entities)
    return [entity async for entity in found]


def frame(dst: bytes = HOST, src: bytes = PEER, kind: int = 0x0800) -> bytes:
    return dst + src + kind.to_bytes(2, "big") + bytes(46)


def out(engine: MemoryEngine) -> list[tuple[int, bytes]]:
    engine.advance(SECOND // 1000)
    return [(output.port, output.data) for output in engine.outputs()]


async def test_priorities_const_entries_and_one_shots(served: Served, switch: fy.Switch) -> None:
    engine = served.backend.engine
    engine.inject(1, frame(kind=0x88B5))
    engine.inject(3, frame(kind=0x88B5))
    assert out(engine) == [(2, frame(kind=0x88B5)), (3, frame(kind=0x88B5))]
    await switch.insert(
        [
            fy.P4TableEntry(
                "route",
                match=fy.P4TableMatch(dst="02:00:00:00:00:00/40"),
                action=fy.P4IndirectAction([(1, fy.P4TableAction("send", port=3))]),
            ),
            fy.P4TableEntry(
                "acl",
                match=fy.P4TableMatch(type=(0x800, 0x8FF)),
                action=fy.P4TableAction("drop"),
                priority=1,
            ),
            fy.P4TableEntry(
                "acl",
                match=fy.P4TableMatch(port=1),
                action=fy.P4TableAction("NoAction"),
                priority=2,
            ),
        ]
    )
    engine.inject(1, frame())
    engine.inject(2, frame())
    assert out(engine) == [(3, frame())]


async def test_multicast(served: Served, switch: fy.Switch) -> None:
    engine = served.backend.engine
    await switch.insert(
        [
            fy.P4MulticastGroupEntry(7, replicas=(2, 3)),
            fy.P4TableEntry(
                "host",
                match=fy.P4TableMatch(dst=HOST_MAC),
                action=fy.P4TableAction("flood", group=7),
            ),
        ]
    )
    engine.inject(1, frame())
    assert sorted(out(engine)) == [(2, frame()), (3, frame())]


async def test_time_since_last_hit(served: Served, switch: fy.Switch) -> None:
    engine = served.backend.engine
    entry = fy.P4TableEntry(
        "host", match=fy.P4TableMatch(dst=HOST_MAC), action=fy.P4TableAction("send", port=2)
    )
    await switch.insert([entry])
    query = fy.P4TableEntry("host", time_since_last_hit=0)
    engine.advance(3 * SECOND)
    (idle,) = await read(switch, query)
    assert 3 * SECOND <= idle.time_since_last_hit < 4 * SECOND
    engine.inject(1, frame())
    engine.advance(SECOND)
    (hit,) = await read(switch, query)
    assert hit.time_since_last_hit <= SECOND


async def test_reconciled_state_forwards(served: Served, switch: fy.Switch) -> None:
    await switch.insert(
        [
            fy.P4TableEntry(
                "route",
                match=fy.P4TableMatch(dst="02:00:00:00:00:00/40"),
                action=fy.P4IndirectAction([(1, fy.P4TableAction("send", port=3))]),
            )
        ]
    )
    old = served.backend.engine
    old.inject(1, frame())
    assert out(old) == [(3, frame())]
    async with grpc.aio.insecure_channel(served.address) as channel:
        await p4r_grpc.P4RuntimeStub(channel).SetForwardingPipelineConfig(
            p4r.SetForwardingPipelineConfigRequest(
                device_id=DEVICE_ID,
                election_id=U128.encode(switch.election_id),
                action=p4r.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT,
                config=config(),
            )
        )
    engine = served.backend.engine
    assert engine is not old
    engine.inject(1, frame())
    assert out(engine) == [(3, frame())]
    (rx,) = await read(switch, fy.P4CounterEntry("port_rx", index=1))
    assert rx.packet_count == 2


async def test_an_entry_that_fell_idle_with_nobody_connected_is_told_later(served: Served) -> None:
    await built(P4BLOB)
    async with grpc.aio.insecure_channel(served.address) as channel:
        stub = p4r_grpc.P4RuntimeStub(channel)
        entry = host_entry(P4Schema(P4INFO), 1)
        entry.idle_timeout_ns = SECOND
        async with Session(stub, None) as backup:
            async with Session(stub, 1) as first:
                await first.arbitrate()
                await first.set_config(config())
                await first.write(insert(entry))
                await backup.arbitrate()
            assert (await backup.arbitration()).status.code == rpc_code.NOT_FOUND
        served.backend.engine.advance(10 * SECOND)
        async with Session(stub, 2) as later:
            await later.arbitrate()
            served.backend.engine.advance(SECOND)
            notice = (await asyncio.wait_for(later.receive(), 60)).idle_timeout_notification
            assert list(notice.table_entry) == [entry]
