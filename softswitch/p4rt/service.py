"""The gRPC service of P4Runtime; requests are processed by Device."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing
from typing import NoReturn

import grpc
from finsy.proto import p4r, p4r_grpc, rpc_code
from grpc.aio import ServicerContext

from fcn.softswitch.p4rt.arbitration import Client
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.errors import BatchError, P4RuntimeError, resource_exhausted, unimplemented
from fcn.softswitch.p4rt.stream import ClientStream

_LOG = logging.getLogger(__name__)

API_VERSION = "1.4.0"
MAX_STREAMS = 1024
"""StreamChannels open at a time; each takes some 30 KiB."""
_STATUS = {code.value[0]: code for code in grpc.StatusCode}


class P4RuntimeService(p4r_grpc.P4RuntimeServicer):
    def __init__(self, device: Device) -> None:
        self._device = device
        self._streams = 0

    async def Capabilities(  # noqa: N802
        self, request: p4r.CapabilitiesRequest, context: ServicerContext
    ) -> p4r.CapabilitiesResponse:
        return p4r.CapabilitiesResponse(p4runtime_api_version=API_VERSION)

    async def SetForwardingPipelineConfig(  # noqa: N802
        self, request: p4r.SetForwardingPipelineConfigRequest, context: ServicerContext
    ) -> p4r.SetForwardingPipelineConfigResponse:
        """Verify, save and commit pipelines."""
        try:
            await _finish(self._device.set_config(request))
        except P4RuntimeError as error:
            if error.code != rpc_code.PERMISSION_DENIED:
                _LOG.warning("a program was refused: %s", error.message)
            await _abort(context, error)
        return p4r.SetForwardingPipelineConfigResponse()

    async def GetForwardingPipelineConfig(  # noqa: N802
        self, request: p4r.GetForwardingPipelineConfigRequest, context: ServicerContext
    ) -> p4r.GetForwardingPipelineConfigResponse:
        try:
            return self._device.get_config(request)
        except P4RuntimeError as error:
            await _abort(context, error)

    async def Write(  # noqa: N802
        self, request: p4r.WriteRequest, context: ServicerContext
    ) -> p4r.WriteResponse:
        """A batch of updates."""
        try:
            await _finish(self._device.write(request))
        except P4RuntimeError as error:
            await _abort(context, error)
        return p4r.WriteResponse()

    async def Read(  # noqa: N802
        self, request: p4r.ReadRequest, context: ServicerContext
    ) -> AsyncIterator[p4r.ReadResponse]:
        """Entities in chunks, then the status of the batch."""
        try:
            async with aclosing(self._device.read(request)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except P4RuntimeError as error:
            await _abort(context, error)

    async def StreamChannel(  # noqa: N802
        self, request_iterator: AsyncIterator[p4r.StreamMessageRequest], context: ServicerContext
    ) -> AsyncIterator[p4r.StreamMessageResponse]:
        """A controller's session; receiving and sending run concurrently."""
        if self._streams >= MAX_STREAMS:
            await _abort(context, resource_exhausted(f"{MAX_STREAMS} streams are open already"))
        client = Client(ClientStream())
        self._streams += 1
        context.add_done_callback(lambda _context: self._device.arbitration.leave(client))
        reader = asyncio.create_task(self._read_stream(client, request_iterator))
        try:
            while (message := await client.stream.next()) is not None:
                yield message
            await reader
        except P4RuntimeError as error:
            await _abort(context, error)
        finally:
            self._streams -= 1
            reader.cancel()
            # Before the client hears that the stream has ended: its election ID is free then.
            self._device.arbitration.leave(client)

    async def _read_stream(
        self, client: Client, requests: AsyncIterator[p4r.StreamMessageRequest]
    ) -> None:
        try:
            async for request in requests:
                if request.HasField("arbitration"):
                    await self._device.arbitrate(client, request.arbitration)
                else:
                    self._handle(client, request)
        finally:
            client.stream.close()

    def _handle(self, client: Client, request: p4r.StreamMessageRequest) -> None:
        try:
            match request.WhichOneof("update"):
                case "packet":
                    self._device.packet_out(client, request.packet)
                case "digest_ack":
                    self._device.digest_ack(client, request.digest_ack)
                case _:
                    raise unimplemented("unknown stream message")
        except P4RuntimeError as error:
            client.stream.offer(_stream_error(error, request))


def _stream_error(
    error: P4RuntimeError, request: p4r.StreamMessageRequest
) -> p4r.StreamMessageResponse:
    """Says what was wrong with a message, and which."""
    answer = p4r.StreamError(canonical_code=error.code, message=error.message)
    match request.WhichOneof("update"):
        case "packet":
            answer.packet_out.packet_out.CopyFrom(request.packet)
        case "digest_ack":
            answer.digest_list_ack.digest_list_ack.CopyFrom(request.digest_ack)
        case _:
            answer.other.other.CopyFrom(request.other)
    return p4r.StreamMessageResponse(error=answer)


async def _finish(work: Coroutine[None, None, None]) -> None:
    """Complete the work even when the client stops waiting, so that nothing is half applied."""
    done = asyncio.ensure_future(work)
    # asyncio tells of an error that nobody hears any more.
    done.add_done_callback(lambda each: each.cancelled() or each.exception())
    await asyncio.shield(done)


async def _abort(context: ServicerContext, error: P4RuntimeError) -> NoReturn:
    if isinstance(error, BatchError):
        context.set_trailing_metadata(
            (("grpc-status-details-bin", error.status().SerializeToString()),)
        )
    await context.abort(_STATUS[error.code], error.message)
    raise AssertionError("abort() does not return")
