"""A P4Runtime server on 127.0.0.1 with an engine that only stores state."""

from collections.abc import AsyncIterator, Iterator

import grpc
import pytest
from finsy import P4Schema
from finsy.proto import p4r_grpc
from p4rt_command import Cable, veth_pairs
from p4rt_testing import DEVICE_ID, P4INFO, PORTS, FakeBackend, Running, Session, config

from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.ports import Ports
from fcn.softswitch.p4rt.server import start_server
from fcn.softswitch.p4rt.transport import Transport


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    """A device without a pipeline."""
    backend = FakeBackend()
    ports = Ports({port: f"test{port}" for port in PORTS}, {})
    device = Device(DEVICE_ID, backend, ports.attach, ports.on_status)
    server, port = await start_server(device, ports, Transport("127.0.0.1:0"))
    yield Running(device, backend, f"127.0.0.1:{port}")
    await server.stop(None)
    await device.close()


@pytest.fixture
async def stub(running: Running) -> AsyncIterator[p4r_grpc.P4RuntimeStub]:
    """A gRPC stub without a session."""
    async with grpc.aio.insecure_channel(running.address) as channel:
        yield p4r_grpc.P4RuntimeStub(channel)


@pytest.fixture
async def primary(stub: p4r_grpc.P4RuntimeStub) -> AsyncIterator[Session]:
    """The primary client, with the test program committed."""
    async with Session(stub) as session:
        await session.arbitrate()
        await session.set_config(config())
        yield session


@pytest.fixture
def cables() -> Iterator[tuple[Cable, Cable]]:
    with veth_pairs() as pairs:
        yield pairs


@pytest.fixture(scope="session")
def schema() -> P4Schema:
    """The test program's P4Info, for looking up identifiers by name."""
    return P4Schema(P4INFO)
