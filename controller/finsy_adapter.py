"""What the controller needs inside finsy, which has no hooks for it; nothing else touches it there.

docs/finsy.md has the hooks that would take the place of this module.
"""

import inspect
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import contextmanager
from types import CodeType
from typing import Any, NamedTuple, Protocol

import finsy as fy
import grpc
from finsy import p4client
from finsy.grpcutil import GRPCStatusCode
from finsy.p4arbitrator import Arbitrator
from finsy.p4client import P4ClientError
from finsy.p4entity import P4DigestList
from finsy.p4schema import P4ConfigResponseType, P4StructType
from finsy.proto import U128, p4d, p4i, p4r, rpc_code

from fcn.contract.exact import sized

SUITED = ">=0.30,<0.31"
"""Versions of finsy whose inside is known, as in pyproject.toml."""

SET, GET = "_set_pipeline_config_request", "_get_pipeline_config_request"
SCHEMA = "_p4schema"
DECODE = "decode_data"
CHANNEL = "grpc_channel"
STREAM = "_handle_stream_message"
ARBITRATOR = "_arbitrator"
CLIENT = "_p4client"

TIMEOUT = 10.0
"""Seconds for a request, as finsy has them."""

PROGRAM_REQUESTS = 6
"""Requests to take a program, one after the other, of which each may take as long."""

_UPDATES = b"\x22"
"""Tag of WriteRequest.updates."""

Data = Sequence[p4d.P4Data]
"""The fields of a struct as received."""


class FinsyError(Exception):
    """The inside of finsy is another; the message says where and what to do."""


class _Place(NamedTuple):
    """A function that is replaced, or called: whose it is, how it is called, and who calls it in
    finsy."""

    owner: Any
    name: str
    arguments: tuple[Any, ...]
    named: tuple[str, ...]
    caller: tuple[Any, str]


_PLACES = (
    _Place(fy.Switch, SET, (None,), ("config",), (fy.Switch, "_set_pipeline")),
    _Place(fy.Switch, GET, (None,), ("response_type",), (fy.Switch, "_set_pipeline")),
    _Place(P4StructType, DECODE, (None, None), (), (P4DigestList, "decode")),
    _Place(
        p4client,
        CHANNEL,
        (None,),
        ("credentials", "options", "client_type"),
        (p4client.P4Client, "open"),
    ),
    _Place(fy.Switch, STREAM, (None, None), (), (fy.Switch, "_receive_until_closed")),
    _Place(Arbitrator, "complete_request", (None, None), (), (fy.Switch, "_run")),
    _Place(Arbitrator, "handshake", (None, None), ("conflict",), (fy.Switch, "_run")),
    _Place(Arbitrator, "update", (None,) * 3, (), (fy.Switch, "_handle_stream_message")),
    _Place(Arbitrator, "reset", (None,), (), (fy.Switch, "__aexit__")),
    _Place(Arbitrator, "_send", (None, None), (), (Arbitrator, "_arbitration_request")),
    _Place(Arbitrator, "_receive", (None, None), (), (Arbitrator, "_arbitration_request")),
    _Place(fy.Switch, "_become_primary", (None,), (), (Arbitrator, "update")),
    _Place(fy.Switch, "_become_backup", (None,), (), (Arbitrator, "update")),
)


def check_finsy() -> None:
    """Raise FinsyError where a function is not there, takes other arguments, cannot be replaced in
    one object, or is not called any more where it was: that would fail later, or do nothing."""
    wrong = [fault for place in _PLACES if (fault := _fault(place))]
    if SCHEMA not in _names(fy.Switch.p4info.fget.__code__):  # type: ignore[attr-defined]
        wrong.append(f"Switch.p4info is not {SCHEMA}")
    if ARBITRATOR not in _names(fy.Switch.is_primary.fget.__code__):  # type: ignore[attr-defined]
        wrong.append(f"Switch.is_primary is not of {ARBITRATOR}")
    if wrong:
        raise FinsyError(
            f"finsy {fy.__version__} is not as the controller needs it: {'; '.join(wrong)}. "
            f"Install finsy{SUITED}"
        )


def _fault(place: _Place) -> str:
    name = f"{place.owner.__name__.removeprefix('finsy.')}.{place.name}"
    function = getattr(place.owner, place.name, None)
    if function is None:
        return f"there is no {name}"
    try:
        inspect.signature(function).bind(*place.arguments, **dict.fromkeys(place.named))
    except TypeError as error:
        return f"{name} takes other arguments ({error})"
    if isinstance(place.owner, type) and not place.owner.__dictoffset__:
        return f"{name} cannot be replaced in one object"
    owner, caller = place.caller
    code = getattr(getattr(owner, caller, None), "__code__", None)
    if code is None or place.name not in _names(code):
        return f"{owner.__name__}.{caller} does not call {name}"
    return ""


def _names(code: CodeType) -> set[str]:
    """Global names and attributes that a function uses, in comprehensions too."""
    nested = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names, nested))


