"""The engine of the P4Runtime server that runs a program on the model of the chip."""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from fcn.ptf_tests.tofino import digests
from fcn.ptf_tests.tofino.arrays import Counters, Meters, Registers, SpreadCounters
from fcn.ptf_tests.tofino.chip import Chip
from fcn.ptf_tests.tofino.context import Array, Context, MatchTable
from fcn.ptf_tests.tofino.context_json import plain
from fcn.ptf_tests.tofino.entries import ActionMemory, Outcome, default_outcome, outcome
from fcn.ptf_tests.tofino.idle import IdleCells, Watched
from fcn.ptf_tests.tofino.layout import write_all
from fcn.ptf_tests.tofino.memories import StageMemory
from fcn.ptf_tests.tofino.program import ChipProgram
from fcn.ptf_tests.tofino.selectors import Selector
from fcn.ptf_tests.tofino.static import static_entries
from fcn.ptf_tests.tofino.tables import TableMemory, TernaryTable, make_table
from fcn.ptf_tests.tofino.valuesets import ValueSetMemory
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
    PortCounters,
    PortQueue,
    Replica,
    TableAction,
)

_LOG = logging.getLogger(__name__)
_SESSION = 1
_TICK_S = 0.01
_JOIN_S = 5.0
_COPY = {True: 20, False: 60}
"""Octets of a copy: the header of the second pass, and of a PE Ethernet, of a P IPv6, too."""
_ARRIVAL = {"arn_upstream": 23, "core_path": 26}
"""Octets more of a copy that may become an ARN or a FANTEL message, by a table of such programs."""

Send = Callable[[int, bytes], None]
_T = TypeVar("_T")


