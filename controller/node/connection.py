"""The P4Runtime connection to one switch, and its state.

finsy keeps the stream, the arbitration and the pipeline of a session. What is known of the state
comes from finsy's events (finsy.SwitchEvent), from sessions that did not begin (node/session.py)
and from what the node itself did.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import finsy as fy
from finsy.grpcutil import GRPCStatusCode
from finsy.p4client import P4ClientError
from finsy.p4entity import P4DigestListAck

from fcn.contract.pipeline import SCHEMAS, Pipeline
from fcn.controller.clock import Clock
from fcn.controller.config.model import Node
from fcn.controller.config.tls import Tls
from fcn.controller.events import EventBus, Kind
from fcn.controller.finsy_adapter import (
    channel_of,
    elect_by,
    keep_as_received,
    on_program,
    on_stream,
)
from fcn.controller.leadership.election import Seat
from fcn.controller.leadership.ids import STANDBY, ElectionId
from fcn.controller.leadership.leadership import Leadership
from fcn.controller.node.kept import Kept
from fcn.controller.node.lateness import Lateness
from fcn.controller.node.program_change import leave_program
from fcn.controller.node.session import (
    CLOSED,
    NoSessionError,
    ReportedError,
    SwitchAwayError,
    answering,
    explained,
    keep_session,
)
from fcn.controller.owners.flow_learning import DIGESTS
from fcn.controller.owners.punt import Punt
from fcn.controller.patience import patience
from fcn.controller.store import Store

PROGRAM_RETRY = 30.0
"""Seconds until a switch that refused its program is sent it again: it may take seconds to look at
it, and what waits there leaves before. In the same session, so that one that is started anew gets
it at once."""

SEND_TIMEOUT = 10.0
"""Seconds; as long as finsy waits for the answer to a request."""


@dataclass(frozen=True, slots=True)
class User:
    """Who uses a connection (Connection.serve)."""

    ready: Callable[[], Coroutine[Any, Any, None]]
    down: Callable[[], None]
    admits: Callable[[str, int], bool]
    failed: Callable[[str, bytes], None]


class State(StrEnum):
    CONNECTING = "connecting"
    SYNCHRONIZING = "synchronizing"
    UP = "up"
    AWAY = "away"
    BACKUP = "backup"


@dataclass(frozen=True, slots=True)
class Status:
    """State of a connection, a description, and the time it began (seconds since the epoch)."""

    state: State
    detail: str
    since: float


class Connection:
    """The connection to one switch, which one user at a time serves."""

    def __init__(
        self,
        name: str,
        node: Node,
        pipeline: Pipeline,
        bus: EventBus,
        clock: Clock,
        leadership: Leadership,
        tls: Tls | None = None,
        store: Store | None = None,
    ) -> None:
        self.name = name
        self._leadership = leadership
        self._kept = Kept(store or Store(), name, pipeline.schema)
        self._clock = clock
        self.lateness = Lateness(clock.monotonic)
        self.enter(State.CONNECTING, f"no session with {node.grpc} yet")
        self._bus = bus
        self._pipeline = pipeline
        self._sending = asyncio.Lock()
        self._closing = False
        self._pipeline_set = self._has_stream = False
        self._failure = self._refusal = ""
        self._round = 0
        """Of the election, in which this controller became primary in this session."""
        self._learned: list[fy.P4TableEntry] = []
        self._user: User | None = None
        self._jobs: set[asyncio.Task[None]] = set()
        self._in_session = False
        self._asked = (
            f"are `grpc`, `device_id` ({node.device_id}) and TLS ({'on' if tls else 'off'}) right"
        )
        options = fy.SwitchOptions(
            # Parsed once for all nodes: P4Schema takes the message as well as its file.
            p4info=pipeline.schema.p4info,  # type: ignore[arg-type]
            p4blob=pipeline.blob,
            device_id=node.device_id,
            channel_credentials=_credentials(tls) if tls is not None else None,
        )
        with SCHEMAS:
            self.switch = fy.Switch(name, node.grpc, options)
        self._ask = elect_by(self.switch, self, STANDBY, leadership.me)
        leadership.enter(name, self)
        on_program(self.switch, self._leave_program, self._refused)
        on_stream(self.switch, self._admits, self._failed)
        keep_as_received(self.switch.p4info, DIGESTS)
        self.switch.ee.add_listener(fy.SwitchEvent.CHANNEL_UP, self._up)
        self.switch.ee.add_listener(fy.SwitchEvent.BECOME_PRIMARY, self._begin)
        self.switch.ee.add_listener(fy.SwitchEvent.CHANNEL_READY, self._ready)
        self.switch.ee.add_listener(fy.SwitchEvent.CHANNEL_DOWN, self._down)

    @property
    def is_up(self) -> bool:
        """Whether the switch is synchronized, and can be read and written."""
        return self.status.state is State.UP

    @property
    def is_ruled(self) -> bool:
        """Whether this controller is to write to the switch."""
        return self.switch.is_primary and self._leadership.rules(self.name)

    @property
    def why_backup(self) -> str:
        """Why it is not to write to a switch that answers."""
        return self._leadership.why_not(self.name)

    def up_for(self) -> float:
        """Seconds for which the switch has been up; 0 while it is not."""
        return self._clock.monotonic() - self._entered if self.is_up else 0.0

    def serve(self, user: User) -> None:
        """Run `user.ready` now, in the session that there may be, and whenever the pipeline is set,
        and whenever another controller becomes or is no longer the primary one; it is cancelled
        when that ends. `user.down` is called whenever the connection is lost; `user.admits` and
        `user.failed` as finsy_adapter.on_stream has it."""
        self._user = user
        if self._in_session:
            self.start("ready", user.ready())

    async def pause(self) -> None:
        """End what runs of its user; the session goes on."""
        if self.is_up:
            self.enter(State.SYNCHRONIZING, "the configuration changes")
        user, self._user = self._user, None
        jobs = list(self._jobs)
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        if user is not None:
            user.down()

    def start(self, name: str, job: Coroutine[Any, Any, None]) -> None:
        """Run a job until the connection ends; an exception in it ends the connection."""
        task = self.switch.create_task(self._guarded(job), name=name)
        self._jobs.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            self._jobs.discard(task)
            # One that was cancelled before it began waits for nobody.
            job.close()

        task.add_done_callback(ended)

    def enter(self, state: State, detail: str = "") -> None:
        self.status = Status(state, detail, self._clock.wall())
        self._entered = self._clock.monotonic()

    def tell(self, detail: str) -> None:
        self.status = replace(self.status, detail=detail)

    def take_learned(self) -> list[fy.P4TableEntry]:
        """What the program before this one had learned on the switch, once; after a controller
        that did not write all of it into this one, as that had it."""
        learned, self._learned = self._learned, []
        return learned or self._kept.recall()

    def has_learned(self) -> None:
        """The switch has all of that in this program."""
        self._kept.drop()

    def heard(self, primary: int | None, highest: int, *, won: bool) -> None:
        """See finsy_adapter.Elector, as `left`, `decided` and `bid`."""
        bid = ElectionId.parse(highest) if won else None
        # Once: it is written to the disk, and a switch may say it as often as it likes.
        if bid is not None and bid.round != self._round:
            self._round = bid.round
            self._kept.lead(bid.round)
        self._leadership.heard(self.name, Seat(primary, highest), won=won)

    def left(self) -> None:
        self._round = 0
        self._leadership.left(self.name)

    async def decided(self) -> None:
        await self._leadership.decided()

    def bid(self) -> int | None:
        return self._leadership.bid_for(self.name)

    def take(self) -> None:
        """See leadership.Ballot, as `reconsider` and `heard_until`."""
        if self._has_stream:
            self.switch.create_task(self._take(), background=True, name="bid")

    def reconsider(self) -> None:
        if self._in_session:
            for job in self._jobs:
                job.cancel()
            self._ready(self.switch)

    def heard_until(self) -> float:
        return self.lateness.heard_until()

    def close(self) -> None:
        """Mark the connection as closed on purpose: its end is then not reported."""
        self._closing = True

    async def send_packet(self, port: int, frame: bytes) -> bool:
        """Send a frame out of a port. False when the switch is not up."""
        if not self.is_up:
            return False
        try:
            with answering(self.name):
                await self.send(Punt.send(port, frame))
        except SwitchAwayError:
            return False
        return True

    async def send(self, *messages: fy.P4PacketOut | P4DigestListAck) -> None:
        """Send messages on the stream. Raises P4ClientError, and SwitchAwayError where the switch
        takes none; that ends the stream, and with it the session."""
        sending = asyncio.ensure_future(self._send(messages))
        # gRPC ends the stream where a write is cancelled; who sends is, by another configuration.
        sending.add_done_callback(lambda sent: sent.cancelled() or sent.exception())
        await asyncio.shield(sending)

    async def _send(self, messages: Sequence[fy.P4PacketOut | P4DigestListAck]) -> None:
        async with self._turn():
            await self.switch.write(messages)

    async def run(self) -> None:
        await keep_session(self.switch, self._not_begun, self._clock.monotonic)

    async def _take(self) -> None:
        with suppress(SwitchAwayError):
            async with self._turn():
                if (election_id := self.bid()) is not None:
                    await self._ask(election_id)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """To send on the stream, which takes one message at a time. Raises SwitchAwayError."""
        async with self._sending:
            try:
                async with patience(SEND_TIMEOUT):
                    yield
            except TimeoutError:
                self._failure = "the switch takes no messages: it is stopped, or overloaded"
                raise SwitchAwayError(f"{self.name}: {self._failure}") from None

    async def _guarded(self, job: Coroutine[Any, Any, None]) -> None:
        """Record why a job failed; finsy then ends the connection and reconnects."""
        try:
            await job
        except Exception as error:
            # A switch that went away is no failure of the job, and is reported as such.
            is_closed = isinstance(error, CLOSED) and channel_of(self.switch) is None
            is_away = is_closed or isinstance(error, SwitchAwayError)
            if not is_away and getattr(error, "code", None) != GRPCStatusCode.UNAVAILABLE:
                self._failure = explained(error)
                self._bus.emit(Kind.NODE_ERROR, self.name, f"{self.name}: {self._failure}")
            if is_away or isinstance(error, P4ClientError):
                raise ReportedError(str(error)) from None
            raise

    def _not_begun(self, error: NoSessionError) -> None:
        detail = (
            f"no session with {self.switch.address}: {error}; is the switch running, and "
            f"{self._asked}? Trying again"
        )
        # Once, not with every attempt.
        if self.status.detail != detail:
            state = State.CONNECTING if self.status.state is State.CONNECTING else State.AWAY
            self.enter(state, detail)
            self._bus.emit(Kind.NODE_DOWN, self.name, f"{self.name}: {detail}")

    async def _refused(self, error: P4ClientError) -> bool:
        """Why the switch has not got its program; whether it is to be sent again, when it is."""
        if error.code == GRPCStatusCode.DEADLINE_EXCEEDED:
            self._failure = explained(error)
        if error.code in (GRPCStatusCode.DEADLINE_EXCEEDED, GRPCStatusCode.UNAVAILABLE):
            return False
        refusal = f"{self.switch.address} refused {self._pipeline.blob}: {explained(error)}"
        if error.code == GRPCStatusCode.PERMISSION_DENIED:
            # Another controller is primary by now.
            self._failure = refusal
            return False
        detail = f"{refusal}; trying again every {PROGRAM_RETRY:g} s, and when it is started anew"
        if self._refusal != refusal:
            self._refusal = refusal
            self.enter(State.AWAY, detail)
            self._bus.emit(Kind.NODE_DOWN, self.name, f"{self.name}: {detail}")
        self.tell(detail)
        await asyncio.sleep(PROGRAM_RETRY)
        return True

    def _admits(self, kind: str, octets: int) -> bool:
        return self._in_session and self._user is not None and self._user.admits(kind, octets)

    def _failed(self, kind: str, message: bytes) -> None:
        if self._user is not None:
            self._user.failed(kind, message)

    async def _leave_program(self) -> None:
        await self._leadership.leading()
        learned = await leave_program(self.switch, self.tell, self._pipeline, self._clock)
        self._kept.keep(learned)
        # The switch may have to compile it.
        self.tell(f"{self.switch.address} makes {self._pipeline.blob} ready")
        # A program that was set before the connection was lost has nothing yet.
        self._learned = learned or self._learned

    def _up(self, switch: fy.Switch) -> None:
        self._has_stream = True
        # Meanwhile others may have been heard.
        self.take()
        self._begin(switch)

    def _begin(self, _switch: fy.Switch) -> None:
        self._pipeline_set = self._in_session = False
        self._refusal = ""

    def _ready(self, _switch: fy.Switch) -> None:
        self._pipeline_set = self._in_session = True
        if self._user is not None:
            self.start("ready", self._user.ready())

    def _down(self, switch: fy.Switch) -> None:
        self._in_session = self._has_stream = False
        if self._user is not None:
            self._user.down()
        if self._closing:
            return
        reason = self._failure or f"lost the connection to {switch.address}"
        if not self._failure and not self._pipeline_set:
            reason += f" before it accepted {self._pipeline.blob}; the controller's log may say why"
        self._failure = ""
        detail = f"{reason}; trying again"
        self.enter(State.AWAY, detail)
        self._bus.emit(Kind.NODE_DOWN, self.name, f"{self.name}: {detail}")


def _credentials(tls: Tls) -> fy.GRPCCredentialsTLS:
    """The files are read for every session, so that renewed certificates are taken."""
    ca, certificate, key = (
        None if file is None else Path(file) for file in (tls.ca, tls.certificate, tls.key)
    )
    return fy.GRPCCredentialsTLS(
        cacert=ca, cert=certificate, private_key=key, target_name_override=tls.name or ""
    )
