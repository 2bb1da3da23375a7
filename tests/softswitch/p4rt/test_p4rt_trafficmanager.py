"""Queue settings, port counters and queue samples."""

from collections.abc import AsyncIterator

import grpc
import pytest
from finsy.proto import p4r_grpc
from p4rt_testing import Running, Session, config
from traffic_manager import manager_at, ports_of, set_queue, statistics

from fcn.contract.proto import trafficmanager_pb2 as tm
from fcn.contract.rpc import Stub
from fcn.contract.targets import V1MODEL
from fcn.softswitch.api import PortQueue
from fcn.softswitch.p4rt.ports import CLOCK_RATE


@pytest.fixture
async def client(running: Running) -> AsyncIterator[Stub]:
    async with grpc.aio.insecure_channel(running.address) as channel:
        yield manager_at(channel)


@pytest.fixture
async def pipeline(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub) as session:
        await session.arbitrate()
        await session.set_config(config())


@pytest.mark.usefixtures("pipeline")
async def test_ports(running: Running, client: Stub) -> None:
    ports = await ports_of(client)
    assert sorted(ports) == [1, 2, 3]
    assert ports[2].interface == "test2"
    assert ports[2].counters.rx_packets == 2
    assert ports[2].counters.queue_peak == 4
    assert not ports[2].up
    running.backend.engine.events.port_status(2, True)  # type: ignore[union-attr]
    assert (await ports_of(client, 2))[2].up


@pytest.mark.usefixtures("pipeline")
async def test_settings_are_kept_across_pipelines(
    running: Running, client: Stub, stub: p4r_grpc.P4RuntimeStub
) -> None:
    await set_queue(client, 1, depth=64, rate_bps=10**7)
    changed = await set_queue(client, 1, delay_ns=5000, rate_bps=0)
    assert changed.depth == 64
    assert not changed.HasField("rate_bps")
    wanted = PortQueue(depth=64, delay_ns=5000)
    assert running.backend.engine.queues == {1: wanted}
    async with Session(stub, 2) as session:
        await session.arbitrate()
        await session.set_config(config())
    assert len(running.backend.engines) == 2
    assert running.backend.engine.queues == {1: wanted}


async def test_settings_wait_for_the_pipeline(
    running: Running, client: Stub, stub: p4r_grpc.P4RuntimeStub
) -> None:
    await set_queue(client, 3, rate_pps=100)
    assert (await ports_of(client, 3))[3].counters.rx_packets == 0
    async with Session(stub) as session:
        await session.arbitrate()
        await session.set_config(config())
    assert running.backend.engine.queues == {3: PortQueue(rate_pps=100)}


@pytest.mark.usefixtures("pipeline")
async def test_the_clock_is_paced(running: Running, client: Stub) -> None:
    clock = V1MODEL.ports.clock
    assert running.backend.engine.rounds[clock] == PortQueue(rate_pps=CLOCK_RATE)
    await set_queue(client, clock, rate_pps=700)
    assert running.backend.engine.rounds[clock] == PortQueue(rate_pps=700)
    assert clock not in await ports_of(client), "it has no interface"


async def test_errors(client: Stub) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await set_queue(client, 9, depth=1)
    assert error.value.code() == grpc.StatusCode.NOT_FOUND
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await set_queue(client, 1, depth=0)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await ports_of(client, 1, 9)
    assert error.value.code() == grpc.StatusCode.NOT_FOUND


@pytest.mark.usefixtures("pipeline")
async def test_watch(client: Stub) -> None:
    times = []
    request = tm.WatchQueuesRequest(ports=[1, 3], interval_ns=2_000_000)
    async for sample in client.WatchQueues(request):
        assert [(port.port, port.queue_depth) for port in sample.ports] == [(1, 1), (3, 3)]
        times.append(sample.time_ns)
        if len(times) == 5:
            break
    assert times[-1] - times[0] >= 4 * 2_000_000 * 0.9


async def test_statistics(client: Stub, running: Running, stub: p4r_grpc.P4RuntimeStub) -> None:
    assert await statistics(client) == {"stream_messages_dropped": 0}
    async with Session(stub) as session:
        await session.arbitrate()
        await session.set_config(config())
    events = running.backend.engine.events
    assert events is not None
    events.digest("learn_t", [(1, 1), (2, 2)])
    events.packet_in(b"")
    assert await statistics(client) == {
        "stream_messages_dropped": 0,
        "short_packet_ins": 1,
        "digest_messages_sent": 0,
        "digest_messages_suppressed": 0,
        "digest_messages_disabled": 2,
        "digest_messages_undelivered": 0,
        "engine_input_drops": 3,
    }
