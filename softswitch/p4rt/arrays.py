"""Indexed state: CounterEntry, MeterEntry and RegisterEntry, and direct counters and meters."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from finsy.proto import p4r

from fcn.softswitch.api import CounterValue, Engine, MeterRates
from fcn.softswitch.p4rt.errors import invalid_argument, not_found, out_of_range
from fcn.softswitch.p4rt.meterconfig import (
    decode_meter_config,
    encode_meter_config,
    refuse_meter_counters,
)
from fcn.softswitch.p4rt.schema import Array, Meter, Register, Schema
from fcn.softswitch.p4rt.tables import TableStore

_T = TypeVar("_T", Array, Meter, Register)


def _select(items: Mapping[int, _T], number: int, what: str) -> Iterable[_T]:
    if number == 0:
        return items.values()
    if number not in items:
        raise invalid_argument(f"there is no {what} {number:#x}")
    return (items[number],)


def _one(items: Mapping[int, _T], number: int, what: str) -> _T:
    if number == 0:
        raise invalid_argument(f"the {what} identifier is missing")
    return next(iter(_select(items, number, what)))


def _cells(
    array: _T, message: p4r.CounterEntry | p4r.MeterEntry | p4r.RegisterEntry
) -> Iterable[int]:
    """The cell of a message's index, or all when it is unset."""
    if not message.HasField("index"):
        return range(array.size)
    index = message.index.index
    if index < 0:
        raise invalid_argument(f"{array.name}: index {index} is negative")
    if index >= array.size:
        raise out_of_range(f"{array.name}: index {index} is not below {array.size}")
    return (index,)


def _modify_only(kind: int, what: str) -> None:
    if kind != p4r.Update.MODIFY:
        raise invalid_argument(f"a {what} can only be modified")


def _counter_value(data: p4r.CounterData) -> CounterValue:
    if data.packet_count < 0 or data.byte_count < 0:
        raise invalid_argument("counters must not be negative")
    return CounterValue(packets=data.packet_count, octets=data.byte_count)


def _counter_data(value: CounterValue) -> p4r.CounterData:
    return p4r.CounterData(packet_count=value.packets, byte_count=value.octets)


class CounterStore:
    """Counter arrays and direct counters; the engine holds the values."""

    def __init__(self, schema: Schema, engine: Engine, tables: TableStore) -> None:
        self._schema = schema
        self._engine = engine
        self._tables = tables

    def write(self, kind: int, message: p4r.CounterEntry) -> None:
        """MODIFY a cell, or all cells when the index is unset; without data nothing changes."""
        _modify_only(kind, "counter")
        counter = _one(self._schema.counters, message.counter_id, "counter")
        cells = _cells(counter, message)
        if message.HasField("data"):
            value = _counter_value(message.data)
            for cell in cells:
                self._engine.counter_write(counter.name, cell, value)

    def read(self, query: p4r.CounterEntry) -> Iterator[p4r.CounterEntry]:
        """Cells of a counter; identifier 0 is all counters, an unset index all cells."""
        for counter in _select(self._schema.counters, query.counter_id, "counter"):
            for cell in _cells(counter, query):
                yield p4r.CounterEntry(
                    counter_id=counter.id,
                    index=p4r.Index(index=cell),
                    data=_counter_data(self._engine.counter_read(counter.name, cell)),
                )

    def write_direct(self, kind: int, message: p4r.DirectCounterEntry) -> None:
        """MODIFY the counter of a table entry."""
        _modify_only(kind, "direct counter")
        state, entry = self._tables.find(message.table_entry)
        if not state.table.direct_counter:
            raise invalid_argument(f"table {state.table.name} has no direct counter")
        if message.HasField("data"):
            value = _counter_value(message.data)
            self._engine.direct_counter_write(state.table.name, entry.handle, value)

    def read_direct(
        self, query: p4r.DirectCounterEntry, role: str
    ) -> Iterator[p4r.DirectCounterEntry]:
        """Counters of entries selected like table entries; table 0 is every counted table."""
        for entry in _direct_entries(self._tables, query.table_entry, role, counter=True):
            state, found = self._tables.find(entry)
            value = self._engine.direct_counter_read(state.table.name, found.handle)
            yield p4r.DirectCounterEntry(table_entry=entry, data=_counter_data(value))