class ChipEngine:
    """softswitch.api.Engine; one is loaded at a time, because the process has one chip."""

    def __init__(self, chip: Chip, program: ChipProgram, send: Send) -> None:
        self._chip = chip
        self._context = context = program.context
        self._send = send
        self._events: EngineEvents | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.RLock()
        self._left: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []
        self._watched: dict[tuple[str, int], Watched] = {}
        self._members: dict[tuple[str, int], ActionCall] = {}
        chip.load(program.binary)
        self._tables = self._make_tables(context)
        self._counters = {
            name: SpreadCounters([Counters(chip, array) for array in arrays])
            for (kind, name), arrays in context.arrays.items()
            if kind == "statistics" and not arrays[0].direct
        }
        self._meters = self._arrays("meter", Meters)
        self._registers = self._arrays("stateful", Registers)
        self._direct = self._direct_counters(context)
        self._selectors = self._make_selectors(context)
        self._value_sets = {
            name: ValueSetMemory(chip, each) for name, each in context.value_sets.items()
        }
        self._filter = digests.LearningFilter(chip)
        self._prepare()

    # -- life ------------------------------------------------------------------------------

    def start(self) -> None:
        """Process packets."""
        self._chip.on_frame = self._frame_left
        self._chip.on_learn = self._learned
        self._chip.start()
        for work in (self._deliver, self._keep_time):
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            self._threads.append(thread)

    def close(self) -> None:
        """Stop; idempotent. The chip goes on for the engine that is loaded after this one."""
        self._ended.set()
        self._left.put(None)
        for thread in self._threads:
            thread.join(_JOIN_S)
        self._threads = []

    def received(self, port: int, frame: bytes) -> None:
        """A frame arrives on a port."""
        self._chip.receive(port, frame)

    def set_events(self, events: EngineEvents) -> None:
        self._events, self._loop = events, asyncio.get_running_loop()

    # -- tables ----------------------------------------------------------------------------

    def table_insert(
        self,
        table: str,
        match: Sequence[MatchKey],
        priority: int,
        action: TableAction,
        idle_timeout_ns: int = 0,
    ) -> int:
        with self._lock:
            memory = self._table(table)
            what = self._outcome(memory.table, action)
            handle = memory.insert(_by_name(memory.table, match), priority, what)
            if plain(table) in self._direct:
                self.direct_counter_write(table, handle, CounterValue())
            self._watch(table, handle, idle_timeout_ns)
            return handle

    def table_modify(
        self, table: str, handle: int, action: TableAction, idle_timeout_ns: int = 0
    ) -> None:
        with self._lock:
            memory = self._table(table)
            memory.modify(handle, self._outcome(memory.table, action))
            self._watch(table, handle, idle_timeout_ns)

    def table_delete(self, table: str, handle: int) -> None:
        with self._lock:
            self._watched.pop((table, handle), None)
            self._table(table).delete(handle)

    def table_set_default(self, table: str, action: ActionCall | None) -> None:
        with self._lock:
            memory = self._table(table)
            what = default_outcome(memory.table) if action is None else None
            if action is not None:
                what = outcome(memory.table, action)
            if what is not None:
                memory.set_default(what)

    def entry_idle_ns(self, table: str, handle: int) -> int:
        with self._lock:
            watched = self._watched.get((table, handle))
            if watched is None:
                return 0
            now = time.monotonic_ns()
            watched.look(now)
            return now - watched.last_hit

    # -- what is counted -------------------------------------------------------------------

    def direct_counter_read(self, table: str, handle: int | None) -> CounterValue:
        if handle is None:
            return CounterValue()
        with self._lock:
            counters, number = self._direct_cell(table, handle)
            return counters.read(number)

    def direct_counter_write(self, table: str, handle: int | None, value: CounterValue) -> None:
        if handle is None:
            return
        with self._lock:
            counters, number = self._direct_cell(table, handle)
            counters.write(number, value)

    def direct_meter_set(self, table: str, handle: int | None, rates: MeterRates | None) -> None:
        raise EngineError(f"table {table} has no meters")

    def counter_read(self, counter: str, index: int) -> CounterValue:
        with self._lock:
            return _named(self._counters, "counter", counter).read(index)

    def counter_write(self, counter: str, index: int, value: CounterValue) -> None:
        with self._lock:
            _named(self._counters, "counter", counter).write(index, value)

    def meter_set(self, meter: str, index: int, rates: MeterRates | None) -> None:
        with self._lock:
            _named(self._meters, "meter", meter).set(index, rates)

    def register_read(self, register: str, index: int) -> int:
        with self._lock:
            return _named(self._registers, "register", register).read(index)

    def register_write(self, register: str, index: int, value: int) -> None:
        with self._lock:
            _named(self._registers, "register", register).write(index, value)

    # -- profiles, value sets --------------------------------------------------------------

    def value_set_write(self, value_set: str, values: Sequence[int]) -> None:
        with self._lock:
            _named(self._value_sets, "value set", value_set).write(values)

    def member_insert(self, profile: str, member_id: int, action: ActionCall) -> None:
        self._members[(profile, member_id)] = action

    def member_modify(self, profile: str, member_id: int, action: ActionCall) -> None:
        raise EngineError("a member of a group is changed with its group")

    def member_delete(self, profile: str, member_id: int) -> None:
        del self._members[(profile, member_id)]

    def group_set(self, profile: str, group_id: int, members: Sequence[GroupMember]) -> None:
        with self._lock:
            selector = _named(self._selectors, "profile", profile)
            table = self._table_of(profile)
            calls = [
                outcome(table, self._members[(profile, member.member_id)])
                for member in members
                for _ in range(member.weight)
            ]
            selector.set(group_id, calls)

    def group_delete(self, profile: str, group_id: int) -> None:
        with self._lock:
            _named(self._selectors, "profile", profile).delete(group_id)

    # -- packets ---------------------------------------------------------------------------

    def packet_out(self, data: bytes) -> None:
        self._chip.receive(self._chip.layout.cpu, data)

    def clone_session_set(
        self, session_id: int, replicas: Sequence[Replica], class_of_service: int, truncate: int
    ) -> None:
        raise EngineError("the driver of this chip sets its mirror sessions by itself")

    def clone_session_delete(self, session_id: int) -> None:
        raise EngineError("the driver of this chip sets its mirror sessions by itself")

    def multicast_group_set(self, group_id: int, replicas: Sequence[Replica]) -> None:
        raise EngineError("multicast is not supported on this chip")

    def multicast_group_delete(self, group_id: int) -> None:
        raise EngineError("multicast is not supported on this chip")

    def port_queue_set(self, port: int, queue: PortQueue) -> None:
        raise EngineError("the model of the chip has no rates and queues")

    def port_counters(self, port: int) -> PortCounters:
        return PortCounters(0, 0, 0, 0, 0, 0, 0)

    # -- inside ----------------------------------------------------------------------------

    def _make_tables(self, context: Context) -> dict[str, TableMemory]:
        def data_of(table: MatchTable) -> Callable[[StageMemory], ActionMemory | None]:
            attached = table.attached.get("action")
            data = None if attached is None else context.action_data[attached[0]]
            return lambda memory: None if data is None else ActionMemory(memory, data)

        made = {
            name: make_table(self._chip, table, data_of(table))
            for name, table in context.tables.items()
        }
        return {name: memory for name, memory in made.items() if memory is not None}

    def _arrays(self, kind: str, make: Callable[[Chip, Array], _T]) -> dict[str, _T]:
        return {
            name: make(self._chip, arrays[0])
            for (each, name), arrays in self._context.arrays.items()
            if each == kind and not arrays[0].direct
        }

    def _direct_counters(self, context: Context) -> dict[str, Mapping[int, Counters]]:
        """Of each table, by stage."""
        return {
            name: {
                array.stage: Counters(self._chip, array)
                for array in context.arrays[("statistics", table.attached["statistics"][0])]
            }
            for name, table in context.tables.items()
            if table.attached.get("statistics", ("", False))[1]
        }

    def _make_selectors(self, context: Context) -> dict[str, Selector]:
        """By the name of the profile, which is that of its action data."""
        found = {}
        for name, table in context.tables.items():
            attached = table.attached.get("selection")
            data = self._tables[name].action_data if name in self._tables else None
            if attached is not None and data is not None:
                (array,) = context.arrays[("selection", attached[0])]
                found[table.attached["action"][0]] = Selector(self._chip, array, data)
        return found

    def _prepare(self) -> None:
        layout = self._chip.layout
        write_all(self._chip, layout.ports)
        is_pe = "flow_ipv4" in self._context.tables
        more = sum(octets for name, octets in _ARRIVAL.items() if name in self._context.tables)
        write_all(self._chip, layout.mirror(_SESSION, _COPY[is_pe] + more))
        for meters in self._meters.values():
            meters.reset()
        for registers in self._registers.values():
            registers.reset()
        self._filter.reset()
        for memory in self._tables.values():
            what = default_outcome(memory.table)
            if what is not None and memory.table.stages[-1].kind != "match_with_no_key":
                memory.set_default(what)
            entries = list(static_entries(memory.table))
            if isinstance(memory, TernaryTable):
                memory.insert_all(entries)
            else:
                for match, priority, does in entries:
                    memory.insert(match, priority, does)

    def _table(self, name: str) -> TableMemory:
        return _named(self._tables, "table", name)

    def _table_of(self, profile: str) -> MatchTable:
        for memory in self._tables.values():
            if memory.table.attached.get("action", ("", False))[0] == plain(profile):
                return memory.table
        raise EngineError(f"no table uses profile {profile}")

    def _outcome(self, table: MatchTable, action: TableAction) -> Outcome:
        if isinstance(action, ActionCall):
            return outcome(table, action)
        if isinstance(action, MemberRef):
            raise EngineError("a member without a group is not supported")
        assert isinstance(action, GroupRef)
        profile = table.attached["action"][0]
        return _named(self._selectors, "profile", profile).outcome(action.group_id)

    def _direct_cell(self, table: str, handle: int) -> tuple[Counters, int]:
        stage, number = self._table(table).address(handle)
        return self._direct[plain(table)][stage], number

    def _watch(self, table: str, handle: int, timeout_ns: int) -> None:
        memory = self._table(table)
        if not any(stage.idle for stage in memory.table.stages):
            return
        number_of_stage, number = memory.address(handle)
        (idle,) = [each.idle for each in memory.table.stages if each.number == number_of_stage]
        if idle is not None:
            cells = IdleCells(StageMemory(self._chip, number_of_stage), idle)
            cells.arm(number)
            now = time.monotonic_ns()
            self._watched[(table, handle)] = Watched(cells, number, timeout_ns, now, now)

    def _frame_left(self, port: int, frame: bytes) -> None:
        self._left.put((port, frame))

    def _deliver(self) -> None:
        """Frames that have left the chip; in a thread of its own, because the chip waits for
        nobody."""
        layout = self._chip.layout
        while (found := self._left.get()) is not None:
            port, frame = found
            if port == layout.mirrored:
                self._chip.receive(layout.recirculation, frame)
            elif port == layout.cpu:
                self._tell(partial(_packet_in, frame))
            else:
                self._send(port, frame)

    def _learned(self, _pipe: int, data: bytes) -> None:
        self._filter.drained()
        for quantum in digests.quanta(data):
            layout = self._context.quanta.get(digests.type_of(quantum))
            if layout is None:
                _LOG.warning("a digest of unknown type %d", digests.type_of(quantum))
                continue
            order = list(dict.fromkeys(name for name, *_ in layout.parts))
            values = digests.fields(quantum, layout, order)
            self._tell(partial(_digest, layout.name, values))

    def _keep_time(self) -> None:
        """The chip's clock, the filter that has told something, and entries that are idle."""
        while not self._ended.wait(_TICK_S):
            self._chip.tick()
            self._filter.clear()
            with self._lock:
                now = time.monotonic_ns()
                idle = [
                    key
                    for key, watched in self._watched.items()
                    if watched.timeout_ns and watched.look(now)
                ]
            for table, handle in idle:
                self._tell(partial(_idle, table, handle))

    def _tell(self, call: Callable[[EngineEvents], None]) -> None:
        if self._loop is not None and self._events is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, self._events)


def _packet_in(frame: bytes, events: EngineEvents) -> None:
    events.packet_in(frame)


def _digest(name: str, values: tuple[int, ...], events: EngineEvents) -> None:
    events.digest(name, [values])


def _idle(table: str, handle: int, events: EngineEvents) -> None:
    events.idle(table, handle)


def _by_name(table: MatchTable, match: Sequence[MatchKey]) -> dict[str, MatchKey]:
    places = sorted({(key.position, key.name) for key in table.keys})
    return {name: key for (_, name), key in zip(places, match, strict=True)}


def _named(things: Mapping[str, _T], what: str, name: str) -> _T:
    found = things.get(plain(name))
    if found is None:
        raise EngineError(f"the program has no {what} {name}")
    return found
