"""Channels in virtual time: delays, and ends of calls as gRPC has them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc
import pytest
from finsy.proto import p4r, p4r_grpc
from worlds import EmptyWorld

from fcn.lab.control.channel import Channel
from fcn.lab.control.link import ControlLink
from fcn.lab.control.loop import NS, run
from fcn.lab.control.server import Server

T = TypeVar("T")

DELAY_NS = 3_000_000
TIMEOUT = 0.2


class Service(p4r_grpc.P4RuntimeServicer):
    """Answers by the device ID of the request; notes what it hears, and the end of streams."""

    def __init__(self, now: Callable[[], int] = lambda: 0) -> None:
        self.heard: list[tuple[int, int]] = []
        self.ended: list[int] = []
        self.cancelled: list[int] = []
        self._now = now

    async def Write(  # noqa: N802
        self, request: p4r.WriteRequest, context: grpc.aio.ServicerContext
    ) -> p4r.WriteResponse:
        self.heard.append((self._now(), request.device_id))
        match request.device_id:
            case 1:
                context.set_trailing_metadata((("details-bin", b"\0\1"),))
                await context.abort(grpc.StatusCode.NOT_FOUND, "no such thing")
            case 2:
                raise ValueError("broken")
            case 3:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    self.cancelled.append(self._now())
                    raise
        return p4r.WriteResponse()

    async def SetForwardingPipelineConfig(  # noqa: N802
        self, request: p4r.SetForwardingPipelineConfigRequest, context: grpc.aio.ServicerContext
    ) -> p4r.SetForwardingPipelineConfigResponse:
        return p4r.SetForwardingPipelineConfigResponse()

    async def GetForwardingPipelineConfig(  # noqa: N802
        self, request: p4r.GetForwardingPipelineConfigRequest, context: grpc.aio.ServicerContext
    ) -> p4r.GetForwardingPipelineConfigResponse:
        return p4r.GetForwardingPipelineConfigResponse()

    async def Capabilities(  # noqa: N802
        self, request: p4r.CapabilitiesRequest, context: grpc.aio.ServicerContext
    ) -> p4r.CapabilitiesResponse:
        return p4r.CapabilitiesResponse()

    async def Read(  # noqa: N802
        self, request: p4r.ReadRequest, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[p4r.ReadResponse]:
        for _ in range(3):
            yield p4r.ReadResponse(entities=[p4r.Entity()])
        if request.device_id == 1:
            await context.abort(grpc.StatusCode.INTERNAL, "half way")

    async def StreamChannel(  # noqa: N802
        self,
        request_iterator: AsyncIterator[p4r.StreamMessageRequest],
        context: grpc.aio.ServicerContext,
    ) -> AsyncIterator[p4r.StreamMessageResponse]:
        context.add_done_callback(lambda _context: self.ended.append(self._now()))
        async for request in request_iterator:
            number = request.arbitration.device_id
            self.heard.append((self._now(), number))
            if number == 1:
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "not you")
            if number == 2:
                return
            yield p4r.StreamMessageResponse(arbitration=request.arbitration)


@dataclass
class Bench:
    """A channel to a service, in virtual time."""

    world: EmptyWorld = field(default_factory=EmptyWorld)
    service: Service = field(init=False)
    link: ControlLink = field(init=False)
    server: Server = field(init=False)
    channel: Channel = field(init=False)

    def run(self, main: Callable[["Bench"], Coroutine[Any, Any, T]]) -> T:
        async def connected() -> T:
            self.service = Service(lambda: self.world.now_ns)
            self.link = ControlLink(DELAY_NS)
            server = Server(lambda _method, _message: None)
            p4r_grpc.add_P4RuntimeServicer_to_server(self.service, server)
            self.server = server
            self.channel = Channel(self.link, lambda: server)
            return await main(self)

        return run(self.world, connected())

    @property
    def stub(self) -> Any:  # noqa: ANN401 - generated code is untyped
        return p4r_grpc.P4RuntimeStub(self.channel)


def write_to(device_id: int) -> p4r.WriteRequest:
    return p4r.WriteRequest(device_id=device_id)


def message(device_id: int) -> p4r.StreamMessageRequest:
    return p4r.StreamMessageRequest(arbitration=p4r.MasterArbitrationUpdate(device_id=device_id))


def test_a_request_takes_the_delay_both_ways() -> None:
    async def main(bench: Bench) -> None:
        await bench.stub.Write(write_to(7))

    bench = Bench()
    bench.run(main)
    assert bench.service.heard == [(DELAY_NS, 7)]
    assert bench.world.now_ns == 2 * DELAY_NS


def test_requests_arrive_in_order() -> None:
    async def main(bench: Bench) -> None:
        await asyncio.gather(*(bench.stub.Write(write_to(number)) for number in range(10, 30)))

    bench = Bench()
    bench.run(main)
    assert bench.service.heard == [(DELAY_NS, number) for number in range(10, 30)]


def test_what_waits_at_a_cut_arrives_after_it() -> None:
    async def main(bench: Bench) -> None:
        bench.link.cut()
        first = asyncio.ensure_future(bench.stub.Write(write_to(10)))
        await asyncio.sleep(1.0)
        second = asyncio.ensure_future(bench.stub.Write(write_to(11)))
        await asyncio.sleep(1.0)
        assert bench.service.heard == []
        assert bench.link.is_cut
        bench.link.restore()
        await asyncio.gather(first, second)

    bench = Bench()
    bench.run(main)
    assert bench.service.heard == [(2 * NS + DELAY_NS, 10), (2 * NS + DELAY_NS, 11)]


def test_a_timeout_ends_the_call_at_the_server_too() -> None:
    async def main(bench: Bench) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await bench.stub.Write(write_to(3), timeout=10.0)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert bench.world.now_ns == 10 * NS
        await asyncio.sleep(1.0)

    bench = Bench()
    bench.run(main)
    assert bench.service.cancelled == [10 * NS + DELAY_NS]


def test_a_channel_that_is_closed_ends_its_calls() -> None:
    async def main(bench: Bench) -> None:
        stream = bench.stub.StreamChannel(wait_for_ready=True)
        await stream.write(message(7))
        answer = await stream.read()
        assert answer.arbitration.device_id == 7
        waiting = asyncio.ensure_future(bench.stub.Write(write_to(3)))
        reading = asyncio.ensure_future(stream.read())
        await asyncio.sleep(1.0)
        await bench.channel.close()
        for call in (waiting, reading):
            with pytest.raises(asyncio.CancelledError):
                await call
        assert stream.done()
        await asyncio.sleep(1.0)

    bench = Bench()
    bench.run(main)
    closed = 2 * DELAY_NS + NS + DELAY_NS
    assert bench.service.ended == [closed]
    assert bench.service.cancelled == [closed]


def test_a_call_nobody_waits_for_any_more_ends_at_the_server() -> None:
    async def main(bench: Bench) -> None:
        waiting = asyncio.ensure_future(bench.stub.Write(write_to(3)))
        await asyncio.sleep(1.0)
        waiting.cancel()
        await asyncio.sleep(1.0)
        assert waiting.cancelled()

    bench = Bench()
    bench.run(main)
    assert bench.service.cancelled == [NS + DELAY_NS]


def test_who_listens_no_more_ends_all_calls() -> None:
    async def main(bench: Bench) -> None:
        stream = bench.stub.StreamChannel(wait_for_ready=True)
        await stream.write(message(7))
        await stream.read()
        waiting = asyncio.ensure_future(outcome(bench.stub.Write(write_to(3))))
        await asyncio.sleep(1.0)
        bench.server.stop()
        ends = await waiting, await outcome(stream.read())
        away: tuple[Any, ...] = ("status", grpc.StatusCode.UNAVAILABLE, "Connection refused", [])
        assert ends == (away, away)
        assert await outcome(bench.stub.Write(write_to(7))) == away

    bench = Bench()
    bench.run(main)
    assert bench.service.heard == [(DELAY_NS, 7), (3 * DELAY_NS, 3)]
    assert len(bench.service.ended) == len(bench.service.cancelled) == 1


def test_a_delay_is_not_negative() -> None:
    with pytest.raises(ValueError, match="impossible"):
        ControlLink(-1)


async def outcome(call: Awaitable[Any]) -> tuple[Any, ...]:
    """How a call ended, in a form to compare."""
    try:
        async with asyncio.timeout(60):
            return "answered", str(await call)
    except grpc.aio.AioRpcError as error:
        trailing = [(key, value) for key, value in error.trailing_metadata() or ()]
        return "status", error.code(), error.details(), trailing
    except asyncio.CancelledError:
        return ("cancelled",)
    except asyncio.InvalidStateError as error:
        return ("ended before", str(error))


async def read_all(stub: Any, device_id: int) -> str:  # noqa: ANN401
    return " ".join([str(each) async for each in stub.Read(p4r.ReadRequest(device_id=device_id))])


async def ends_of_calls(channel: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
    """How calls end on a channel."""
    stub = p4r_grpc.P4RuntimeStub(channel)
    ends = [await outcome(stub.Write(write_to(number))) for number in (7, 1, 2)]
    ends.append(await outcome(stub.Write(write_to(3), timeout=TIMEOUT)))
    ends += [await outcome(read_all(stub, number)) for number in (7, 1)]
    unknown = channel.unary_unary(
        "/no.Service/Method",
        request_serializer=p4r.WriteRequest.SerializeToString,
        response_deserializer=p4r.WriteResponse.FromString,
    )
    ends.append(await outcome(unknown(write_to(7))))
    for number in (1, 2):
        stream = stub.StreamChannel(wait_for_ready=True)
        await stream.write(message(7))
        ends.append(await outcome(stream.read()))
        await stream.write(message(number))
        ends += [await outcome(stream.read()) for _ in range(2)]
        ends.append((stream.done(),))
        ends.append(await outcome(stream.write(message(7))))
    stream = stub.StreamChannel(wait_for_ready=True)
    await stream.write(message(7))
    ends.append(await outcome(stream.read()))
    reading = asyncio.ensure_future(outcome(stream.read()))
    await asyncio.sleep(0.01)
    stream.cancel()
    ends.append(await reading)
    waiting = asyncio.ensure_future(outcome(stub.Write(write_to(3))))
    await asyncio.sleep(0.01)
    await channel.close()
    ends.append(await waiting)
    return ends


async def test_calls_end_as_those_of_grpc() -> None:
    """The same calls over a socket."""
    server = grpc.aio.server()
    p4r_grpc.add_P4RuntimeServicer_to_server(Service(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        real = await ends_of_calls(grpc.aio.insecure_channel(f"127.0.0.1:{port}"))
    finally:
        await server.stop(None)

    def in_virtual_time() -> list[tuple[Any, ...]]:
        async def main(bench: Bench) -> list[tuple[Any, ...]]:
            return await ends_of_calls(bench.channel)

        return Bench().run(main)

    simulated = await asyncio.to_thread(in_virtual_time)
    assert [end[0] for end in simulated] == [end[0] for end in real]
    assert simulated == real
