"""Refuses calls of clients whose certificate is revoked: gRPC's handshake knows no lists."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from cryptography import x509

from fcn.contract.certificates import Revoked, Watched
from fcn.contract.rpc import while_allowed


class RevocationGuard(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Looks at every call when it begins, and at a stream every second."""

    def __init__(self, revoked: Watched[Revoked]) -> None:
        self._revoked = revoked

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler]],
        details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler:
        """The handler of a call, behind the look."""
        handler = await continuation(details)
        if handler is None:
            return None
        streams = handler.request_streaming, handler.response_streaming
        kind = "_".join("stream" if each else "unary" for each in streams)
        return getattr(grpc, f"{kind}_rpc_method_handler")(
            self._behind(getattr(handler, kind)),
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )

    def _behind(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        async def stream(request: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:  # noqa: ANN401
            await self._look(context)
            async for each in while_allowed(answer(request, context), lambda: self._look(context)):
                yield each

        async def single(request: Any, context: grpc.aio.ServicerContext) -> Any:  # noqa: ANN401
            await self._look(context)
            return await answer(request, context)

        return stream if inspect.isasyncgenfunction(answer) else single

    async def _look(self, context: grpc.aio.ServicerContext) -> None:
        for pem in context.auth_context().get("x509_pem_cert", ()):
            if self._revoked.now().has(x509.load_pem_x509_certificate(pem)):
                await context.abort(
                    grpc.StatusCode.UNAUTHENTICATED, "the certificate of this client is revoked"
                )