class MeterStore:
    """Meter arrays and direct meters; configurations are kept here, buckets in the engine."""

    def __init__(self, schema: Schema, engine: Engine, tables: TableStore) -> None:
        self._schema = schema
        self._engine = engine
        self._tables = tables
        self._rates: dict[tuple[int, int], MeterRates] = {}

    def write(self, kind: int, message: p4r.MeterEntry) -> None:
        """MODIFY a cell or all cells; without a configuration they become always GREEN."""
        _modify_only(kind, "meter")
        refuse_meter_counters(message)
        meter = _one(self._schema.meters, message.meter_id, "meter")
        rates = decode_meter_config(meter, message.config) if message.HasField("config") else None
        for cell in _cells(meter, message):
            self._engine.meter_set(meter.name, cell, rates)
            if rates is None:
                self._rates.pop((meter.id, cell), None)
            else:
                self._rates[(meter.id, cell)] = rates

    def read(self, query: p4r.MeterEntry) -> Iterator[p4r.MeterEntry]:
        """Cells of a meter; identifier 0 is all meters, an unset index all cells."""
        refuse_meter_counters(query)
        for meter in _select(self._schema.meters, query.meter_id, "meter"):
            for cell in _cells(meter, query):
                message = p4r.MeterEntry(meter_id=meter.id, index=p4r.Index(index=cell))
                rates = self._rates.get((meter.id, cell))
                if rates is not None:
                    message.config.CopyFrom(encode_meter_config(rates))
                yield message

    def write_direct(self, kind: int, message: p4r.DirectMeterEntry) -> None:
        """MODIFY the meter of a table entry; without a configuration it becomes always GREEN."""
        _modify_only(kind, "direct meter")
        refuse_meter_counters(message)
        state, entry = self._tables.find(message.table_entry)
        meter = state.table.direct_meter
        if meter is None:
            raise invalid_argument(f"table {state.table.name} has no direct meter")
        rates = decode_meter_config(meter, message.config) if message.HasField("config") else None
        self._engine.direct_meter_set(state.table.name, entry.handle, rates)
        entry.meter = rates

    def read_direct(self, query: p4r.DirectMeterEntry, role: str) -> Iterator[p4r.DirectMeterEntry]:
        """Meters of entries selected like table entries; table 0 is every metered table."""
        refuse_meter_counters(query)
        for entry in _direct_entries(self._tables, query.table_entry, role, counter=False):
            _, found = self._tables.find(entry)
            message = p4r.DirectMeterEntry(table_entry=entry)
            if found.meter is not None:
                message.config.CopyFrom(encode_meter_config(found.meter))
            yield message


class RegisterStore:
    """Register arrays; the engine holds the values."""

    def __init__(self, schema: Schema, engine: Engine) -> None:
        self._schema = schema
        self._engine = engine

    def write(self, kind: int, message: p4r.RegisterEntry) -> None:
        """MODIFY a cell, or all cells when the index is unset."""
        _modify_only(kind, "register")
        register = _one(self._schema.registers, message.register_id, "register")
        cells = _cells(register, message)
        value = register.type.decode(message.data, register.name)
        for cell in cells:
            self._engine.register_write(register.name, cell, value)

    def read(self, query: p4r.RegisterEntry) -> Iterator[p4r.RegisterEntry]:
        """Cells of a register; identifier 0 is all registers, an unset index all cells."""
        for register in _select(self._schema.registers, query.register_id, "register"):
            for cell in _cells(register, query):
                value = self._engine.register_read(register.name, cell)
                yield p4r.RegisterEntry(
                    register_id=register.id,
                    index=p4r.Index(index=cell),
                    data=register.type.encode(iter((value,))),
                )


def _direct_entries(
    tables: TableStore, query: p4r.TableEntry, role: str, *, counter: bool
) -> Iterator[p4r.TableEntry]:
    """Keys of the entries whose direct resource a query selects; NOT_FOUND for a missing one."""
    what = "direct counter" if counter else "direct meter"
    if query.table_id:
        table = tables.state(query.table_id).table
        if not (table.direct_counter if counter else table.direct_meter):
            raise invalid_argument(f"table {table.name} has no {what}")
    key = p4r.TableEntry(
        table_id=query.table_id,
        match=query.match,
        priority=query.priority,
        is_default_action=query.is_default_action,
    )
    found = False
    for entry in tables.read(key, role):
        table = tables.state(entry.table_id).table
        if table.direct_counter if counter else table.direct_meter:
            found = True
            yield p4r.TableEntry(
                table_id=entry.table_id,
                match=entry.match,
                priority=entry.priority,
                is_default_action=entry.is_default_action,
            )
    if query.match and not found:
        raise not_found(f"there is no such entry, so it has no {what}")
