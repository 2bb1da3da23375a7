"""The interface between the P4Runtime server and the packet engine.

The server implements P4Runtime's entities (identifiers, validation, canonical byte strings, error
codes), the engine packet processing. The interface uses names and integers only: tables, actions,
profiles and externs by their full P4 name as in the compiled JSON, values as unsigned integers.
Every method is thread-safe against the running data plane, takes effect for packets that enter
afterwards, and raises EngineError with a reason for objects the program does not have.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


class EngineError(Exception):
    """The engine rejected a request; the message says what and why."""


class TableFullError(EngineError):
    """The table holds as many entries as its declared size."""


class Exact(NamedTuple):
    value: int


class Lpm(NamedTuple):
    """The first `prefix_len` bits equal those of `value`; 0 matches everything."""

    value: int
    prefix_len: int


class Ternary(NamedTuple):
    """Bits set in `mask` equal those of `value`; optional keys arrive as mask 0 or all ones."""

    value: int
    mask: int


class Range(NamedTuple):
    """low <= field <= high."""

    low: int
    high: int


MatchKey = Exact | Lpm | Ternary | Range


class ActionCall(NamedTuple):
    """An action by full name and its arguments in declaration order."""

    name: str
    args: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberRef:
    member_id: int


@dataclass(frozen=True, slots=True)
class GroupRef:
    group_id: int


TableAction = ActionCall | MemberRef | GroupRef


@dataclass(frozen=True, slots=True)
class CounterValue:
    """A counter cell: whole packets and whole octets (Ethernet header included, FCS not)."""

    packets: int = 0
    octets: int = 0


@dataclass(frozen=True, slots=True)
class MeterRates:
    """Two-rate three-colour meter (RFC 2698).

    Rates per second and bursts, both in the unit the program declares.
    """

    cir: int
    cburst: int
    pir: int
    pburst: int


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member of a selector group; used `weight` times, skipped while `watch_port` is down."""

    member_id: int
    weight: int = 1
    watch_port: int | None = None


@dataclass(frozen=True, slots=True)
class Replica:
    """One copy made by the packet replication engine."""

    port: int
    instance: int = 0


@dataclass(frozen=True, slots=True)
class PortQueue:
    """Traffic manager settings of a port; None is unlimited (rates) or unchanged.

    depth: packets per priority queue. rate_pps: packets per second. rate_bps: bits per second on
    the wire, Ethernet header included. delay_ns: propagation delay added after serialisation.
    """

    depth: int | None = None
    rate_pps: int | None = None
    rate_bps: int | None = None
    delay_ns: int = 0


@dataclass(frozen=True, slots=True)
class PortCounters:
    """Frames and octets seen by a port, with those lost to a full queue.

    queue_depth, queue_octets: in all its queues now; queue_peak: the most packets in the last
    second or two; queue_octets_peak: the most octets so far.
    """

    rx_packets: int
    rx_octets: int
    tx_packets: int
    tx_octets: int
    queue_drops: int
    queue_depth: int
    queue_peak: int
    queue_octets: int = 0
    queue_octets_peak: int = 0


@dataclass(frozen=True, slots=True)
class EngineEvents:
    """Callbacks for events, called on the event loop's thread, in order, never re-entrantly.

    digest: (full digest name, one tuple of integers per message, fields in declaration order).
    packet_in: (raw bytes sent to the CPU port, the @controller_header included).
    idle: (table name, entry handle) each time an entry's idle timeout passes without a hit.
    port_status: (port, is up).
    """

    digest: Callable[[str, Sequence[tuple[int, ...]]], None]
    packet_in: Callable[[bytes], None]
    idle: Callable[[str, int], None]
    port_status: Callable[[int, bool], None] = field(default=lambda _port, _up: None)


class Engine(Protocol):
    """One loaded pipeline with its ports."""

    def set_events(self, events: EngineEvents) -> None: ...

    def table_insert(
        self,
        table: str,
        match: Sequence[MatchKey],
        priority: int,
        action: TableAction,
        idle_timeout_ns: int = 0,
    ) -> int:
        """Add an entry and return its handle.

        Keys in declaration order; the highest priority wins.
        """
        ...

    def table_modify(
        self, table: str, handle: int, action: TableAction, idle_timeout_ns: int = 0
    ) -> None: ...

    def table_delete(self, table: str, handle: int) -> None: ...

    def table_set_default(self, table: str, action: ActionCall | None) -> None:
        """Set the default action; None restores the one the program was compiled with."""
        ...

    def entry_idle_ns(self, table: str, handle: int) -> int:
        """Time since the entry was last hit (or inserted)."""
        ...

    def direct_counter_read(self, table: str, handle: int | None) -> CounterValue:
        """The direct counter of an entry; handle None is the default entry."""
        ...

    def direct_counter_write(self, table: str, handle: int | None, value: CounterValue) -> None: ...

    def direct_meter_set(
        self, table: str, handle: int | None, rates: MeterRates | None
    ) -> None: ...

    def value_set_write(self, value_set: str, values: Sequence[int]) -> None:
        """Replace the values of a parser value set.

        A value is the set's fields one after another, the first in the highest bits.
        """
        ...

    def member_insert(self, profile: str, member_id: int, action: ActionCall) -> None: ...
    def member_modify(self, profile: str, member_id: int, action: ActionCall) -> None: ...
    def member_delete(self, profile: str, member_id: int) -> None: ...

    def group_set(self, profile: str, group_id: int, members: Sequence[GroupMember]) -> None:
        """Create the group or replace its members."""
        ...

    def group_delete(self, profile: str, group_id: int) -> None: ...

    def counter_read(self, counter: str, index: int) -> CounterValue: ...
    def counter_write(self, counter: str, index: int, value: CounterValue) -> None: ...

    def meter_set(self, meter: str, index: int, rates: MeterRates | None) -> None:
        """Configure a meter cell; None makes it always GREEN."""
        ...

    def register_read(self, register: str, index: int) -> int: ...
    def register_write(self, register: str, index: int, value: int) -> None: ...

    def clone_session_set(
        self, session_id: int, replicas: Sequence[Replica], class_of_service: int, truncate: int
    ) -> None:
        """Create or replace a clone session; truncate 0 keeps the whole packet."""
        ...

    def clone_session_delete(self, session_id: int) -> None: ...

    def multicast_group_set(self, group_id: int, replicas: Sequence[Replica]) -> None: ...
    def multicast_group_delete(self, group_id: int) -> None: ...

    def packet_out(self, data: bytes) -> None:
        """Send a packet, @controller_header included, into the pipeline as if from the CPU port."""
        ...

    def port_queue_set(self, port: int, queue: PortQueue) -> None: ...
    def port_counters(self, port: int) -> PortCounters: ...
    def close(self) -> None:
        """Stop the data plane and release ports; idempotent."""
        ...
