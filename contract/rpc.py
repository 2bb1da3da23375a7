"""gRPC services of our proto files, made from their descriptors: no other code is generated."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message_factory import GetMessageClass

LOOK = 1.0
"""Seconds between two looks at who is answered by a stream."""

HANDSHAKE_MS = 5_000
"""A client that takes longer to say who it is, is none."""

KEEPALIVE_MS = 20_000
"""Without a word from the other side, until it is asked whether it is there, and then until it is
not: a connection may be dead without an end."""

KEEPALIVE = (
    ("grpc.keepalive_time_ms", KEEPALIVE_MS),
    ("grpc.keepalive_timeout_ms", KEEPALIVE_MS),
    ("grpc.http2.max_pings_without_data", 0),
)
"""Options of a client whose calls may last."""

REFUSAL = (("fcn-refusal", "1"),)
"""Metadata behind an error that a service of ours has told: others of the same code are of gRPC,
and about the connection."""

_END = object()


def bounded(connections: int) -> list[tuple[str, int]]:
    """Options of a server of which strangers cannot take more than so many descriptors: the process
    needs others."""
    return [
        ("grpc.max_allowed_incoming_connections", connections),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_MS),
    ]


async def while_allowed(
    answers: AsyncGenerator[Any], look: Callable[[], Awaitable[object]]
) -> AsyncIterator[Any]:
    """The answers of a stream that was allowed, until `look`, which is called every second, raises
    an error: whoever is answered may have lost the right to it meanwhile."""
    now = asyncio.get_running_loop().time
    due, pending = now() + LOOK, None
    try:
        while True:
            if now() >= due:
                await look()
                due = now() + LOOK
            pending = pending or asyncio.ensure_future(anext(answers, _END))
            if not (await asyncio.wait({pending}, timeout=due - now()))[0]:
                continue
            answer, pending = pending.result(), None
            if answer is _END:
                return
            yield answer
    finally:
        if pending is not None:
            pending.cancel()
            await asyncio.gather(pending, return_exceptions=True)
        await answers.aclose()


def _kind(method: MethodDescriptor) -> str:
    streams = method.client_streaming, method.server_streaming
    return "_".join("stream" if each else "unary" for each in streams)


class Stub:
    """The calls of a service, by their names in the proto file."""

    def __init__(self, channel: Any, service: ServiceDescriptor) -> None:  # noqa: ANN401
        for method in service.methods:
            call = getattr(channel, _kind(method))(
                f"/{service.full_name}/{method.name}",
                request_serializer=GetMessageClass(method.input_type).SerializeToString,
                response_deserializer=GetMessageClass(method.output_type).FromString,
            )
            setattr(self, method.name, call)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - messages are untyped
        raise AttributeError(name)


def handler_of(service: ServiceDescriptor, implementation: object) -> grpc.GenericRpcHandler:
    """The part of a server that answers a service: each call by the method of its name. What has
    no method is UNIMPLEMENTED."""
    handlers = {}
    for method in service.methods:
        if (answer := getattr(implementation, method.name, None)) is not None:
            handlers[method.name] = getattr(grpc, f"{_kind(method)}_rpc_method_handler")(
                answer,
                request_deserializer=GetMessageClass(method.input_type).FromString,
                response_serializer=GetMessageClass(method.output_type).SerializeToString,
            )
    return grpc.method_handlers_generic_handler(service.full_name, handlers)
