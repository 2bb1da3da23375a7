"""An engine that only stores state, the test program, and raw P4Runtime sessions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc
import pytest
from finsy import P4Schema
from finsy.proto import U128, p4r, p4r_grpc, rpc_status
from google.protobuf import text_format

from fcn.contract.targets import V1MODEL
from fcn.softswitch.api import (
    ActionCall,
    Engine,
    EngineError,
    EngineEvents,
    GroupMember,
    MatchKey,
    PortCounters,
    PortQueue,
    TableAction,
)
from fcn.softswitch.p4rt.detached import DetachedEngine
from fcn.softswitch.p4rt.devconfig import DeviceConfig, parse_device_config
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.proto.deviceconfig_pb2 import P4DeviceConfig

DATA = Path(__file__).parent / "data"
P4INFO = DATA / "kitchen.p4info.txtpb"
P4BLOB = DATA / "kitchen.json"
DEVICE_ID = 1
PORTS = frozenset({1, 2, 3})


class RecordingEngine(DetachedEngine):
    """Records the calls it receives; tests trigger its events."""

    def __init__(self, config: DeviceConfig) -> None:
        super().__init__(config)
        self.entries: dict[int, tuple[str, tuple[MatchKey, ...], int, TableAction]] = {}
        self.defaults: dict[str, ActionCall | None] = {}
        self.members: dict[int, ActionCall] = {}
        self.groups: dict[int, tuple[GroupMember, ...]] = {}
        self.sent: list[bytes] = []
        self.queues: dict[int, PortQueue] = {}
        self.rounds: dict[int, PortQueue] = {}
        self.value_sets: dict[str, set[int]] = {}
        self.events: EngineEvents | None = None
        self.started = False
        self.closed = False

    def set_events(self, events: EngineEvents) -> None:
        self.events = events

    def table_insert(
        self,
        table: str,
        match: Sequence[MatchKey],
        priority: int,
        action: TableAction,
        idle_timeout_ns: int = 0,
    ) -> int:
        handle = super().table_insert(table, match, priority, action, idle_timeout_ns)
        self.entries[handle] = (table, tuple(match), priority, action)
        return handle

    def table_modify(
        self, table: str, handle: int, action: TableAction, idle_timeout_ns: int = 0
    ) -> None:
        self.entries[handle] = (*self.entries[handle][:3], action)

    def table_delete(self, table: str, handle: int) -> None:
        super().table_delete(table, handle)
        del self.entries[handle]

    def table_set_default(self, table: str, action: ActionCall | None) -> None:
        self.defaults[table] = action

    def value_set_write(self, value_set: str, values: Sequence[int]) -> None:
        self.value_sets[value_set] = set(values)

    def member_insert(self, profile: str, member_id: int, action: ActionCall) -> None:
        self.members[member_id] = action

    def member_modify(self, profile: str, member_id: int, action: ActionCall) -> None:
        self.members[member_id] = action

    def member_delete(self, profile: str, member_id: int) -> None:
        del self.members[member_id]

    def group_set(self, profile: str, group_id: int, members: Sequence[GroupMember]) -> None:
        self.groups[group_id] = tuple(members)

    def group_delete(self, profile: str, group_id: int) -> None:
        del self.groups[group_id]

    def packet_out(self, data: bytes) -> None:
        self.sent.append(data)

    def port_queue_set(self, port: int, queue: PortQueue) -> None:
        if port in (V1MODEL.ports.parking, V1MODEL.ports.clock):
            self.rounds[port] = queue
            return
        self.port_counters(port)
        self.queues[port] = queue

    def port_counters(self, port: int) -> PortCounters:
        if port not in PORTS:
            raise EngineError(f"there is no port {port}")
        return PortCounters(port, 100 * port, 0, 0, 0, port, 2 * port)

    def close(self) -> None:
        self.closed = True


@dataclass
class FakeBackend:
    """Makes recording engines; the errors of the build, of opening ports and of starting."""

    engines: list[RecordingEngine] = field(default_factory=list)
    refuse: str = ""
    refuse_open: str = ""
    refuse_start: str = ""

    def build(self, device_config: bytes) -> None:
        if self.refuse:
            raise EngineError(self.refuse)

    def open(self, device_config: bytes) -> Engine:
        if self.refuse_open:
            raise EngineError(self.refuse_open)
        engine = RecordingEngine(parse_device_config(device_config))
        self.engines.append(engine)
        return engine

    def start(self, engine: Engine) -> None:
        if self.refuse_start and engine is self.engine:
            raise EngineError(self.refuse_start)
        assert isinstance(engine, RecordingEngine)
        engine.started = True

    def pause(self, engine: Engine) -> None:
        assert isinstance(engine, RecordingEngine)
        engine.started = False

    def close(self, engine: Engine) -> None:
        engine.close()

    def statistics(self, engine: Engine) -> Mapping[str, int]:
        return {"input_drops": 3}

    @property
    def engine(self) -> RecordingEngine:
        return self.engines[-1]


@dataclass
class Running:
    """A served device."""

    device: Device
    backend: FakeBackend
    address: str


def send_action(schema: P4Schema, port: int) -> p4r.Action:
    """The test program's action that sends to a port."""
    send = p4r.Action(action_id=schema.actions["send"].id)
    send.params.add(param_id=1, value=bytes([port]))
    return send


