"""An engine that stores state and processes no packets.

It is the engine of a saved pipeline that is not committed yet, and of the trial run of
RECONCILE_AND_COMMIT.
"""

from collections.abc import Sequence
from itertools import count

from fcn.softswitch.api import (
    ActionCall,
    CounterValue,
    EngineEvents,
    GroupMember,
    MatchKey,
    MeterRates,
    PortCounters,
    PortQueue,
    Replica,
    TableAction,
    TableFullError,
)
from fcn.softswitch.p4rt.devconfig import DeviceConfig


class DetachedEngine:
    """softswitch.api.Engine without packets, events and ages: counters and registers store what is
    written, tables count their entries, and everything else is accepted."""

    def __init__(self, config: DeviceConfig) -> None:
        self._sizes = {name: table.size for name, table in config.tables.items()}
        self._entries = {
            name: set(range(len(table.entries))) for name, table in config.tables.items()
        }
        self._handles = count(max((len(t.entries) for t in config.tables.values()), default=0))
        self._direct: dict[tuple[str, int | None], CounterValue] = {}
        self._counters: dict[tuple[str, int], CounterValue] = {}
        self._registers: dict[tuple[str, int], int] = {}

    def table_insert(
        self,
        table: str,
        match: Sequence[MatchKey],
        priority: int,
        action: TableAction,
        idle_timeout_ns: int = 0,
    ) -> int:
        """Count the entry; TableFullError beyond the declared size."""
        if len(self._entries[table]) >= self._sizes[table]:
            raise TableFullError(f"{table} has {self._sizes[table]} entries")
        handle = next(self._handles)
        self._entries[table].add(handle)
        return handle

    def table_delete(self, table: str, handle: int) -> None:
        self._entries[table].discard(handle)
        self._direct.pop((table, handle), None)

    def entry_idle_ns(self, table: str, handle: int) -> int:
        return 0

    def direct_counter_read(self, table: str, handle: int | None) -> CounterValue:
        return self._direct.get((table, handle), CounterValue())

    def direct_counter_write(self, table: str, handle: int | None, value: CounterValue) -> None:
        self._direct[(table, handle)] = value

    def counter_read(self, counter: str, index: int) -> CounterValue:
        return self._counters.get((counter, index), CounterValue())

    def counter_write(self, counter: str, index: int, value: CounterValue) -> None:
        self._counters[(counter, index)] = value

    def register_read(self, register: str, index: int) -> int:
        return self._registers.get((register, index), 0)

    def register_write(self, register: str, index: int, value: int) -> None:
        self._registers[(register, index)] = value

    def port_counters(self, port: int) -> PortCounters:
        return PortCounters(0, 0, 0, 0, 0, 0, 0)

    def set_events(self, events: EngineEvents) -> None: ...
    def table_modify(
        self, table: str, handle: int, action: TableAction, idle_timeout_ns: int = 0
    ) -> None: ...
    def table_set_default(self, table: str, action: ActionCall | None) -> None: ...
    def direct_meter_set(
        self, table: str, handle: int | None, rates: MeterRates | None
    ) -> None: ...
    def value_set_write(self, value_set: str, values: Sequence[int]) -> None: ...
    def member_insert(self, profile: str, member_id: int, action: ActionCall) -> None: ...
    def member_modify(self, profile: str, member_id: int, action: ActionCall) -> None: ...
    def member_delete(self, profile: str, member_id: int) -> None: ...
    def group_set(self, profile: str, group_id: int, members: Sequence[GroupMember]) -> None: ...
    def group_delete(self, profile: str, group_id: int) -> None: ...
    def meter_set(self, meter: str, index: int, rates: MeterRates | None) -> None: ...
    def clone_session_set(
        self, session_id: int, replicas: Sequence[Replica], class_of_service: int, truncate: int
    ) -> None: ...
    def clone_session_delete(self, session_id: int) -> None: ...
    def multicast_group_set(self, group_id: int, replicas: Sequence[Replica]) -> None: ...
    def multicast_group_delete(self, group_id: int) -> None: ...
    def packet_out(self, data: bytes) -> None: ...
    def port_queue_set(self, port: int, queue: PortQueue) -> None: ...
    def close(self) -> None: ...
