"""TableEntry: entries, default entries and their direct resources (P4Runtime 1.4, TableEntry)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from finsy.proto import p4r

from fcn.contract.exact import ExactTable, Parsed, timeout_of
from fcn.softswitch.api import (
    ActionCall,
    CounterValue,
    Engine,
    Exact,
    MeterRates,
    TableAction,
    TableFullError,
)
from fcn.softswitch.p4rt.actions import decode_action
from fcn.softswitch.p4rt.bindings import Binder, Binding
from fcn.softswitch.p4rt.devconfig import DeviceConfig, DeviceTable
from fcn.softswitch.p4rt.errors import (
    already_exists,
    invalid_argument,
    not_found,
    permission_denied,
    resource_exhausted,
)
from fcn.softswitch.p4rt.matchkeys import Key, check_priority, decode_match, encode_match
from fcn.softswitch.p4rt.meterconfig import (
    decode_meter_config,
    encode_meter_config,
    refuse_meter_counters,
)
from fcn.softswitch.p4rt.schema import Schema, Table

_INSERT, _MODIFY, _DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
"""By these names, because it takes protobuf a microsecond to find one."""

_new = tuple.__new__
"""Without the arguments' names, which takes a named tuple three times as long."""


@dataclass(slots=True)
class Entry:
    """A table entry; handle is the engine's, None for the default entry.

    told: the message of it, encoded; binding: of an entry of an indirect table, and of a default
    entry that was written."""

    told: bytes
    handle: int | None
    binding: Binding | None = None
    meter: MeterRates | None = None
    role: str = ""
    is_const: bool = False


@dataclass(slots=True)
class TableState:
    """The entries of one table by match and priority, encoded, with the compiled default action."""

    table: Table
    initial: ActionCall | None
    default: Entry
    entries: dict[bytes, Entry] = field(default_factory=dict)
    by_handle: dict[int, Entry] = field(default_factory=dict)


class _Plain(NamedTuple):
    """A message as it is told, which is how entries come by the hundred thousand."""

    exact: ExactTable
    octets: bytes
    parsed: Parsed
    timeout_ns: int

    @property
    def key(self) -> bytes:
        return self.octets[: self.parsed[-1]]

    @property
    def match(self) -> Key:
        return tuple([_new(Exact, (value,)) for value in self.exact.match.decode(self.parsed[0])])

    @property
    def call(self) -> ActionCall:
        _, action, arguments, *_ = self.parsed
        return ActionCall(action, tuple(self.exact.arguments[action].decode(arguments)))


def _plain(table: Table, message: p4r.TableEntry) -> _Plain | None:
    """None where it is in another form, has more, or something may be wrong with it."""
    if (exact := table.exact) is None:
        return None
    octets = message.SerializeToString()
    if (parsed := exact.parse(octets, 0, len(octets))) is None:
        return None
    timeout = timeout_of(parsed[3]) if parsed[3] else 0
    if timeout and (timeout < 0 or not table.idle_timeout):
        return None
    return _Plain(exact, octets, parsed, timeout)


