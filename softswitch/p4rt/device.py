"""A P4Runtime device: its pipeline configs, and Write and Read on the committed one.

One lock makes Write and Read serializable; pipelines are built outside of it.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Protocol, TypeVar

from finsy.proto import p4r

from fcn.contract.exact import sized
from fcn.softswitch.api import Engine, EngineError, EngineEvents
from fcn.softswitch.p4rt.arbitration import Arbitration, Client
from fcn.softswitch.p4rt.batch import write_batch
from fcn.softswitch.p4rt.detached import DetachedEngine
from fcn.softswitch.p4rt.errors import (
    BatchError,
    P4RuntimeError,
    aborted,
    failed_precondition,
    internal,
    invalid_argument,
    not_found,
    permission_denied,
    unimplemented,
)
from fcn.softswitch.p4rt.pipeline import Pipeline, PipelineConfig, RoleUpdate

_LOG = logging.getLogger(__name__)
_Config = p4r.SetForwardingPipelineConfigRequest
_Reply = p4r.GetForwardingPipelineConfigRequest
_T = TypeVar("_T")

# Clients depend on this message of the reference server.
_NO_PIPELINE = "No forwarding pipeline config set for this device"

# Entities processed before yielding to the event loop.
_SLICE = 64
_CHUNK = 256
"""Entities of a response, after which others have their turn."""

_ENTITY = b"\x0a"
"""The tag of ReadResponse.entities."""


class Backend(Protocol):
    """Creates and closes engines. build() and open() may block; they are called outside the event
    loop."""

    def build(self, device_config: bytes) -> None:
        """Check and compile BMv2 JSON; EngineError says why it cannot run."""

    def open(self, device_config: bytes) -> Engine:
        """An engine for a built program; EngineError when its ports cannot be opened."""

    def start(self, engine: Engine) -> None:
        """Start forwarding with an opened or paused engine; EngineError when that fails."""

    def pause(self, engine: Engine) -> None:
        """Stop forwarding with an engine until start(); nothing it holds is lost."""

    def close(self, engine: Engine) -> None:
        """Stop forwarding with an engine, which is not used any more."""

    def statistics(self, engine: Engine) -> Mapping[str, int]:
        """Counters of the engine itself."""


@dataclass(slots=True)
class _Staged:
    """A saved config with the entries written since (VERIFY_AND_SAVE)."""

    pipeline: Pipeline
    log: list[RoleUpdate] = field(default_factory=list)


class Device:
    """One device; `attached` is called with each engine that starts forwarding. `wall_clock` dates
    notifications: ns since the epoch. `parse` checks a config for the engines of the backend."""

    def __init__(
        self,
        device_id: int,
        backend: Backend,
        attached: Callable[[Engine | None], None] = lambda _engine: None,
        port_status: Callable[[int, bool], None] = lambda _port, _up: None,
        wall_clock: Callable[[], int] = time.time_ns,
        parse: Callable[[p4r.ForwardingPipelineConfig], PipelineConfig] = PipelineConfig.parse,
    ) -> None:
        self.device_id = device_id
        self._parse = parse
        self.arbitration = Arbitration(device_id)
        self._backend = backend
        self._attached = attached
        self._port_status = port_status
        self._wall_clock = wall_clock
        self._lock = asyncio.Lock()
        self._building = asyncio.Lock()
        self._running: Pipeline | None = None
        self._staged: _Staged | None = None
        self._stream_drops = 0

    async def arbitrate(self, client: Client, update: p4r.MasterArbitrationUpdate) -> None:
        """Handle a MasterArbitrationUpdate; a new primary waits for Writes in flight."""
        if self.arbitration.begin(client, update):
            async with self._lock:
                self.arbitration.complete(client)
            if self.arbitration.is_primary(client):
                _LOG.info("election id %s is primary of role %r", client.election_id, client.role)

    async def set_config(self, request: p4r.SetForwardingPipelineConfigRequest) -> None:
        """SetForwardingPipelineConfig with every action."""
        self._check_primary(request)
        action = request.action
        if action == _Config.COMMIT:
            if request.HasField("config"):
                raise invalid_argument("COMMIT takes no config, it commits the saved one")
            await self._commit_saved(request)
            return
        if action not in (
            _Config.VERIFY,
            _Config.VERIFY_AND_SAVE,
            _Config.VERIFY_AND_COMMIT,
            _Config.RECONCILE_AND_COMMIT,
        ):
            raise invalid_argument("the action is missing")
        if not request.HasField("config"):
            raise invalid_argument("the config is missing")
        config = await self._built(request.config, self._parse)
        if action == _Config.VERIFY:
            return
        async with self._lock:
            self._check_primary(request)
            match action:
                case _Config.VERIFY_AND_SAVE:
                    self._staged = _Staged(self._detached(config))
                case _Config.VERIFY_AND_COMMIT:
                    await self._commit(config, [])
                case _Config.RECONCILE_AND_COMMIT:
                    await self._commit(config, await self._preserved(config))

    async def preload(self, config: p4r.ForwardingPipelineConfig) -> None:
        """Commit a config without a controller, at start-up.

        Without a P4Info, packets are processed and requests answered as if there were no config.
        """
        parsed = await self._built(config, PipelineConfig.parse_preloaded)
        async with self._lock:
            await self._commit(parsed, [])

    def get_config(
        self, request: p4r.GetForwardingPipelineConfigRequest
    ) -> p4r.GetForwardingPipelineConfigResponse:
        """The config entities refer to; `config` is unset without one."""
        self._check_device(request.device_id)
        response = p4r.GetForwardingPipelineConfigResponse()
        pipeline = self._current()
        if pipeline is None:
            return response
        config = pipeline.config.message
        if request.response_type in (_Reply.ALL, _Reply.P4INFO_AND_COOKIE):
            response.config.p4info.CopyFrom(config.p4info)
        if request.response_type in (_Reply.ALL, _Reply.DEVICE_CONFIG_AND_COOKIE):
            response.config.p4_device_config = config.p4_device_config
        if config.HasField("cookie"):
            response.config.cookie.CopyFrom(config.cookie)
        response.config.SetInParent()
        return response

    async def write(self, request: p4r.WriteRequest) -> None:
        """Write; BatchError when some updates failed."""
        self._check_primary(request)
        async with self._lock:
            self._check_primary(request)
            pipeline = _required(self._current())
            if request.atomicity == p4r.WriteRequest.DATAPLANE_ATOMIC:
                raise unimplemented(
                    "DATAPLANE_ATOMIC is not supported; use CONTINUE_ON_ERROR or ROLLBACK_ON_ERROR"
                )
            rollback = request.atomicity == p4r.WriteRequest.ROLLBACK_ON_ERROR
            failed: set[int] = set()
            try:
                await write_batch(pipeline, request.updates, request.role, rollback=rollback)
            except BatchError as error:
                failed = {i for i, result in enumerate(error.results) if result}
                raise
            finally:
                if self._staged is not None:
                    self._staged.log.extend(
                        RoleUpdate(update, request.role)
                        for i, update in enumerate(request.updates)
                        if i not in failed
                    )

    async def read(self, request: p4r.ReadRequest) -> AsyncGenerator[p4r.ReadResponse, None]:
        """The entities of all requests of a batch that are valid, some at a time; BatchError has
        the errors of the others. Between two requests of it others have their turn, and whoever is
        slow to take what was read keeps nobody waiting."""
        self._check_device(request.device_id)
        async with self._lock:
            pipeline = _required(self._current())
        found: list[bytes] = []
        results: list[P4RuntimeError | None] = []
        for number, query in enumerate(request.entities, 1):
            async with self._lock:
                if self._current() is not pipeline:
                    raise aborted("the pipeline was replaced while it was read; read again")
                results.append(await _told(pipeline, query, request.role, found))
            while len(found) >= _CHUNK:
                yield p4r.ReadResponse.FromString(b"".join(found[:_CHUNK]))
                del found[:_CHUNK]
            # To look through a table may take long, also where nothing is found.
            through = query.HasField("table_entry") and not query.table_entry.match
            if through or number % _SLICE == 0:
                await asyncio.sleep(0)
        if found:
            yield p4r.ReadResponse.FromString(b"".join(found))
        if any(results):
            raise BatchError(results)

    def packet_out(self, client: Client, message: p4r.PacketOut) -> None:
        """Inject a packet of a primary; P4RuntimeError goes back on the stream."""
        if not self.arbitration.is_primary(client):
            raise permission_denied("only the primary may send packets")
        _required(self._controlled()).packet_out(message)

    def digest_ack(self, client: Client, ack: p4r.DigestListAck) -> None:
        """Acknowledge a digest list; P4RuntimeError goes back on the stream."""
        if not self.arbitration.is_primary(client):
            raise permission_denied("only the primary may acknowledge digests")
        _required(self._controlled()).digests.acknowledge(ack)

    def statistics(self) -> dict[str, int]:
        """Counters of the server and of the running pipeline and engine, by name."""
        counters = {"stream_messages_dropped": self._stream_drops}
        if self._running is not None:
            counters["short_packet_ins"] = self._running.short_packet_ins
            for name, value in asdict(self._running.digests.stats).items():
                counters[f"digest_messages_{name}"] = value
            for name, value in self._backend.statistics(self._running.engine).items():
                counters[f"engine_{name}"] = value
        return counters

    def forwarding(self) -> Engine:
        """The engine that forwards now. Raises EngineError."""
        if self._running is None:
            raise EngineError("there is no program yet; a controller has to send one")
        return self._running.engine

    async def compiling(self, work: Callable[[], _T]) -> _T:
        """What compiles waits for its turn, as pipelines do; it is done outside the event loop."""
        async with self._building:
            return await asyncio.to_thread(work)

    async def close(self) -> None:
        async with self._lock:
            if self._running is not None:
                stopped, self._running = self._running, None
                self._attached(None)
                self._close(stopped)

    def _notify(self, message: p4r.StreamMessageResponse) -> bool:
        """Send a notification to the primaries of all roles; False when no client received it."""
        taken = [client.stream.offer(message) for client in self.arbitration.primaries()]
        self._stream_drops += taken.count(False)
        return any(taken)

    async def _built(
        self,
        message: p4r.ForwardingPipelineConfig,
        parse: Callable[[p4r.ForwardingPipelineConfig], PipelineConfig],
    ) -> PipelineConfig:
        """Check and compile a config, one at a time: each takes memory and a core."""
        async with self._building:
            config = await asyncio.to_thread(parse, message)
            try:
                await asyncio.to_thread(self._backend.build, config.program)
            except EngineError as error:
                raise invalid_argument(str(error)) from error
            return config

    async def _commit(self, config: PipelineConfig, state: list[RoleUpdate]) -> None:
        """Replace the running pipeline. Whatever fails, fails before that one is let go of."""
        try:
            engine = await asyncio.to_thread(self._backend.open, config.program)
        except EngineError as error:
            raise internal(f"the pipeline cannot start: {error}") from error
        replaced = self._running
        try:
            notify = self._notify if config.has_p4info else _nobody
            pipeline = Pipeline(config, engine, notify, self._wall_clock)
            await _replay(state, pipeline)
            engine.set_events(
                EngineEvents(
                    digest=pipeline.digests.learn,
                    packet_in=pipeline.on_packet_in,
                    idle=pipeline.on_idle,
                    port_status=self._port_status,
                )
            )
            self._attached(engine)
            self._start_instead(engine, replaced)
        except (EngineError, P4RuntimeError) as error:
            self._attached(replaced.engine if replaced is not None else None)
            self._backend.close(engine)
            raise internal(f"the pipeline cannot start: {error}") from error
        self._running = pipeline
        self._staged = None
        if replaced is not None:
            self._close(replaced)
        cookie = config.message.cookie.cookie
        _LOG.info("pipeline committed: %d tables, cookie %#x", len(config.schema.tables), cookie)

    def _start_instead(self, engine: Engine, replaced: Pipeline | None) -> None:
        """Start an engine where another forwards; when it cannot, the other goes on."""
        if replaced is not None:
            self._backend.pause(replaced.engine)
        try:
            self._backend.start(engine)
        except EngineError:
            if replaced is not None:
                self._backend.start(replaced.engine)
            raise

    async def _commit_saved(self, request: p4r.SetForwardingPipelineConfigRequest) -> None:
        async with self._lock:
            self._check_primary(request)
            if self._staged is None:
                raise not_found("no config was saved with VERIFY_AND_SAVE")
            await self._commit(self._staged.pipeline.config, self._staged.log)

    async def _preserved(self, config: PipelineConfig) -> list[RoleUpdate]:
        """The current state as updates, tried out on the new config first."""
        current = self._current()
        if current is None:
            return []
        state = [update async for update in _sliced(current.export())]
        try:
            await _replay(state, self._detached(config))
        except P4RuntimeError as error:
            raise invalid_argument(
                f"the forwarding state cannot be preserved: {error.message}"
            ) from error
        return state

    def _detached(self, config: PipelineConfig) -> Pipeline:
        return Pipeline(config, DetachedEngine(config.device), _nobody, self._wall_clock)

    def _close(self, pipeline: Pipeline) -> None:
        pipeline.close()
        self._backend.close(pipeline.engine)

    def _current(self) -> Pipeline | None:
        return self._staged.pipeline if self._staged is not None else self._controlled()

    def _controlled(self) -> Pipeline | None:
        """The running pipeline, unless it was started without a P4Info."""
        running = self._running
        return running if running is not None and running.config.has_p4info else None

    def _check_device(self, device_id: int) -> None:
        if device_id != self.device_id:
            raise not_found(f"device {device_id} is not here, it is {self.device_id}")

    def _check_primary(
        self, request: p4r.WriteRequest | p4r.SetForwardingPipelineConfigRequest
    ) -> None:
        self._check_device(request.device_id)
        if request.role_id and not request.role:
            raise invalid_argument("role ids are deprecated; use role")
        election_id = request.election_id if request.HasField("election_id") else None
        self.arbitration.check_primary(request.role, election_id)


def _required(pipeline: Pipeline | None) -> Pipeline:
    if pipeline is None:
        raise failed_precondition(_NO_PIPELINE)
    return pipeline


async def _told(
    pipeline: Pipeline, query: p4r.Entity, role: str, found: list[bytes]
) -> P4RuntimeError | None:
    """Add the entities that a request selects, or return what is wrong with it."""
    try:
        for entity in pipeline.told(query, role):
            found.append(sized(_ENTITY, entity))
            if len(found) % _CHUNK == 0:
                await asyncio.sleep(0)
    except P4RuntimeError as error:
        return error
    except EngineError as error:
        return internal(str(error))
    return None


def _nobody(_message: p4r.StreamMessageResponse) -> bool:
    """Notify no client."""
    return False


async def _sliced(items: Iterable[_T]) -> AsyncIterator[_T]:
    """The items, yielding to the event loop from time to time."""
    for index, item in enumerate(items):
        if index % _SLICE == _SLICE - 1:
            await asyncio.sleep(0)
        yield item


async def _replay(state: Sequence[RoleUpdate], pipeline: Pipeline) -> None:
    async for update, role in _sliced(state):
        pipeline.write(update, role)
