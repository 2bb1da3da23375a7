"""The Trace service: stories of packets of the running program."""

import asyncio
import logging
import socket
import time
from ipaddress import ip_address
from urllib.parse import unquote

import grpc
from grpc.aio import ServicerContext

from fcn.softswitch.api import EngineError
from fcn.softswitch.engine.program import Program, traced
from fcn.softswitch.engine.tracing import Bounds, Filter, TraceControl
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.proto import trace_pb2 as pb
from fcn.softswitch.stories.filters import FilterError, read_filter
from fcn.softswitch.stories.story import to_json
from fcn.softswitch.stories.teller import Teller

_LOG = logging.getLogger(__name__)

MOST_STORIES = 1000
LONGEST_MS = 600_000
MOST_TESTS = 32
_DEFAULT_MS = 10_000
_LOOK = 0.02
"""Seconds between looks at what has been told."""


class TraceService:
    """fcn.softswitch.v1.Trace of one device."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._busy = asyncio.Lock()

    async def Tell(  # noqa: N802
        self, request: pb.TellRequest, context: ServicerContext
    ) -> None:
        """Stories as they become complete, at last those that are not. They are written one by one:
        where the client is gone the trace ends at once."""
        if not _is_near(context.peer()):
            await context.abort(
                grpc.StatusCode.PERMISSION_DENIED,
                "stories have what packets carry: they are told on this switch's machine only",
            )
        count, milliseconds = request.count or 1, request.milliseconds or _DEFAULT_MS
        too_many = count > MOST_STORIES or len(request.match) > MOST_TESTS
        if too_many or milliseconds > LONGEST_MS:
            await context.abort(
                grpc.StatusCode.INVALID_ARGUMENT,
                f"{MOST_STORIES} stories, {LONGEST_MS // 1000} s and {MOST_TESTS} tests of a "
                "filter are the most",
            )
        if self._busy.locked():
            await context.abort(
                grpc.StatusCode.RESOURCE_EXHAUSTED, "another trace runs; end it or wait for it"
            )
        async with self._busy:
            try:
                await self._tell(request, context, count, milliseconds / 1000)
            except FilterError as error:
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            except EngineError as error:
                await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))

    async def _tell(
        self, request: pb.TellRequest, context: ServicerContext, count: int, seconds: float
    ) -> None:
        engine = self._device.forwarding()
        if not isinstance(engine, TraceControl):
            raise EngineError("the switch's engine cannot tell of packets")
        plain = engine.program
        program = await self._device.compiling(lambda: traced(plain))
        port = request.port if request.HasField("port") else None
        wanted = read_filter(program, port, list(request.match))
        teller = await asyncio.to_thread(Teller, program)
        with _Tracing(engine, plain, program, wanted, Bounds(stories=count)) as tracing:
            _LOG.info("a trace begins: port %s, %s", port, " ".join(request.match) or "any packet")
            await context.write(pb.Told(ready=True))
            until = time.monotonic() + seconds
            over = False
            while not over:
                await asyncio.sleep(_LOOK)
                over = time.monotonic() >= until or tracing.is_complete(count)
                for story in await asyncio.to_thread(teller.tell, engine.trace_records()):
                    await context.write(pb.Told(story=to_json(story)))
            state = engine.trace_state()
        why = "records of it had no room" if state["lost"] else "time was over before it was told"
        for story in teller.rest(why):
            await context.write(pb.Told(story=to_json(story)))
        summary = pb.Summary(**{name: state[name] for name in ("stories", "passed", "lost")})
        await context.write(pb.Told(summary=summary))


class _Tracing:
    """The engine goes on with the code that tells, and with its own afterwards."""

    def __init__(
        self, engine: TraceControl, plain: Program, program: Program, wanted: Filter, bounds: Bounds
    ) -> None:
        self._engine = engine
        self._plain = plain
        self._program = program
        self._wanted = wanted
        self._bounds = bounds

    def __enter__(self) -> "_Tracing":
        self._engine.use(self._program)
        try:
            self._engine.start_trace(self._wanted, self._bounds)
        except EngineError:
            self._engine.use(self._plain)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._engine.stop_trace()
            self._engine.use(self._plain)
        except EngineError:
            # Another program has taken its place meanwhile, and it is closed.
            _LOG.info("a trace ends with its engine")

    def is_complete(self, count: int) -> bool:
        """Whether all packets of all stories have left."""
        state = self._engine.trace_state()
        return state["stories"] == count and state["live"] == 0


def _is_near(peer: str) -> bool:
    """Whether a client, as gRPC writes its address, is on this machine."""
    family, _, place = unquote(peer).partition(":")
    address = place.rpartition(":")[0].strip("[]")
    if family not in ("ipv4", "ipv6"):
        return family == "unix"
    kind = socket.AF_INET if family == "ipv4" else socket.AF_INET6
    with socket.socket(kind, socket.SOCK_DGRAM) as to:
        try:
            if ip_address(address).is_loopback:
                return True
            # What is sent to an address of this machine has it as its source; this sends nothing.
            to.connect((address, 9))
        except (ValueError, OSError):
            return False
        source: str = to.getsockname()[0]
        reached: str = to.getpeername()[0]
    return source == reached