def config(cookie: int = 7) -> p4r.ForwardingPipelineConfig:
    """The test program as a forwarding pipeline config."""
    message = p4r.ForwardingPipelineConfig(p4_device_config=P4BLOB.read_bytes())
    text_format.Parse(P4INFO.read_text(), message.p4info)
    message.cookie.cookie = cookie
    return message


def wrapped(message: p4r.ForwardingPipelineConfig) -> p4r.ForwardingPipelineConfig:
    """The config as older clients send it: the JSON in a P4DeviceConfig message."""
    out = p4r.ForwardingPipelineConfig()
    out.CopyFrom(message)
    inner = P4DeviceConfig(reassign=True, device_data=message.p4_device_config)
    out.p4_device_config = inner.SerializeToString()
    return out


class Session:
    """One StreamChannel and the requests that go with it."""

    def __init__(
        self,
        stub: p4r_grpc.P4RuntimeStub,
        election_id: int | None = 1,
        role: str = "",
        device_id: int = DEVICE_ID,
    ) -> None:
        self._stub: Any = stub
        self.election_id = election_id
        self.role = role
        self.device_id = device_id
        self._call: Any = stub.StreamChannel()

    async def __aenter__(self) -> "Session":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._call.cancel()

    async def arbitrate(self, election_id: int | None = None) -> p4r.MasterArbitrationUpdate:
        """Send an arbitration update and return the answer."""
        if election_id is not None:
            self.election_id = election_id
        update = p4r.MasterArbitrationUpdate(device_id=self.device_id)
        if self.role:
            update.role.name = self.role
        if self.election_id is not None:
            update.election_id.CopyFrom(U128.encode(self.election_id))
        await self._call.write(p4r.StreamMessageRequest(arbitration=update))
        return await self.arbitration()

    async def arbitration(self) -> p4r.MasterArbitrationUpdate:
        """The next message, which must be an arbitration update."""
        message = await self.receive()
        assert message.WhichOneof("update") == "arbitration", message
        return message.arbitration

    async def receive(self) -> p4r.StreamMessageResponse:
        """The next message of the stream; grpc.aio.AioRpcError when it was ended."""
        message = await self._call.read()
        if message is grpc.aio.EOF:
            await self._call.wait_for_connection()
            code = await self._call.code()
            raise EOFError(f"stream ended: {code} {await self._call.details()}")
        assert isinstance(message, p4r.StreamMessageResponse)
        return message

    async def send(self, message: p4r.StreamMessageRequest) -> None:
        """Put a message on the stream."""
        await self._call.write(message)

    async def half_close(self) -> None:
        """Close the client's half of the stream."""
        await self._call.done_writing()

    async def write(
        self,
        *updates: p4r.Update,
        atomicity: "p4r.WriteRequest.Atomicity.ValueType" = p4r.WriteRequest.CONTINUE_ON_ERROR,
    ) -> None:
        """Write a batch; grpc.aio.AioRpcError when it fails."""
        request = p4r.WriteRequest(
            device_id=self.device_id, role=self.role, updates=updates, atomicity=atomicity
        )
        if self.election_id is not None:
            request.election_id.CopyFrom(U128.encode(self.election_id))
        await self._stub.Write(request)

    async def read(
        self, *entities: p4r.Entity, found: list[p4r.Entity] | None = None
    ) -> list[p4r.Entity]:
        """Read a batch into `found`, which keeps entities received before an error."""
        request = p4r.ReadRequest(device_id=self.device_id, role=self.role, entities=entities)
        found = [] if found is None else found
        async for response in self._stub.Read(request):
            found.extend(response.entities)
        return found

    async def set_config(
        self,
        config: p4r.ForwardingPipelineConfig | None,
        action: "p4r.SetForwardingPipelineConfigRequest.Action.ValueType" = (
            p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
        ),
    ) -> None:
        """SetForwardingPipelineConfig."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device_id, role=self.role, action=action, config=config
        )
        if self.election_id is not None:
            request.election_id.CopyFrom(U128.encode(self.election_id))
        await self._stub.SetForwardingPipelineConfig(request)

    async def get_config(
        self, response_type: "p4r.GetForwardingPipelineConfigRequest.ResponseType.ValueType"
    ) -> p4r.GetForwardingPipelineConfigResponse:
        """GetForwardingPipelineConfig."""
        response = await self._stub.GetForwardingPipelineConfig(
            p4r.GetForwardingPipelineConfigRequest(
                device_id=self.device_id, response_type=response_type
            )
        )
        assert isinstance(response, p4r.GetForwardingPipelineConfigResponse)
        return response


def update_errors(error: grpc.aio.AioRpcError) -> list[int]:
    """Canonical codes of the p4.v1.Error details of a failed batch, in order."""
    assert error.code() == grpc.StatusCode.UNKNOWN, error
    details = dict(error.trailing_metadata() or ())["grpc-status-details-bin"]
    status = rpc_status.Status.FromString(details)
    assert status.code == error.code().value[0]
    codes = []
    for detail in status.details:
        one = p4r.Error()
        assert detail.Unpack(one)
        codes.append(one.canonical_code)
    return codes


async def refused(primary: Session, *updates: p4r.Update) -> list[int]:
    """The codes of a batch of which some fail."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await primary.write(*updates)
    return update_errors(error.value)


