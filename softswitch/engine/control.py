"""The control-plane interface of both engines: softswitch.api.Engine on a native engine."""

import asyncio
import contextlib
import os
from collections import Counter
from collections.abc import Sequence
from itertools import count

from fcn.softswitch.api import (
    ActionCall,
    CounterValue,
    EngineError,
    EngineEvents,
    GroupMember,
    GroupRef,
    MatchKey,
    MemberRef,
    MeterRates,
    TableAction,
)
from fcn.softswitch.engine import events as ev
from fcn.softswitch.engine.arrays import ArrayControl
from fcn.softswitch.engine.build import CData
from fcn.softswitch.engine.keys import encode
from fcn.softswitch.engine.profiles import NativeProfile, Profile
from fcn.softswitch.engine.program import Program, TableInfo
from fcn.softswitch.engine.tracing import TraceControl

_DEFAULT = 0xFFFFFFFF
_EVENTS = 65536
"""Octets of events that there is room for, until more wait at once."""
_NO_ACTION = 0xFFFFFFFF
_ACTION_TARGET, _MEMBER_TARGET, _GROUP_TARGET = 0, 1, 2


class EngineBase(ArrayControl, TraceControl):
    """Common part of MemoryEngine and RealEngine; see softswitch.api.Engine."""

    def __init__(
        self, program: Program, *, cpu_port: int, drop_port: int, queues: int, memory: bool
    ) -> None:
        super().__init__(
            program, cpu_port=cpu_port, drop_port=drop_port, queues=queues, memory=memory
        )
        self._events: EngineEvents | None = None
        self._taken: CData = self._ffi.new("uint8_t[]", _EVENTS)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._dispatching = False
        self._uses: Counter[tuple[str, str, int]] = Counter()
        self._entries: dict[tuple[str, int], TableAction] = {}
        self._table_names = list(program.tables)
        self._set_values: dict[str, dict[int, int]] = {}
        self._down: set[int] = set()
        slots = count()
        self._profiles = {
            p.name: Profile(
                p.name, self._native_profile(p.name), lambda: next(slots), self._port_is_down
            )
            for p in program.model.profiles()
        }
        self._places = [self._place(info.words) for info in program.tables.values()]
        """Of each table where a match is put for the native code: made once, as it takes long."""
        most = max(
            (sum(p.width + 7 for p in a.params) for a in program.model.actions.values()), default=0
        )
        self._args = self._ffi.new("uint8_t[]", most // 8 + 1)
        self._ref_args = self._ffi.buffer(self._args)
        self._ref = self._ffi.new("sw_action_ref *", {"args": self._args})
        self._load_entries()

    def _place(self, words: int) -> tuple[CData, CData, CData, CData]:
        key = self._ffi.new("uint64_t[]", 3 * words)
        return self._ffi.buffer(key), key, key + words, key + 2 * words

    def _native_profile(self, name: str) -> NativeProfile:
        actions = {
            action: call
            for info in self.program.tables.values()
            if info.table.profile == name
            for action, call in info.actions.items()
        }

        def set_member(slot: int, call: ActionCall) -> None:
            if call.name not in actions:
                raise EngineError(f"no table of {name} has an action {call.name!r}")
            action = actions[call.name]
            data = self._arguments(action, call.args)
            self._call(call.name, "member_set", slot, action.id, data, len(data))

        def drop_member(slot: int) -> None:
            self._call("", "member_drop", slot)

        def drop_group(slot: int) -> None:
            self._call("", "group_drop", slot)

        def set_group(slot: int, members: Sequence[int]) -> None:
            self._call("", "group_set", slot, len(members), list(members))

        return NativeProfile(set_member, drop_member, set_group, drop_group)

    def _load_entries(self) -> None:
        for info in self.program.tables.values():
            self.table_set_default(info.table.name, None)
            for entry in info.table.entries:
                name = self.program.model.actions[entry.action.action_id].name
                self._insert(
                    info, entry.match, -entry.priority, ActionCall(name, entry.action.args), 0
                )

    def _table(self, name: str) -> TableInfo:
        info = self.program.tables.get(name)
        if info is None:
            raise EngineError(f"the program has no table {name!r}")
        return info

    def _profile(self, name: str) -> Profile:
        profile = self._profiles.get(name)
        if profile is None:
            raise EngineError(f"the program has no action profile {name!r}")
        return profile

    def _action_ref(self, info: TableInfo, action: TableAction, idle_timeout_ns: int = 0) -> CData:
        """The native form of an action, until the next call; who calls has the mutex."""
        name, ref = info.table.name, self._ref
        ref.timeout_ns = idle_timeout_ns
        if idle_timeout_ns and not info.table.timeout:
            raise EngineError(f"{name} does not support idle timeouts")
        if isinstance(action, ActionCall):
            if info.table.profile is not None:
                raise EngineError(f"{name} takes members and groups of {info.table.profile}")
            if action.name not in info.actions:
                raise EngineError(f"{name} has no action {action.name!r}")
            call = info.actions[action.name]
            data = self._arguments(call, action.args)
            ref.target, ref.id, ref.n_args = _ACTION_TARGET, call.id, len(data)
            self._ref_args[: len(data)] = data
            return ref
        if info.table.profile is None:
            raise EngineError(f"{name} takes actions, not members or groups")
        profile = self._profile(info.table.profile)
        if isinstance(action, MemberRef):
            ref.target, ref.id = _MEMBER_TARGET, profile.member_slot(action.member_id)
        else:
            ref.target, ref.id = _GROUP_TARGET, profile.group_slot(action.group_id)
        ref.n_args = 0
        return ref

    def _remember(self, info: TableInfo, handle: int, action: TableAction | None) -> None:
        """Count the references of entries, so that no member or group in use is deleted."""
        profile = info.table.profile
        if profile is None:
            return
        key = (info.table.name, handle)
        old = self._entries.pop(key, None)
        for sign, x in ((-1, old), (1, action)):
            if isinstance(x, MemberRef):
                self._uses[profile, "member", x.member_id] += sign
            elif isinstance(x, GroupRef):
                self._uses[profile, "group", x.group_id] += sign
        if action is not None:
            self._entries[key] = action

    # Events

    def set_events(self, events: EngineEvents) -> None:
        """Set the callbacks. When called on an event loop's thread, events are delivered there;
        without a running loop they are buffered until dispatch_events()."""
        self._events = events
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        if self._loop is None:
            self._loop = loop
            loop.add_reader(self._fd, self.dispatch_events)

    def dispatch_events(self) -> None:
        """Deliver the buffered events."""
        if self._events is None or self._dispatching or self._engine is None:
            return
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._fd)
        self._dispatching = True
        try:
            while size := self._call("", "events_size"):
                if size > len(self._taken):
                    self._taken = self._ffi.new("uint8_t[]", 2 * size)
                got = self._call("", "events_take", self._taken, len(self._taken))
                data = bytes(self._ffi.buffer(self._taken, got))
                ev.dispatch(
                    data, self._events, self.program.digests, self._table_names,
                    self._port_changed,
                )  # fmt: skip
                # What came meanwhile is delivered in another turn of the event loop.
                if self._engine is None or (got and self._loop is not None):
                    return
        finally:
            self._dispatching = False

    def _deliver_now(self) -> None:
        """Deliver at once when there is no event loop."""
        if self._loop is None:
            self.dispatch_events()

    def _port_changed(self, port: int, up: bool) -> None:
        with self._mutex:
            (self._down.discard if up else self._down.add)(port)
            for profile in self._profiles.values():
                profile.port_changed(port)

    def _port_is_down(self, port: int) -> bool:
        """Whether a port is down, so that members watching it are skipped."""
        return port in self._down

    # Tables

    def table_insert(
        self,
        table: str,
        match: Sequence[MatchKey],
        priority: int,
        action: TableAction,
        idle_timeout_ns: int = 0,
    ) -> int:
        info = self._table(table)
        if info.table.entries:
            raise EngineError(f"the entries of {table} are const")
        return self._insert(info, match, priority, action, idle_timeout_ns)

    def _insert(
        self,
        info: TableInfo,
        match: Sequence[MatchKey],
        priority: int,
        action: TableAction,
        idle_timeout_ns: int,
    ) -> int:
        with self._mutex:
            octets, prefix_len = encode(info, match)
            ref = self._action_ref(info, action, idle_timeout_ns)
            view, key, mask, high = self._places[info.index]
            view[:] = octets
            if info.table.kind in ("exact", "lpm"):
                priority = 0
            what, keys = f"entry of {info.table.name}", (key, mask, high, prefix_len, priority)
            handle = self._call(what, "table_add", info.index, *keys, ref)
            self._remember(info, handle, action)
            return handle

    def table_modify(
        self, table: str, handle: int, action: TableAction, idle_timeout_ns: int = 0
    ) -> None:
        info = self._table(table)
        with self._mutex:
            ref = self._action_ref(info, action, idle_timeout_ns)
            self._call(f"entry {handle} of {table}", "table_modify", info.index, handle, ref)
            self._remember(info, handle, action)

    def table_delete(self, table: str, handle: int) -> None:
        info = self._table(table)
        if info.table.entries:
            raise EngineError(f"the entries of {table} are const")
        with self._mutex:
            self._call(f"entry {handle} of {table}", "table_delete", info.index, handle)
            self._remember(info, handle, None)

    def table_set_default(self, table: str, action: ActionCall | None) -> None:
        info = self._table(table)
        with self._mutex:
            if action is not None:
                ref = self._action_ref(info, action)
            elif info.table.default is not None:
                default = info.table.default
                call = self.program.model.actions[default.action_id]
                ref = self._action_ref(info, ActionCall(call.name, default.args))
            else:
                ref = self._ffi.NULL
            self._call(f"default entry of {table}", "table_default", info.index, ref)

    def entry_idle_ns(self, table: str, handle: int) -> int:
        info = self._table(table)
        return self._call(f"entry {handle} of {table}", "idle_ns", info.index, handle)

    def _direct(self, table: str, handle: int | None, value: CounterValue | None) -> CounterValue:
        info = self._table(table)
        p, o = self._ffi.new("uint64_t *"), self._ffi.new("uint64_t *")
        if value is not None:
            p[0], o[0] = value.packets, value.octets
        number = _DEFAULT if handle is None else handle
        what, writes = f"entry {handle} of {table}", value is not None
        self._call(what, "direct_counter", info.index, number, writes, p, o)
        return CounterValue(p[0], o[0])

    def direct_counter_read(self, table: str, handle: int | None) -> CounterValue:
        return self._direct(table, handle, None)

    def direct_counter_write(self, table: str, handle: int | None, value: CounterValue) -> None:
        self._direct(table, handle, value)

    def direct_meter_set(self, table: str, handle: int | None, rates: MeterRates | None) -> None:
        info = self._table(table)
        if info.table.meter is None:
            raise EngineError(f"{table} has no direct meter")
        number = _DEFAULT if handle is None else handle
        what, native = f"entry {handle} of {table}", self._rates(rates)
        self._call(what, "direct_meter", info.index, number, rates is not None, native)

    def value_set_write(self, value_set: str, values: Sequence[int]) -> None:
        info = self.program.value_sets.get(value_set)
        if info is None:
            raise EngineError(f"the program has no value set {value_set!r}")
        ref = self._ffi.new("sw_action_ref *", {"target": _ACTION_TARGET, "id": _NO_ACTION})
        wanted = set(values)
        with self._mutex:
            present = self._set_values.setdefault(value_set, {})
            for value in present.keys() - wanted:
                what = f"value {value} of {value_set}"
                self._call(what, "table_delete", info.index, present[value])
                del present[value]
            for value in sorted(wanted - present.keys()):
                if not 0 <= value < 1 << info.width:
                    raise EngineError(f"{value_set}: {value} does not fit {info.width} bits")
                octets = value.to_bytes((info.width + 7) // 8, "big").ljust(info.words * 8, b"\0")
                key = self._ffi.from_buffer("uint64_t[]", octets)
                what, keys = f"value {value} of {value_set}", (key, key, key, 0, 0)
                present[value] = self._call(what, "table_add", info.index, *keys, ref)

    # Action profiles

    def member_insert(self, profile: str, member_id: int, action: ActionCall) -> None:
        with self._mutex:
            self._profile(profile).insert(member_id, action)

    def member_modify(self, profile: str, member_id: int, action: ActionCall) -> None:
        with self._mutex:
            self._profile(profile).modify(member_id, action)

    def member_delete(self, profile: str, member_id: int) -> None:
        with self._mutex:
            if self._uses[profile, "member", member_id]:
                raise EngineError(f"member {member_id} of {profile} is in use by an entry")
            self._profile(profile).delete(member_id)

    def group_set(self, profile: str, group_id: int, members: Sequence[GroupMember]) -> None:
        with self._mutex:
            self._profile(profile).set_group(group_id, members)

    def group_delete(self, profile: str, group_id: int) -> None:
        with self._mutex:
            if self._uses[profile, "group", group_id]:
                raise EngineError(f"group {group_id} of {profile} is in use by an entry")
            self._profile(profile).delete_group(group_id)

    # Packets

    def packet_out(self, data: bytes) -> None:
        self._call("", "inject", self.cpu_port, data, len(data))
        self._deliver_now()

    def close(self) -> None:
        if self._engine is not None and self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._fd)
        # Both lead back here: only Python's collector would find what a replaced program leaves.
        self._events = None
        self._profiles.clear()
        super().close()
