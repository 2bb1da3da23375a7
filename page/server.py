"""The page over HTTP, on this machine only: three files, and a stream of server-sent events."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    aclosing,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import replace
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from fcn.page.hub import FullError, Hub
from fcn.page.model import Picture
from fcn.page.stories import Command, told
from fcn.page.watcher import Watcher
from fcn.softswitch.stories.page import POLICY

STATIC = Path(__file__).parent / "static"

FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    **{
        f"/{name}.js": (f"{name}.js", "text/javascript")
        for name in ("main", "network", "panels", "timeline")
    },
}
"""By path: file and media type. Nothing else is served."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

HOSTS = ("localhost", "127.0.0.1", "::1", "[::1]")
"""What a browser may call this machine: under any other name the page of somebody else could reach
this one (DNS rebinding)."""

UNREAD = 60
"""Seconds after which a browser that takes nothing of what waits for it is left; its machine
may sleep."""

CONNECTIONS = 128
"""At the same time: each takes a descriptor, and more than viewers and their questions are nobody's
who looks."""

IDLE = 15
"""Seconds after which a connection without a request is closed, twice that at most."""

GRACE = 2
"""Seconds for requests to end."""


def _refused(request: Request) -> Response | None:
    """What a request gets that is not the page's own: of these no browser says the origin."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    if site == "same-origin" and "origin" not in request.headers:
        return None
    return PlainTextResponse("this is for the page alone", 403, HEADERS)


def application(hub: Hub, host: str, stories: Command | None = None) -> Starlette:
    """What answers requests; host: the address on which it listens; stories: how packets tell
    theirs, None: not at all."""
    telling = asyncio.Lock()

    async def stream(request: Request) -> Response:
        if refused := _refused(request):
            return refused
        try:
            events = hub.look()
        except FullError:
            return PlainTextResponse("too many look at this page already", 503, HEADERS)
        return StreamingResponse(events, media_type="text/event-stream", headers=HEADERS)

    async def story(request: Request) -> Response:
        if refused := _refused(request):
            return refused
        if stories is None:
            return PlainTextResponse("this page tells no stories of packets", 404, HEADERS)
        try:
            arguments = stories(request.query_params)
        except (KeyError, ValueError) as error:
            return PlainTextResponse(f"no packet can be asked for: {error}", 400, HEADERS)
        if telling.locked():
            return PlainTextResponse("another story is told; try again after it", 503, HEADERS)

        async def parts() -> AsyncIterator[bytes]:
            async with telling, aclosing(told(arguments)) as page:
                async for part in page:
                    yield part

        headers = {**HEADERS, "Content-Security-Policy": POLICY}
        return StreamingResponse(parts(), media_type="text/html", headers=headers)

    def file(name: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(_request: Request) -> Response:
            return FileResponse(STATIC / name, media_type=media_type, headers=HEADERS)

        return answer

    routes = [Route(path, file(*what), methods=["GET"]) for path, what in FILES.items()]
    routes.append(Route("/stream", stream, methods=["GET"]))
    routes.append(Route("/story", story, methods=["GET"]))
    trusted = Middleware(TrustedHostMiddleware, allowed_hosts=[*HOSTS, host], www_redirect=False)
    return Starlette(routes=routes, middleware=[trusted])


class _Protocol(H11Protocol):
    """Leaves a browser that asks for nothing, or never ends its question: each takes a descriptor,
    and uvicorn waits for the first request for ever."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
        self._watching = self.loop.call_later(IDLE, self._look, None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._watching.cancel()
        super().connection_lost(exc)

    def _look(self, before: object) -> None:
        answering = self.cycle is not None and not self.cycle.response_complete
        if not answering and self.cycle is before:
            self.transport.close()
            return
        # One that was answered meanwhile has a turn for the next question.
        self._watching = self.loop.call_later(IDLE, self._look, self.cycle)


class _Server(uvicorn.Server):
    """Ends the streams, for which it would wait, and leaves signals to whoever runs it."""

    hub: Hub

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.hub.close()
        await super().shutdown(sockets)


async def serve(
    hub: Hub,
    listening: socket.socket,
    source: AbstractAsyncContextManager[None] | None = None,
    stories: Command | None = None,
    ready: Callable[[], object] = lambda: None,
) -> None:
    """Serve until SIGINT or SIGTERM what the hub has, and what the source gives it meanwhile.
    ready: called when either would end it well."""
    app = application(hub, listening.getsockname()[0], stories)
    server = _Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            http=_Protocol,
            timeout_graceful_shutdown=GRACE,
        )
    )
    server.hub = hub

    def stop() -> None:
        server.should_exit = True

    # Connections inherit it. Of a stream that is not read nothing else would end the wait.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * UNREAD)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    ready()
    async with source or nullcontext():
        await server.serve(sockets=[listening])


@asynccontextmanager
async def watching(api: str, hub: Hub, stories: bool) -> AsyncIterator[None]:
    """Let the hub have what the controller says meanwhile. stories: whether packets tell theirs."""
    call = asyncio.get_running_loop().call_soon_threadsafe

    def draw(picture: Picture) -> None:
        call(hub.draw, replace(picture, stories=stories))

    watcher = Watcher(api, draw, lambda new: call(hub.show, new))
    with watcher.running():
        yield