async def check_refused(primary: Session, *cases: tuple[p4r.Update, int]) -> None:
    """Write updates as one batch; each has its code."""
    assert await refused(primary, *(update for update, _ in cases)) == [code for _, code in cases]


def insert(entry: p4r.TableEntry) -> p4r.Update:
    """INSERT of a table entry."""
    return p4r.Update(type=p4r.Update.INSERT, entity=p4r.Entity(table_entry=entry))


def modify(entry: p4r.TableEntry) -> p4r.Update:
    """MODIFY of a table entry."""
    return p4r.Update(type=p4r.Update.MODIFY, entity=p4r.Entity(table_entry=entry))


def delete(entry: p4r.TableEntry) -> p4r.Update:
    """DELETE of a table entry."""
    return p4r.Update(type=p4r.Update.DELETE, entity=p4r.Entity(table_entry=entry))


def host_entry(schema: P4Schema, number: int) -> p4r.TableEntry:
    """The entry of host `number` (1..255), sent out of port 2."""
    send = schema.actions["send"]
    entry = p4r.TableEntry(table_id=schema.tables["host"].id)
    match = entry.match.add(field_id=1)
    match.exact.value = bytes([number])
    entry.action.action.action_id = send.id
    entry.action.action.params.add(param_id=1, value=b"\x02")
    return entry


def acl_entry(schema: P4Schema, priority: int = 9) -> p4r.TableEntry:
    """An acl entry with a ternary, a range and an optional field."""
    entry = p4r.TableEntry(table_id=schema.tables["acl"].id, priority=priority)
    entry.match.add(field_id=1).ternary.CopyFrom(
        p4r.FieldMatch.Ternary(value=b"\x0a\x00", mask=b"\xff\x00")
    )
    entry.match.add(field_id=2).range.CopyFrom(p4r.FieldMatch.Range(low=b"\x05", high=b"\x08\x00"))
    entry.match.add(field_id=3).optional.value = b"\x01\xff"
    entry.action.action.action_id = schema.actions["drop"].id
    return entry
