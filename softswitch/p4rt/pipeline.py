"""One configured pipeline: its schema, its engine and all entities written to it."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from finsy.proto import p4i, p4r

from fcn.contract.exact import sized
from fcn.softswitch.api import Engine, EngineError
from fcn.softswitch.engine.bmv2json.limits import PROGRAMS_KEPT
from fcn.softswitch.p4rt.agreement import agreed
from fcn.softswitch.p4rt.arrays import CounterStore, MeterStore, RegisterStore
from fcn.softswitch.p4rt.bindings import Binder
from fcn.softswitch.p4rt.devconfig import (
    DeviceConfig,
    parse_device_config,
    unwrap_device_config,
)
from fcn.softswitch.p4rt.digests import DigestStore
from fcn.softswitch.p4rt.errors import internal, invalid_argument, unimplemented
from fcn.softswitch.p4rt.packetio import ControllerHeader
from fcn.softswitch.p4rt.profiles import ProfileStore
from fcn.softswitch.p4rt.replication import ReplicationStore
from fcn.softswitch.p4rt.schema import Schema, parse_p4info
from fcn.softswitch.p4rt.tables import TableStore
from fcn.softswitch.p4rt.valuesets import ValueSetStore

Send = Callable[[p4r.StreamMessageResponse], bool]
_IDLE_CHUNK = 256
_TAGS = {field.name: bytes([field.number << 3 | 2]) for field in p4r.Entity.DESCRIPTOR.fields}
"""Of what may be in an Entity, by its name: how its encoding begins."""
_KINDS = frozenset({p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE})


class RoleUpdate(NamedTuple):
    """An update and the role that owns what it writes."""

    update: p4r.Update
    role: str


class _Kind(NamedTuple):
    """How entities of a kind are written and read; messages are untyped here."""

    write: Callable[[int, Any], None]
    read: Callable[[Any], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class PipelineConfig:
    """A forwarding pipeline config whose P4Info and JSON agree; `program` is the JSON."""

    message: p4r.ForwardingPipelineConfig
    schema: Schema
    device: DeviceConfig
    program: bytes

    @classmethod
    def parse(cls, message: p4r.ForwardingPipelineConfig) -> "PipelineConfig":
        """Check a config; INVALID_ARGUMENT or UNIMPLEMENTED says what is wrong with it."""
        if not message.HasField("p4info") or not message.p4_device_config:
            raise invalid_argument("the config needs both p4info and p4_device_config")
        return cls.parse_preloaded(message)

    @classmethod
    def parse_preloaded(cls, message: p4r.ForwardingPipelineConfig) -> "PipelineConfig":
        """As parse(), for a program the switch starts with: the P4Info may be missing."""
        program = unwrap_device_config(message.p4_device_config)
        schema, device = _understood(message.p4info.SerializeToString(), program)
        kept = p4r.ForwardingPipelineConfig()
        kept.CopyFrom(message)
        return cls(kept, schema, device, program)

    @property
    def has_p4info(self) -> bool:
        """Whether a controller can name what the program has."""
        return self.message.HasField("p4info")


@lru_cache(maxsize=PROGRAMS_KEPT)
def _understood(p4info: bytes, program: bytes) -> tuple[Schema, DeviceConfig]:
    device = parse_device_config(program)
    return agreed(parse_p4info(p4i.P4Info.FromString(p4info)), device), device


def _name(query: p4r.Entity) -> str:
    """What a request asks for. Raises P4RuntimeError."""
    name = query.WhichOneof("entity")
    if name is None:
        raise invalid_argument("the request has no entity")
    return name


class Pipeline:
    """Entities and streams of a pipeline; `send` sends a notification to the primaries,
    `wall_clock` dates it (ns since the epoch)."""

    def __init__(
        self, config: PipelineConfig, engine: Engine, send: Send, wall_clock: Callable[[], int]
    ) -> None:
        schema = config.schema
        self.config = config
        self.engine = engine
        self._send = send
        self._wall_clock = wall_clock
        profiles = ProfileStore(schema, engine)
        self._tables = TableStore(schema, config.device, engine, Binder(schema, profiles))
        self._counters = CounterStore(schema, engine, self._tables)
        self._meters = MeterStore(schema, engine, self._tables)
        self.digests = DigestStore(schema, send, wall_clock)
        registers, value_sets = RegisterStore(schema, engine), ValueSetStore(schema, engine)
        replication = ReplicationStore(engine)
        self._others = {
            "action_profile_member": _Kind(profiles.write_member, profiles.read_members),
            "action_profile_group": _Kind(profiles.write_group, profiles.read_groups),
            "counter_entry": _Kind(self._counters.write, self._counters.read),
            "meter_entry": _Kind(self._meters.write, self._meters.read),
            "register_entry": _Kind(registers.write, registers.read),
            "value_set_entry": _Kind(value_sets.write, value_sets.read),
            "packet_replication_engine_entry": _Kind(replication.write, replication.read),
            "digest_entry": _Kind(self.digests.write, self.digests.read),
        }
        self._packet_in = ControllerHeader(schema.packet_in)
        self._packet_out = ControllerHeader(schema.packet_out)
        self._idle: list[p4r.TableEntry] = []
        self.short_packet_ins = 0

    def write(self, update: p4r.Update, role: str) -> None:
        """Apply one update; raises P4RuntimeError."""
        kind = update.type
        if kind not in _KINDS:
            raise invalid_argument("the update type is missing")
        entity = update.entity
        try:
            match entity.WhichOneof("entity"):
                case "table_entry":
                    self._tables.write(kind, entity.table_entry, role)
                case "direct_counter_entry":
                    self._counters.write_direct(kind, entity.direct_counter_entry)
                case "direct_meter_entry":
                    self._meters.write_direct(kind, entity.direct_meter_entry)
                case None:
                    raise invalid_argument("the update has no entity")
                case other if other in self._others:
                    self._others[other].write(kind, getattr(entity, other))
                case other:
                    raise unimplemented(f"{other} is not supported")
        except EngineError as error:
            raise internal(str(error)) from error

    def told(self, query: p4r.Entity, role: str) -> Iterator[bytes]:
        """Entities a request selects, encoded; `role` "" is every role."""
        if query.HasField("table_entry"):
            for entry in self._tables.told(query.table_entry, role):
                yield sized(_TAGS["table_entry"], entry)
            return
        name = _name(query)
        for message in self._selected(name, query, role):
            yield sized(_TAGS[name], message.SerializeToString())

    def read(self, query: p4r.Entity, role: str = "") -> Iterator[p4r.Entity]:
        """The same as messages."""
        name = _name(query)
        for message in self._selected(name, query, role):
            yield p4r.Entity(**{name: message})

    def _selected(self, name: str, query: p4r.Entity, role: str) -> Iterator[Any]:
        """What is in the entities."""
        match name:
            case "table_entry":
                yield from self._tables.read(query.table_entry, role)
            case "direct_counter_entry":
                yield from self._counters.read_direct(query.direct_counter_entry, role)
            case "direct_meter_entry":
                yield from self._meters.read_direct(query.direct_meter_entry, role)
            case "extern_entry" if query.extern_entry == p4r.ExternEntry():
                """All instances of every supported type of extern: there is no such type."""
            case other if other in self._others:
                yield from self._others[other].read(getattr(query, other))
            case other:
                raise unimplemented(f"{other} is not supported")

    def snapshot(self, entity: p4r.Entity) -> list[tuple[p4r.Entity, str]]:
        """The entities an update of `entity` may change, with their roles, ready to write back."""
        if entity.HasField("table_entry"):
            entry, role = self._tables.saved(*self._tables.find(entity.table_entry))
            return [(p4r.Entity(table_entry=entry), role)]
        return [(found, "") for found in self.read(entity)]

    def export(self) -> Iterator[RoleUpdate]:
        """Updates that rebuild this state in a new pipeline, in order of dependency."""
        for kind in ("action_profile_member", "action_profile_group"):
            yield from self._export_all(kind, p4r.Update.INSERT)
        for state in self._tables.states():
            for entry in state.entries.values():
                kind_ = p4r.Update.MODIFY if entry.is_const else p4r.Update.INSERT
                message, role = self._tables.saved(state, entry)
                yield RoleUpdate(
                    p4r.Update(type=kind_, entity=p4r.Entity(table_entry=message)), role
                )
            if not state.table.profile_id:
                message, role = self._tables.saved(state, state.default)
                yield RoleUpdate(
                    p4r.Update(type=p4r.Update.MODIFY, entity=p4r.Entity(table_entry=message)),
                    role,
                )
        for kind in ("counter_entry", "meter_entry", "register_entry", "value_set_entry"):
            yield from self._export_all(kind, p4r.Update.MODIFY)
        for kind in ("packet_replication_engine_entry", "digest_entry"):
            yield from self._export_all(kind, p4r.Update.INSERT)

    def packet_out(self, message: p4r.PacketOut) -> None:
        """Send a packet into the pipeline; P4RuntimeError when its metadata is wrong."""
        data = self._packet_out.encode(message)
        try:
            self.engine.packet_out(data)
        except EngineError as error:
            raise internal(str(error)) from error

    def on_packet_in(self, data: bytes) -> None:
        """Forward a frame of the CPU port to the primaries."""
        try:
            packet = self._packet_in.decode(data)
        except ValueError:
            self.short_packet_ins += 1
            return
        self._send(p4r.StreamMessageResponse(packet=packet))

    def on_idle(self, table: str, handle: int) -> None:
        """Notify the primaries of an entry whose idle timeout expired.

        Entries that expire together share a message.
        """
        found = self._tables.find_handle(table, handle)
        if found is None or not (message := self._tables.message(found)).idle_timeout_ns:
            return
        if not self._idle:
            asyncio.get_running_loop().call_soon(self._flush_idle)
        self._idle.append(message)

    def _flush_idle(self) -> None:
        entries, self._idle = self._idle, []
        for start in range(0, len(entries), _IDLE_CHUNK):
            self._send(
                p4r.StreamMessageResponse(
                    idle_timeout_notification=p4r.IdleTimeoutNotification(
                        table_entry=entries[start : start + _IDLE_CHUNK],
                        timestamp=self._wall_clock(),
                    )
                )
            )

    def _export_all(self, kind: str, update: "p4r.Update.Type.ValueType") -> Iterator[RoleUpdate]:
        query = p4r.Entity()
        getattr(query, kind).SetInParent()
        for entity in self.read(query):
            if update == p4r.Update.MODIFY and _is_initial(entity):
                continue
            yield RoleUpdate(p4r.Update(type=update, entity=entity), "")

    def close(self) -> None:
        """Stop timers; idempotent."""
        self.digests.close()


def _is_initial(entity: p4r.Entity) -> bool:
    """Whether a cell of an array has its initial value."""
    if entity.HasField("counter_entry"):
        return entity.counter_entry.data == p4r.CounterData()
    if entity.HasField("register_entry"):
        return not any(entity.register_entry.data.bitstring)
    if entity.HasField("value_set_entry"):
        return not entity.value_set_entry.members
    return not entity.meter_entry.HasField("config")
