"""TableEntry: entries, default entries and their direct resources (P4Runtime 1.4, TableEntry)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from finsy.proto import p4r

from fcn.softswitch.api import ActionCall, CounterValue, Engine, MeterRates, TableFullError
from fcn.softswitch.p4rt.actions import decode_action, encode_action
from fcn.softswitch.p4rt.bindings import Binder, Binding
from fcn.softswitch.p4rt.devconfig import DeviceConfig
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
from fcn.softswitch.p4rt.schema import Action, Schema, Table
from fcn.softswitch.p4rt.values import encode_uint

_INSERT, _MODIFY, _DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
"""By these names, because it takes protobuf a microsecond to find one."""


@dataclass(slots=True)
class Entry:
    """A table entry; handle is the engine's, None for the default entry."""

    match: Key
    priority: int
    handle: int | None
    binding: Binding | None
    metadata: bytes = b""
    controller_metadata: int = 0
    idle_timeout_ns: int = 0
    meter: MeterRates | None = None
    role: str = ""
    is_const: bool = False


class _Form:
    """Messages of entries of one table with one action."""

    def __init__(self, table: Table, action: Action) -> None:
        self._message = p4r.TableEntry(table_id=table.id)
        self._keys = [self._message.match.add(field_id=key.id).exact for key in table.fields]
        call = self._message.action.action
        call.action_id = action.id
        self._params = [call.params.add(param_id=param.id) for param in action.params]

    def fill(self, entry: Entry, call: ActionCall) -> p4r.TableEntry:
        """A new message."""
        for part, key in zip(self._keys, entry.match, strict=True):
            part.value = encode_uint(key[0])
        for param, value in zip(self._params, call.args, strict=True):
            param.value = encode_uint(value)
        form, message = self._message, p4r.TableEntry()
        form.metadata, form.controller_metadata = entry.metadata, entry.controller_metadata
        form.idle_timeout_ns, form.is_const = entry.idle_timeout_ns, entry.is_const
        message.CopyFrom(form)
        return message


@dataclass(slots=True)
class TableState:
    """The entries of one table by key, with the compiled default action."""

    table: Table
    initial: ActionCall | None
    default: Entry
    entries: dict[tuple[Key, int], Entry] = field(default_factory=dict)
    by_handle: dict[int, Entry] = field(default_factory=dict)
    forms: dict[str, _Form] = field(default_factory=dict)
    """By action."""