async def _answers(get_cookie: Callable[[], Awaitable[object]]) -> bool:
    """Whether a switch says anything, if only that it has no program."""
    try:
        await get_cookie()
    except P4ClientError as error:
        return error.code not in (GRPCStatusCode.DEADLINE_EXCEEDED, GRPCStatusCode.UNAVAILABLE)
    return True


def on_program(
    switch: fy.Switch,
    before: Callable[[], Awaitable[None]],
    refused: Callable[[P4ClientError], Awaitable[bool]],
) -> None:
    """From now on wait for `before` when the switch is to get another program, and for
    `refused` with the reason where it does not take it, which says whether it is sent again: else
    the session ends. One that answers meanwhile has a minute to make the program ready: a switch
    may have to compile it."""
    set_program, get_cookie = getattr(switch, SET), getattr(switch, GET)

    async def set_in_time(**request: Any) -> Any:  # noqa: ANN401
        for _ in range(PROGRAM_REQUESTS - 1):
            try:
                return await set_program(**request)
            except P4ClientError as error:
                if error.code != GRPCStatusCode.DEADLINE_EXCEEDED or not await _answers(get_cookie):
                    raise
        return await set_program(**request)

    async def set_or_tell(**request: Any) -> Any:  # noqa: ANN401
        while True:
            try:
                await before()
                return await set_in_time(**request)
            except P4ClientError as error:
                if not await refused(error):
                    raise

    setattr(switch, SET, set_or_tell)


def on_stream(
    switch: fy.Switch,
    admits: Callable[[str, int], bool],
    failed: Callable[[str, bytes], None],
) -> None:
    """From now on ask `admits` of each message on the switch's stream but for arbitration, by its
    kind and octets, whether to take it, and tell `failed` while the exception of one is handled
    that finsy cannot decode: that would end the session."""
    handle = getattr(switch, STREAM)

    async def handle_or_tell(message: p4r.StreamMessageResponse) -> None:
        kind = str(message.WhichOneof("update"))
        if kind == "arbitration":
            await handle(message)
        elif admits(kind, message.ByteSize()):
            try:
                await handle(message)
            except Exception:
                failed(kind, message.SerializeToString())

    setattr(switch, STREAM, handle_or_tell)


async def present_program(switch: fy.Switch) -> p4i.P4Info | None:
    """P4Info of the program that the switch has, None where it has none. Raises P4ClientError."""
    try:
        reply = await getattr(switch, GET)(response_type=P4ConfigResponseType.P4INFO_AND_COOKIE)
    except P4ClientError as error:
        if error.is_pipeline_missing:
            return None
        raise
    program: p4i.P4Info = reply.config.p4info
    return program if reply.config.HasField("p4info") else None


@contextmanager
def speaking(switch: fy.Switch, schema: fy.P4Schema) -> Iterator[None]:
    """Meanwhile the switch is read and written by another P4Info than that which it is to get."""
    own = getattr(switch, SCHEMA)
    setattr(switch, SCHEMA, schema)
    try:
        yield
    finally:
        setattr(switch, SCHEMA, own)


def keep_as_received(schema: fy.P4Schema, digests: Collection[str]) -> None:
    """Have finsy keep the items of these digests of a switch as received, as `Data`.

    It takes finsy ten times as long to name and check every field, which is more than all else that
    is done with a report that is not used. Digests that the program does not have are none.
    """
    for name in digests:
        digest = schema.digests.get(name)
        if digest is not None and isinstance(digest.type_spec, P4StructType):
            setattr(digest.type_spec, DECODE, _keeper(len(digest.type_spec.members)))


def _keeper(fields: int) -> Callable[[p4d.P4Data], Data]:
    def keep(data: p4d.P4Data) -> Data:
        members: Data = data.struct.members
        if len(members) != fields:
            raise ValueError(f"a digest of {len(members)} fields, not {fields}")
        return members

    return keep


async def read_encoded(switch: fy.Switch, patterns: Iterable[p4r.Entity]) -> AsyncIterator[bytes]:
    """Entities that match one of the patterns, encoded as these, a response at a time: to decode
    them takes finsy ten times as long as all else. Raises P4ClientError."""
    request = p4r.ReadRequest(device_id=switch.device_id, entities=patterns)
    channel = channel_of(switch)
    assert channel is not None
    call = channel.unary_stream("/p4.v1.P4Runtime/Read", p4r.ReadRequest.SerializeToString, bytes)
    try:
        async for reply in call(request, timeout=TIMEOUT):
            yield reply
    except grpc.RpcError as error:
        raise P4ClientError(error, "ReadRequest") from None


