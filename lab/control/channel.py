"""The controller's end of a control channel: what finsy uses of grpc.aio.Channel, in virtual time.

Messages are serialized, as on a wire, and travel over a ControlLink. Calls end as gRPC's do: with
AioRpcError, DEADLINE_EXCEEDED at the caller's timeout, or, when the channel is closed or the call
is cancelled, with CancelledError for whoever waits. There is no flow control: the controller reads
what arrives at once.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import grpc

from fcn.lab.control.link import ControlLink
from fcn.lab.control.server import Server, ServerCall, Status

Serialize = Callable[[Any], bytes]
Deserialize = Callable[[bytes], Any]

CANCELLED = Status(grpc.StatusCode.CANCELLED, "Locally cancelled by application!")
EXPIRED = Status(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded")


class _Call:
    """One call: requests to the switch, responses and status from it."""

    def __init__(
        self,
        method: str,
        link: ControlLink,
        server: Callable[[], Server],
        timeout: float | None,
    ) -> None:
        self._link = link
        self._served: ServerCall | None = None
        self._responses: deque[bytes] = deque()
        self._status: Status | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        if timeout is not None:
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(timeout, self._give_up, EXPIRED)
        link.to_switch.send(lambda: self._begin(server(), method))

    def done(self) -> bool:
        """Whether the call has ended at the client."""
        return self._status is not None

    def cancel(self) -> None:
        """End the call now."""
        self._give_up(CANCELLED)

    def send(self, request: bytes) -> None:
        """Send a request. Raises InvalidStateError when the call has ended."""
        if self.done():
            raise asyncio.InvalidStateError("RPC already finished.")
        self._link.to_switch.send(lambda: self._at_server().receive(request))

    async def next(self) -> bytes | None:
        """The next response; None when there is no other. Raises AioRpcError."""
        while not self._responses:
            if self._status is not None:
                self._raise_for(self._status)
                return None
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            except asyncio.CancelledError:
                self.cancel()
                raise
        return self._responses.popleft()

    def respond(self, message: bytes) -> None:
        """The server sends a response."""
        self._link.to_controller.send(partial(self._arrived, message))

    def end(self, status: Status) -> None:
        """The server sends the status."""
        self._link.to_controller.send(partial(self._finish, status))

    def _begin(self, server: Server, method: str) -> None:
        self._served = server.call(method, self)

    def _at_server(self) -> ServerCall:
        assert self._served is not None, "what is sent arrives in order"
        return self._served

    def _arrived(self, message: bytes) -> None:
        if self._status is None:
            self._responses.append(message)
            self._wake()

    def _finish(self, status: Status) -> None:
        if self._status is not None:
            return
        self._status = status
        if self._deadline is not None:
            self._deadline.cancel()
        self._wake()

    def _give_up(self, status: Status) -> None:
        """End the call here, and tell the server."""
        if self._status is None:
            self._finish(status)
            self._link.to_switch.send(lambda: self._at_server().cancel())

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            if self._status is CANCELLED:
                self._waiter.cancel()
            else:
                self._waiter.set_result(None)

    @staticmethod
    def _raise_for(status: Status) -> None:
        if status is CANCELLED:
            raise asyncio.CancelledError
        if status.code is not grpc.StatusCode.OK:
            raise grpc.aio.AioRpcError(
                status.code,
                grpc.aio.Metadata(),
                grpc.aio.Metadata(*status.trailing),
                details=status.details,
            )


class _Stream:
    """What finsy uses of grpc.aio.StreamStreamCall."""

    def __init__(self, call: _Call, serialize: Serialize, deserialize: Deserialize) -> None:
        self._call = call
        self._serialize = serialize
        self._deserialize = deserialize

    def done(self) -> bool:
        """Whether the stream has ended."""
        return self._call.done()

    def cancel(self) -> None:
        """End the stream."""
        self._call.cancel()

    async def write(self, request: Any) -> None:  # noqa: ANN401 - any service's message
        """Send a message. Raises InvalidStateError when the stream has ended."""
        self._call.send(self._serialize(request))

    async def read(self) -> Any:  # noqa: ANN401
        """The next message, or grpc.aio.EOF. Raises AioRpcError."""
        response = await self._call.next()
        return grpc.aio.EOF if response is None else self._deserialize(response)


class Channel:
    """A channel to one switch. Opened anew for every session. `server`: who listens there when a
    call arrives."""

    def __init__(self, link: ControlLink, server: Callable[[], Server]) -> None:
        self._link = link
        self._server = server
        self._calls: dict[_Call, None] = {}

    def unary_unary(
        self,
        method: str,
        request_serializer: Serialize,
        response_deserializer: Deserialize,
        _registered_method: bool = False,
    ) -> Callable[..., Any]:
        """A method with one request and one response."""

        async def call(request: Any, timeout: float | None = None) -> Any:  # noqa: ANN401, ASYNC109
            begun = self._begin(method, timeout)
            begun.send(request_serializer(request))
            response = await begun.next()
            if response is None:
                raise RuntimeError(f"{method} returned no response")
            return response_deserializer(response)

        return call

    def unary_stream(
        self,
        method: str,
        request_serializer: Serialize,
        response_deserializer: Deserialize,
        _registered_method: bool = False,
    ) -> Callable[..., AsyncIterator[Any]]:
        """A method with one request and many responses."""

        async def call(request: Any, timeout: float | None = None) -> AsyncIterator[Any]:  # noqa: ANN401, ASYNC109
            begun = self._begin(method, timeout)
            begun.send(request_serializer(request))
            try:
                while (response := await begun.next()) is not None:
                    yield response_deserializer(response)
            finally:
                begun.cancel()

        return call

    def stream_stream(
        self,
        method: str,
        request_serializer: Serialize,
        response_deserializer: Deserialize,
        _registered_method: bool = False,
    ) -> Callable[..., _Stream]:
        """A method with many requests and responses."""

        def call(*, wait_for_ready: bool) -> _Stream:
            # Without effect: the channel is ready, although nobody may answer.
            begun = self._begin(method, None)
            return _Stream(begun, request_serializer, response_deserializer)

        return call

    def get_state(self) -> grpc.ChannelConnectivity:
        """For finsy's log."""
        return grpc.ChannelConnectivity.READY

    async def close(self) -> None:
        """End all calls."""
        for call in self._calls:
            call.cancel()
        self._calls.clear()

    def _begin(self, method: str, timeout: float | None) -> _Call:
        for ended in [call for call in self._calls if call.done()]:
            del self._calls[ended]
        call = _Call(method, self._link, self._server, timeout)
        self._calls[call] = None
        return call
