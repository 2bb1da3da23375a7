"""The switch's end of a control channel: gRPC services called in place, in virtual time.

This is what the softswitch uses of grpc.aio.Server and ServicerContext. Its servicers are as ever.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import grpc

LOG = logging.getLogger("fcn.lab")

Metadata = tuple[tuple[str, str | bytes], ...]


Observer = Callable[[str, Any], None]
"""Told of each request when it arrives: method, as "/p4.v1.P4Runtime/Write", and message."""


@dataclass(frozen=True, slots=True)
class Status:
    """How a call ended."""

    code: grpc.StatusCode
    details: str = ""
    trailing: Metadata = ()


class Caller(Protocol):
    """The other end of a call; both methods return at once, what they send takes its time."""

    def respond(self, message: bytes) -> None:
        """Send a response."""

    def end(self, status: Status) -> None:
        """Send the status, which ends the call."""


AWAY = Status(grpc.StatusCode.UNAVAILABLE, "Connection refused")
"""Nobody listens."""


@dataclass(frozen=True, slots=True)
class _Details:
    """What a generic handler asks of a call (grpc.HandlerCallDetails)."""

    method: str
    invocation_metadata: Metadata = ()


class _AbortedError(Exception):
    """The servicer ended the call with a status."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.details)
        self.status = status


class _Context:
    """What the servicers use of grpc.aio.ServicerContext."""

    def __init__(self) -> None:
        self._trailing: Metadata = ()
        self._when_done: list[Callable[[_Context], None]] = []

    def set_trailing_metadata(self, metadata: Iterable[tuple[str, str | bytes]]) -> None:
        """Send this with the status."""
        self._trailing = tuple(metadata)

    def add_done_callback(self, callback: Callable[["_Context"], None]) -> None:
        """Call it when the call has ended, however that happened."""
        self._when_done.append(callback)

    async def abort(self, code: grpc.StatusCode, details: str = "") -> NoReturn:
        """End the call with this status."""
        raise _AbortedError(Status(code, details, self._trailing))

    def done(self) -> None:
        """The call has ended."""
        for callback in self._when_done:
            callback(self)


class ServerCall:
    """One call at the server, which began when this was made. `handler`: None for a method that no
    service has."""

    def __init__(
        self,
        method: str,
        handler: grpc.RpcMethodHandler | None,
        caller: Caller,
        observer: Observer,
    ) -> None:
        self._method = method
        self._handler = handler
        self._caller = caller
        self._observer = observer
        self._context = _Context()
        self._requests: asyncio.Queue[Any] = asyncio.Queue()
        self._task = asyncio.get_running_loop().create_task(self._serve())
        self.when_done(self._context.done)

    def when_done(self, callback: Callable[[], object]) -> None:
        """Call it when the call has ended here, however that happened."""
        self._task.add_done_callback(lambda _task: callback())

    def receive(self, request: bytes) -> None:
        """A request has arrived."""
        if self._handler is not None:
            message = self._handler.request_deserializer(request)
            self._observer(self._method, message)
            self._requests.put_nowait(message)

    def cancel(self) -> None:
        """The client has ended the call."""
        self._task.cancel()

    def end(self, status: Status) -> None:
        """End the call from here, if it has not ended."""
        if self._task.cancel():
            self._caller.end(status)

    async def _serve(self) -> None:
        self._caller.end(await self._status())

    async def _status(self) -> Status:
        handler, context = self._handler, self._context
        if handler is None:
            return Status(grpc.StatusCode.UNIMPLEMENTED, "Method not found!")
        try:
            if handler.response_streaming:
                serve = handler.unary_stream or handler.stream_stream
                argument = self._all() if handler.request_streaming else await self._requests.get()
                async for response in serve(argument, context):
                    self._caller.respond(handler.response_serializer(response))
            else:
                response = await handler.unary_unary(await self._requests.get(), context)
                self._caller.respond(handler.response_serializer(response))
        except _AbortedError as error:
            return error.status
        except Exception as error:
            LOG.exception("%s failed", self._method)
            return Status(grpc.StatusCode.UNKNOWN, f"Unexpected {type(error)}: {error}")
        return Status(grpc.StatusCode.OK)

    async def _all(self) -> AsyncIterator[Any]:
        while True:
            yield await self._requests.get()


class Server:
    """Takes the place of grpc.aio.Server for services registered with it."""

    def __init__(self, observer: Observer) -> None:
        self._handlers: list[grpc.GenericRpcHandler] = []
        self._observer = observer
        self._calls: dict[ServerCall, None] = {}
        self._stopped = False

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Serve these; the generated code calls it."""
        self._handlers.extend(handlers)

    def add_registered_method_handlers(self, _service: str, _handlers: object) -> None:
        """The generated code gives the same handlers a second time."""

    def call(self, method: str, caller: Caller) -> ServerCall:
        """Begin a call that has arrived."""
        call = ServerCall(method, self._handler(method), caller, self._observer)
        self._calls[call] = None
        call.when_done(lambda: self._calls.pop(call))
        if self._stopped:
            call.end(AWAY)
        return call

    def stop(self) -> None:
        """End all calls, and those that arrive from now on: nobody listens any more."""
        self._stopped = True
        for call in self._calls:
            call.end(AWAY)

    def _handler(self, method: str) -> grpc.RpcMethodHandler | None:
        for handlers in self._handlers:
            found = handlers.service(_Details(method))
            if found is not None:
                return found
        return None