class TableStore:
    """All tables of a pipeline."""

    def __init__(
        self, schema: Schema, config: DeviceConfig, engine: Engine, binder: Binder
    ) -> None:
        self._schema = schema
        self._engine = engine
        self._binder = binder
        self._states = {table.id: _initial_state(table, config) for table in schema.tables.values()}
        self._by_name = {state.table.name: state for state in self._states.values()}

    def write(self, kind: int, message: p4r.TableEntry, role: str) -> None:
        """INSERT, MODIFY or DELETE an entry or MODIFY a default entry for a role."""
        state = self.state(message.table_id)
        table = state.table
        if message.is_const:
            raise invalid_argument("is_const is for reading only")
        if message.is_default_action:
            self._write_default(kind, state, message, role)
            return
        if table.is_const and kind != _MODIFY:
            raise permission_denied(f"table {table.name} is constant")
        if not table.fields:
            raise invalid_argument(f"table {table.name} has no keys, only a default entry")
        key = decode_match(table, message.match)
        check_priority(table, message.priority)
        entry = state.entries.get((key, message.priority))
        if kind == _INSERT:
            if entry is not None:
                raise already_exists(f"table {table.name} has this entry")
            self._insert(state, key, message, role)
            return
        if entry is None:
            raise not_found(f"table {table.name} has no such entry")
        if entry.is_const and (kind == _DELETE or message.HasField("action")):
            raise permission_denied(f"this entry of table {table.name} is constant")
        if kind == _MODIFY:
            self._modify(state, entry, message)
        else:
            self._delete(state, entry)

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
                    yield self.message(state, entry, query)

    def message(
        self, state: TableState, entry: Entry, query: p4r.TableEntry | None = None
    ) -> p4r.TableEntry:
        """The message of an entry; counters and times only when `query` sets them."""
        table = state.table
        message = self._encoded(state, entry)
        if message is not None:
            return message if query is None else self._with_resources(table, entry, message, query)
        message = p4r.TableEntry(
            table_id=table.id,
            match=encode_match(table, entry.match) if entry is not state.default else (),
            priority=entry.priority,
            controller_metadata=entry.controller_metadata,
            metadata=entry.metadata,
            is_default_action=entry is state.default,
            idle_timeout_ns=entry.idle_timeout_ns,
            is_const=entry.is_const,
        )
        if entry.binding is not None:
            message.action.CopyFrom(self._binder.message(entry.binding))
        elif state.initial is not None and state.initial.name in self._schema.action_names:
            action = encode_action(self._schema.action_names, state.initial)
            message.action.action.CopyFrom(action)
        return message if query is None else self._with_resources(table, entry, message, query)

    def _encoded(self, state: TableState, entry: Entry) -> p4r.TableEntry | None:
        """The message of an entry with exact keys and an action of its own, of a message that is
        filled in again and again: to make one takes three times as long."""
        table, call = state.table, entry.binding.action if entry.binding is not None else None
        if not table.exact or not isinstance(call, ActionCall) or entry is state.default:
            return None
        form = state.forms.get(call.name)
        if form is None:
            form = state.forms[call.name] = _Form(table, self._schema.action_names[call.name])
        return form.fill(entry, call)

    def _with_resources(
        self, table: Table, entry: Entry, message: p4r.TableEntry, query: p4r.TableEntry
    ) -> p4r.TableEntry:
        """The same with what a query asks for."""
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
        key = decode_match(state.table, message.match)
        check_priority(state.table, message.priority)
        entry = state.entries.get((key, message.priority))
        if entry is None:
            raise not_found(f"table {state.table.name} has no such entry")
        return state, entry

    def snapshot(self, message: p4r.TableEntry) -> tuple[p4r.TableEntry, str]:
        """The entry a message names and its role, so that writing it back restores it."""
        return self.saved(*self.find(message))

    def saved(self, state: TableState, entry: Entry) -> tuple[p4r.TableEntry, str]:
        """An entry and its role in a form that can be written."""
        everything = p4r.TableEntry()
        everything.counter_data.SetInParent()
        everything.meter_config.SetInParent()
        saved = self.message(state, entry, everything)
        if entry.is_const or entry.binding is None:
            saved.ClearField("action")
        saved.ClearField("is_const")
        return saved, entry.role

    def find_handle(self, name: str, handle: int) -> tuple[TableState, Entry] | None:
        """The entry of an engine handle, None when it was deleted meanwhile."""
        state = self._by_name.get(name)
        entry = state.by_handle.get(handle) if state else None
        return (state, entry) if state and entry else None

    def state(self, table_id: int) -> TableState:
        """The table of an identifier; INVALID_ARGUMENT when the P4Info has none."""
        if table_id == 0:
            raise invalid_argument("table_id is missing")
        state = self._states.get(table_id)
        if state is None:
            raise invalid_argument(f"there is no table {table_id:#x}")
        return state

    def states(self) -> Iterable[TableState]:
        """All tables."""
        return self._states.values()

    def _insert(self, state: TableState, key: Key, message: p4r.TableEntry, role: str) -> None:
        table = state.table
        self._check_write(table, message)
        meter = _meter(table, message)
        binding = self._binder.bind(table, message.action)
        try:
            handle = self._engine.table_insert(
                table.name, key, message.priority, binding.action, message.idle_timeout_ns
            )
        except Exception as error:
            self._binder.release(table, binding)
            if isinstance(error, TableFullError):
                raise resource_exhausted(
                    f"table {table.name} is full ({len(state.entries)} entries)"
                ) from error
            raise
        entry = Entry(
            match=key,
            priority=message.priority,
            handle=handle,
            binding=binding,
            metadata=message.metadata,
            controller_metadata=message.controller_metadata,
            idle_timeout_ns=message.idle_timeout_ns,
            meter=meter,
            role=role,
        )
        state.entries[(key, message.priority)] = entry
        state.by_handle[handle] = entry
        self._write_direct(table, entry, message)

    def _modify(self, state: TableState, entry: Entry, message: p4r.TableEntry) -> None:
        table = state.table
        self._check_write(table, message)
        meter = _meter(table, message)
        if not entry.is_const and entry.binding is not None and entry.handle is not None:
            old = entry.binding
            new = self._binder.bind(table, message.action) if message.HasField("action") else old
            try:
                self._engine.table_modify(
                    table.name, entry.handle, new.action, message.idle_timeout_ns
                )
            except Exception:
                if new is not old:
                    self._binder.release(table, new)
                raise
            if new is not old:
                self._binder.release(table, old)
            entry.binding = new
            entry.idle_timeout_ns = message.idle_timeout_ns
            entry.metadata = message.metadata
            entry.controller_metadata = message.controller_metadata
        entry.meter = meter
        self._write_direct(table, entry, message)

    def _delete(self, state: TableState, entry: Entry) -> None:
        if entry.handle is not None:
            self._engine.table_delete(state.table.name, entry.handle)
            del state.by_handle[entry.handle]
        del state.entries[(entry.match, entry.priority)]
        if entry.binding is not None:
            self._binder.release(state.table, entry.binding)

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
            entry.binding = Binding(call)
            entry.metadata = message.metadata
            entry.controller_metadata = message.controller_metadata
            entry.role = role
        elif not table.const_default:
            self._engine.table_set_default(table.name, None)
            entry.binding, entry.metadata, entry.controller_metadata = None, b"", 0
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
        yield self.message(state, state.default, query)

    def _read_table(
        self, state: TableState, query: p4r.TableEntry, role: str
    ) -> Iterator[p4r.TableEntry]:
        table = state.table
        # A member, a group or a set of actions is no filter (P4Runtime 1.4, Wildcard Reads).
        action_id = query.action.action.action_id
        action = self._schema.actions.get(action_id)
        if action_id and table.profile_id:
            raise invalid_argument(
                f"table {table.name} is indirect: it has no entries by action_id"
            )
        if action_id and action_id not in table.actions:
            raise invalid_argument(f"table {table.name} has no action {action_id:#x}")
        key = decode_match(table, query.match) if query.match else None
        if key is not None and not table.needs_priority:
            found = state.entries.get((key, 0))
            candidates = [found] if found else []
        else:
            candidates = list(state.entries.values())
        for entry in candidates:
            if (
                (key is None or entry.match == key)
                and query.priority in (0, entry.priority)
                and query.metadata in (b"", entry.metadata)
                and query.controller_metadata in (0, entry.controller_metadata)
                and role in ("", entry.role)
                and (action is None or _action_name(entry) == action.name)
            ):
                yield self.message(state, entry, query)


def _initial_state(table: Table, config: DeviceConfig) -> TableState:
    device = config.tables[table.name]
    default = Entry((), 0, None, None, is_const=table.const_default)
    # BMv2 has no default action in indirect tables; P4Runtime calls that NoAction.
    initial = device.default or (ActionCall("NoAction") if table.profile_id else None)
    state = TableState(table, initial, default)
    # The engine numbers compiled entries from 0 in the order of the program.
    for handle, const in enumerate(device.entries):
        entry = Entry(
            match=const.match,
            priority=const.priority if table.needs_priority else 0,
            handle=handle,
            binding=Binding(const.action),
            is_const=table.is_const,
        )
        state.entries[(entry.match, entry.priority)] = entry
        state.by_handle[handle] = entry
    return state


def _meter(table: Table, message: p4r.TableEntry) -> MeterRates | None:
    if table.direct_meter is None or not message.HasField("meter_config"):
        return None
    return decode_meter_config(table.direct_meter, message.meter_config)


def _action_name(entry: Entry) -> str | None:
    if entry.binding is not None and isinstance(entry.binding.action, ActionCall):
        return entry.binding.action.name
    return None