class TableStore:
    """All tables of a pipeline."""

    def __init__(
        self, schema: Schema, config: DeviceConfig, engine: Engine, binder: Binder
    ) -> None:
        self._schema = schema
        self._engine = engine
        self._binder = binder
        self._states = {
            table.id: self._initial_state(table, config.tables[table.name])
            for table in schema.tables.values()
        }
        self._by_name = {state.table.name: state for state in self._states.values()}

    def write(self, kind: int, message: p4r.TableEntry, role: str) -> None:
        """INSERT, MODIFY or DELETE an entry or MODIFY a default entry for a role."""
        state = self.state(message.table_id)
        table = state.table
        plain = _plain(table, message)
        if plain is None and message.is_const:
            raise invalid_argument("is_const is for reading only")
        if plain is None and message.is_default_action:
            self._write_default(kind, state, message, role)
            return
        if table.is_const and kind != _MODIFY:
            raise permission_denied(f"table {table.name} is constant")
        if not table.fields:
            raise invalid_argument(f"table {table.name} has no keys, only a default entry")
        key = plain.key if plain is not None else _key(table, message)
        entry = state.entries.get(key)
        if kind == _INSERT:
            if entry is not None:
                raise already_exists(f"table {table.name} has this entry")
            self._insert(state, key, message, plain, role)
            return
        if entry is None:
            raise not_found(f"table {table.name} has no such entry")
        if entry.is_const and (kind == _DELETE or message.HasField("action")):
            raise permission_denied(f"this entry of table {table.name} is constant")
        if kind == _MODIFY:
            self._modify(state, entry, message, plain)
        else:
            self._delete(state, key, entry)

    def read(self, query: p4r.TableEntry, role: str) -> Iterator[p4r.TableEntry]:
        """Entries selected by a request; table 0 is all tables, `role` "" every role."""
        if query.table_id:
            state = self.state(query.table_id)
            self._check_direct_resources(state.table, query)
            if query.is_default_action:
                yield from self._read_default(state, query)
            else:
                yield from self._read_table(state, query, role)
            return
        for state in self._states.values():
            if query.is_default_action:
                yield from self._read_default(state, query)
                continue
            for entry in list(state.entries.values()):
                if role in ("", entry.role):
                    yield self._with_resources(state.table, entry, query)

    def told(self, query: p4r.TableEntry, role: str) -> Iterator[bytes]:
        """The same encoded; where all of a table is asked for, that is what is kept."""
        if query.table_id and query == p4r.TableEntry(table_id=query.table_id):
            for entry in list(self.state(query.table_id).entries.values()):
                if role in ("", entry.role):
                    yield entry.told
            return
        for message in self.read(query, role):
            yield message.SerializeToString()

    def message(self, entry: Entry) -> p4r.TableEntry:
        """The message of an entry, without counters and times."""
        message = p4r.TableEntry()
        message.ParseFromString(entry.told)
        return message

    def _with_resources(self, table: Table, entry: Entry, query: p4r.TableEntry) -> p4r.TableEntry:
        """The message of an entry with what a query asks for."""
        message = self.message(entry)
        if query.HasField("meter_config") and entry.meter is not None:
            message.meter_config.CopyFrom(encode_meter_config(entry.meter))
        if query.HasField("counter_data") and table.direct_counter:
            value = self._engine.direct_counter_read(table.name, entry.handle)
            message.counter_data.byte_count = value.octets
            message.counter_data.packet_count = value.packets
        with_age = query.HasField("time_since_last_hit") and table.idle_timeout
        if with_age and entry.handle is not None:
            idle = self._engine.entry_idle_ns(table.name, entry.handle)
            message.time_since_last_hit.elapsed_ns = idle
        return message

    def find(self, message: p4r.TableEntry) -> tuple[TableState, Entry]:
        """The entry whose key a message gives; NOT_FOUND without it."""
        state = self.state(message.table_id)
        if message.is_default_action:
            return state, state.default
        entry = state.entries.get(_key(state.table, message))
        if entry is None:
            raise not_found(f"table {state.table.name} has no such entry")
        return state, entry

    def saved(self, state: TableState, entry: Entry) -> tuple[p4r.TableEntry, str]:
        """An entry and its role in a form that can be written."""
        everything = p4r.TableEntry()
        everything.counter_data.SetInParent()
        everything.meter_config.SetInParent()
        saved = self._with_resources(state.table, entry, everything)
        if entry.is_const or (entry is state.default and entry.binding is None):
            saved.ClearField("action")
        saved.ClearField("is_const")
        return saved, entry.role

    def find_handle(self, name: str, handle: int) -> Entry | None:
        """The entry of an engine handle, None when it was deleted meanwhile."""
        state = self._by_name.get(name)
        return state.by_handle.get(handle) if state else None

    def state(self, table_id: int) -> TableState:
        """The table of an identifier; INVALID_ARGUMENT when the P4Info has none."""
        if table_id == 0:
            raise invalid_argument("table_id is missing")
        state = self._states.get(table_id)
        if state is None:
            raise invalid_argument(f"there is no table {table_id:#x}")
        return state

    def states(self) -> Iterable[TableState]:
        return self._states.values()

    def _insert(
        self,
        state: TableState,
        key: bytes,
        message: p4r.TableEntry,
        plain: _Plain | None,
        role: str,
    ) -> None:
        table = state.table
        if plain is not None:
            binding = meter = None
            action: TableAction = plain.call
            match, told, timeout = plain.match, plain.octets, plain.timeout_ns
        else:
            self._check_write(table, message)
            meter, timeout = _meter(table, message), message.idle_timeout_ns
            match = decode_match(table, message.match)
            binding = self._binder.bind(table, message.action)
            action = binding.action
            told = self._told(message, key, binding)
        try:
            handle = self._engine.table_insert(table.name, match, message.priority, action, timeout)
        except Exception as error:
            if binding is not None:
                self._binder.release(table, binding)
            if isinstance(error, TableFullError):
                raise resource_exhausted(
                    f"table {table.name} is full ({len(state.entries)} entries)"
                ) from error
            raise
        entry = Entry(told, handle, binding if table.profile_id else None, meter, role)
        state.entries[key] = state.by_handle[handle] = entry
        if plain is None:
            self._write_direct(table, entry, message)

    def _modify(
        self, state: TableState, entry: Entry, message: p4r.TableEntry, plain: _Plain | None
    ) -> None:
        table = state.table
        self._check_write(table, message)
        meter = _meter(table, message)
        if not entry.is_const and entry.handle is not None:
            old = entry.binding
            if plain is not None:
                new = Binding(plain.call)
            elif message.HasField("action"):
                new = self._binder.bind(table, message.action)
            else:
                new = old or self._binder.bind(table, self.message(entry).action)
            try:
                self._engine.table_modify(
                    table.name, entry.handle, new.action, message.idle_timeout_ns
                )
            except Exception:
                if new is not old:
                    self._binder.release(table, new)
                raise
            if old is not None and new is not old:
                self._binder.release(table, old)
            if plain is not None:
                entry.told = plain.octets
            else:
                entry.told = self._told(message, _key(table, message), new)
            entry.binding = new if table.profile_id else None
        entry.meter = meter
        self._write_direct(table, entry, message)

    def _delete(self, state: TableState, key: bytes, entry: Entry) -> None:
        if entry.handle is not None:
            self._engine.table_delete(state.table.name, entry.handle)
            del state.by_handle[entry.handle]
        del state.entries[key]
        if entry.binding is not None:
            self._binder.release(state.table, entry.binding)

    def _told(self, message: p4r.TableEntry, key: bytes, binding: Binding | None) -> bytes:
        """The message of an entry with this key that was written with this message."""
        told = p4r.TableEntry(
            controller_metadata=message.controller_metadata,
            metadata=message.metadata,
            idle_timeout_ns=message.idle_timeout_ns,
            is_const=message.is_const,
        )
        told.MergeFromString(key)
        if binding is not None:
            told.action.CopyFrom(self._binder.message(binding))
        octets: bytes = told.SerializeToString()
        return octets

    def _write_default(
        self, kind: int, state: TableState, message: p4r.TableEntry, role: str
    ) -> None:
        table, entry = state.table, state.default
        if kind != _MODIFY:
            raise invalid_argument("a default entry can only be modified")
        if message.match or message.priority:
            raise invalid_argument("a default entry has neither match fields nor a priority")
        if message.idle_timeout_ns or message.HasField("time_since_last_hit"):
            raise invalid_argument("a default entry has no idle timeout")
        if table.profile_id:
            raise permission_denied(f"the default action of indirect table {table.name} is fixed")
        self._check_write(table, message)
        meter = _meter(table, message)
        if table.const_default and message.HasField("action"):
            raise permission_denied(f"the default action of table {table.name} is constant")
        if message.HasField("action"):
            if message.action.WhichOneof("type") != "action":
                raise invalid_argument("a default entry takes an action")
            call = decode_action(table, message.action.action, as_default=True)
            self._engine.table_set_default(table.name, call)
            entry.binding, entry.role = Binding(call), role
            entry.told = self._told(message, _default_key(table), entry.binding)
        elif not table.const_default:
            self._engine.table_set_default(table.name, None)
            entry.binding, entry.told = None, self._initial(table, state.initial)
        entry.meter = meter
        self._write_direct(table, entry, message)

    def _check_write(self, table: Table, message: p4r.TableEntry) -> None:
        if message.HasField("time_since_last_hit"):
            raise invalid_argument("time_since_last_hit is for reading only")
        if message.idle_timeout_ns < 0:
            raise invalid_argument("idle_timeout_ns must not be negative")
        if message.idle_timeout_ns and not table.idle_timeout:
            raise invalid_argument(f"table {table.name} does not support idle timeouts")
        self._check_direct_resources(table, message)
        if message.counter_data.packet_count < 0 or message.counter_data.byte_count < 0:
            raise invalid_argument("counters must not be negative")

    def _check_direct_resources(self, table: Table, message: p4r.TableEntry) -> None:
        refuse_meter_counters(message)
        if message.HasField("counter_data") and not table.direct_counter:
            raise invalid_argument(f"table {table.name} has no direct counter")
        if message.HasField("meter_config") and table.direct_meter is None:
            raise invalid_argument(f"table {table.name} has no direct meter")
        has_age = table.idle_timeout and not message.is_default_action
        if message.HasField("time_since_last_hit") and not has_age:
            raise invalid_argument(f"table {table.name} keeps no time of the last hit here")

    def _write_direct(self, table: Table, entry: Entry, message: p4r.TableEntry) -> None:
        if table.direct_meter is not None:
            self._engine.direct_meter_set(table.name, entry.handle, entry.meter)
        if message.HasField("counter_data"):
            data = message.counter_data
            value = CounterValue(packets=data.packet_count, octets=data.byte_count)
            self._engine.direct_counter_write(table.name, entry.handle, value)

    def _read_default(self, state: TableState, query: p4r.TableEntry) -> Iterator[p4r.TableEntry]:
        if query.match or query.priority:
            raise invalid_argument("a default entry has neither match fields nor a priority")
        yield self._with_resources(state.table, state.default, query)

    def _read_table(
        self, state: TableState, query: p4r.TableEntry, role: str
    ) -> Iterator[p4r.TableEntry]:
        table = state.table
        # A member, a group or a set of actions is no filter (P4Runtime 1.4, Wildcard Reads).
        action_id = query.action.action.action_id
        if action_id and table.profile_id:
            raise invalid_argument(
                f"table {table.name} is indirect: it has no entries by action_id"
            )
        if action_id and action_id not in table.actions:
            raise invalid_argument(f"table {table.name} has no action {action_id:#x}")
        match = None
        if query.match and not table.needs_priority:
            # As it stands there, which is mostly the form in which it is kept.
            found = state.entries.get(_encoded_key(table, query.match, 0))
            found = found or state.entries.get(_encoded_key(table, _match(table, query), 0))
            candidates = [found] if found else []
        else:
            match = _match(table, query) if query.match else None
            candidates = list(state.entries.values())
        for entry in candidates:
            if role not in ("", entry.role):
                continue
            message = self._with_resources(table, entry, query)
            if (
                (match is None or list(message.match) == match)
                and query.priority in (0, message.priority)
                and query.metadata in (b"", message.metadata)
                and query.controller_metadata in (0, message.controller_metadata)
                and action_id in (0, message.action.action.action_id)
            ):
                yield message

    def _initial_state(self, table: Table, device: DeviceTable) -> TableState:
        # BMv2 has no default action in indirect tables; P4Runtime calls that NoAction.
        initial = device.default or (ActionCall("NoAction") if table.profile_id else None)
        default = Entry(self._initial(table, initial), None, is_const=table.const_default)
        state = TableState(table, initial, default)
        # The engine numbers compiled entries from 0 in the order of the program.
        for handle, const in enumerate(device.entries):
            priority = const.priority if table.needs_priority else 0
            key = _encoded_key(table, encode_match(table, const.match), priority)
            says = p4r.TableEntry(is_const=table.is_const)
            told = self._told(says, key, Binding(const.action))
            state.entries[key] = state.by_handle[handle] = Entry(
                told, handle, is_const=table.is_const
            )
        return state

    def _initial(self, table: Table, action: ActionCall | None) -> bytes:
        """What is told of the default entry that the program has."""
        known = action is not None and action.name in self._schema.action_names
        binding = Binding(action) if action is not None and known else None
        says = p4r.TableEntry(is_const=table.const_default)
        return self._told(says, _default_key(table), binding)


def _key(table: Table, message: p4r.TableEntry) -> bytes:
    """The match and priority of a message. Raises P4RuntimeError."""
    match = _match(table, message)
    check_priority(table, message.priority)
    return _encoded_key(table, match, message.priority)


def _match(table: Table, message: p4r.TableEntry) -> list[p4r.FieldMatch]:
    """The match of a message in the form in which it is kept. Raises P4RuntimeError."""
    return encode_match(table, decode_match(table, message.match))


def _encoded_key(table: Table, match: Iterable[p4r.FieldMatch], priority: int) -> bytes:
    key = p4r.TableEntry(table_id=table.id, match=match, priority=priority)
    octets: bytes = key.SerializeToString()
    return octets


def _default_key(table: Table) -> bytes:
    key = p4r.TableEntry(table_id=table.id, is_default_action=True)
    octets: bytes = key.SerializeToString()
    return octets


def _meter(table: Table, message: p4r.TableEntry) -> MeterRates | None:
    if table.direct_meter is None or not message.HasField("meter_config"):
        return None
    return decode_meter_config(table.direct_meter, message.meter_config)