async def write_encoded(switch: fy.Switch, updates: Iterable[bytes]) -> None:
    """Write updates that are encoded: finsy makes each a message, and copies it. Raises
    P4ClientError."""
    begin = p4r.WriteRequest(device_id=switch.device_id)
    getattr(switch, ARBITRATOR).complete_request(begin)
    request = b"".join([begin.SerializeToString(), *[sized(_UPDATES, each) for each in updates]])
    channel = channel_of(switch)
    assert channel is not None
    try:
        await channel.unary_unary("/p4.v1.P4Runtime/Write", bytes, bytes)(request, timeout=TIMEOUT)
    except grpc.RpcError as error:
        wrote = p4r.WriteRequest.FromString(request)
        raise P4ClientError(error, "WriteRequest", msg=wrote, schema=switch.p4info) from None


def channel_of(switch: fy.Switch) -> grpc.aio.Channel | None:
    """The channel to a switch, for its other services; None without one."""
    client = getattr(switch, CLIENT)
    return client.channel if client is not None else None


@contextmanager
def channels_by(open_channel: Callable[[str], grpc.aio.Channel]) -> Iterator[None]:
    """Let finsy open these, by address, instead of those of gRPC: it takes none from its caller."""
    real = getattr(p4client, CHANNEL)

    def opened(address: str, **_options: object) -> grpc.aio.Channel:
        return open_channel(address)

    setattr(p4client, CHANNEL, opened)
    try:
        yield
    finally:
        setattr(p4client, CHANNEL, real)


class Elector(Protocol):
    """Decides where a controller wants to be primary."""

    def heard(self, primary: int | None, highest: int, *, won: bool) -> None:
        """The switch has told the election ID of the primary client, and the highest there was;
        won: this client is primary."""

    def left(self) -> None:
        """The stream has ended."""

    async def decided(self) -> None:
        """Wait until a bid can be decided on."""

    def bid(self) -> int | None:
        """The election ID to become primary with; None: that is not wanted now."""


class ElectionError(Exception):
    """A switch knows another controller by this one's number."""


class NoHandshakeError(Exception):
    """Its cause is why a session does not begin. Who begins it tells that: finsy logs no error of
    this code."""

    code = GRPCStatusCode.UNAVAILABLE


def elect_by(
    switch: fy.Switch, elector: Elector, standby: Sequence[int], first: int
) -> Callable[[int], Awaitable[None]]:
    """From now on `elector` decides whether the switch is asked to make this client primary; until
    then it is there under an election ID of `standby`, of which no two clients can use one:
    the one with number `first` modulo their number is tried first. Returns what asks the switch on
    a stream that is up; nobody else may write to it meanwhile."""
    arbitrator = _Elected(elector, standby, first)
    setattr(switch, ARBITRATOR, arbitrator)

    async def ask(election_id: int) -> None:
        arbitrator.election_id = election_id
        await arbitrator._send(switch)

    return ask


class _Elected(Arbitrator):
    """Primary is only who has bid; finsy's own takes every switch where nobody is."""

    def __init__(self, elector: Elector, standby: Sequence[int], first: int) -> None:
        super().__init__(standby[first % len(standby)])
        self._elector = elector
        self._standby = standby
        self._highest = 0

    async def handshake(self, switch: fy.Switch, *, conflict: bool = False) -> None:
        if conflict:
            raise self._double()
        try:
            await self._bid(switch)
        except (P4ClientError, ElectionError) as error:
            raise NoHandshakeError from error

    async def _bid(self, switch: fy.Switch) -> None:
        await self._begin(switch)
        while not self.is_primary:
            await self._elector.decided()
            bid = self._elector.bid()
            if bid is None:
                return
            self.election_id = bid
            await self._send(switch)
            answer = await self._receive(switch)
            if answer is None:
                raise self._double()
            self._note(answer)

    async def _begin(self, switch: fy.Switch) -> None:
        for _ in self._standby:
            await self._send(switch)
            answer = await self._receive(switch)
            if answer is not None:
                self._note(answer)
                return
            # The stream has ended; the next message begins another.
            place = self._standby.index(self.initial_election_id) + 1
            self.initial_election_id = self._standby[place % len(self._standby)]
            self.election_id = self.initial_election_id
        raise ElectionError(f"it has {len(self._standby)} other controllers")

    def _double(self) -> ElectionError:
        return ElectionError(
            f"another controller has election ID {self.election_id} there: two run under one name"
        )

    async def update(self, switch: fy.Switch, msg: p4r.MasterArbitrationUpdate) -> None:
        was_primary = self.is_primary
        self._note(msg)
        if self.is_primary and not was_primary:
            switch._become_primary()  # type: ignore[no-untyped-call]
        elif was_primary and not self.is_primary:
            switch._become_backup()  # type: ignore[no-untyped-call]

    def reset(self) -> None:
        super().reset()
        self._highest = 0
        self._elector.left()

    def _note(self, said: p4r.MasterArbitrationUpdate) -> None:
        told = U128.decode(said.election_id)
        self._highest = max(self._highest, told)
        self.primary_id = told
        won = said.status.code == rpc_code.OK and told == self.election_id
        self.is_primary = won and told != self.initial_election_id
        taken = said.status.code != rpc_code.NOT_FOUND
        self._elector.heard(told if taken else None, self._highest, won=self.is_primary)
