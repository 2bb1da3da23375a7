"""Counters, meters, registers, direct ones included, and the packet replication engine."""

import grpc
import pytest
from finsy import P4Schema
from finsy.proto import p4r, rpc_code
from p4rt_testing import Running, Session, check_refused, host_entry, insert, refused, update_errors

from fcn.softswitch.api import CounterValue

INVALID_ARGUMENT = rpc_code.INVALID_ARGUMENT
OUT_OF_RANGE = rpc_code.OUT_OF_RANGE
UNIMPLEMENTED = rpc_code.UNIMPLEMENTED


def change(kind: int = p4r.Update.MODIFY, **entity: object) -> p4r.Update:
    """An update of the entity given by its field name."""
    return p4r.Update(type=p4r.Update.Type.ValueType(kind), entity=p4r.Entity(**entity))  # type: ignore[arg-type]


async def test_counters(running: Running, primary: Session, schema: P4Schema) -> None:
    counter_id = schema.counters["port_rx"].id
    entry = p4r.CounterEntry(counter_id=counter_id, index=p4r.Index(index=3))
    entry.data.CopyFrom(p4r.CounterData(packet_count=7, byte_count=700))
    await primary.write(change(counter_entry=entry))
    engine = running.backend.engine
    assert engine.counter_read("KitchenIngress.port_rx", 3) == CounterValue(7, 700)
    query = p4r.CounterEntry(counter_id=counter_id, index=p4r.Index(index=3))
    (found,) = await primary.read(p4r.Entity(counter_entry=query))
    assert found.counter_entry == entry
    for wildcard in (p4r.CounterEntry(), p4r.CounterEntry(counter_id=counter_id)):
        cells = await primary.read(p4r.Entity(counter_entry=wildcard))
        assert [cell.counter_entry.index.index for cell in cells] == list(range(16))
    unset = p4r.CounterEntry(counter_id=counter_id, data=p4r.CounterData())
    await primary.write(change(counter_entry=unset))
    assert engine.counter_read("KitchenIngress.port_rx", 3) == CounterValue()


async def test_array_errors(primary: Session, schema: P4Schema) -> None:
    counter = p4r.CounterEntry(counter_id=schema.counters["port_rx"].id)
    beyond, negative = p4r.CounterEntry(), p4r.CounterEntry()
    beyond.CopyFrom(counter)
    beyond.index.index = 16
    negative.CopyFrom(counter)
    negative.index.index = -1
    register = p4r.RegisterEntry(register_id=schema.registers["seen"].id)
    register.data.bool = True
    wide = p4r.RegisterEntry(register_id=register.register_id)
    wide.data.bitstring = b"\x01\x00\x00\x00\x00"
    meter_id = schema.meters["limiter"].id
    await check_refused(
        primary,
        (change(p4r.Update.INSERT, counter_entry=counter), INVALID_ARGUMENT),
        (change(p4r.Update.DELETE, counter_entry=counter), INVALID_ARGUMENT),
        (change(counter_entry=beyond), OUT_OF_RANGE),
        (change(counter_entry=negative), INVALID_ARGUMENT),
        (change(counter_entry=p4r.CounterEntry(counter_id=9)), INVALID_ARGUMENT),
        (change(counter_entry=p4r.CounterEntry()), INVALID_ARGUMENT),
        (
            change(p4r.Update.INSERT, meter_entry=p4r.MeterEntry(meter_id=meter_id)),
            INVALID_ARGUMENT,
        ),
        (
            change(meter_entry=p4r.MeterEntry(meter_id=meter_id, config=p4r.MeterConfig(eburst=1))),
            INVALID_ARGUMENT,
        ),
        (
            change(meter_entry=p4r.MeterEntry(meter_id=meter_id, config=p4r.MeterConfig(cir=-1))),
            INVALID_ARGUMENT,
        ),
        (
            change(
                meter_entry=p4r.MeterEntry(meter_id=meter_id, config=p4r.MeterConfig(cir=2, pir=1))
            ),
            INVALID_ARGUMENT,
        ),
        (
            change(
                meter_entry=p4r.MeterEntry(meter_id=meter_id, counter_data=p4r.MeterCounterData())
            ),
            UNIMPLEMENTED,
        ),
        (change(register_entry=register), INVALID_ARGUMENT),
        (change(register_entry=wide), OUT_OF_RANGE),
        (change(p4r.Update.INSERT, register_entry=register), INVALID_ARGUMENT),
    )


async def test_meters(primary: Session, schema: P4Schema) -> None:
    meter_id = schema.meters["limiter"].id
    entry = p4r.MeterEntry(meter_id=meter_id, index=p4r.Index(index=1))
    entry.config.CopyFrom(p4r.MeterConfig(cir=1, cburst=2, pir=3, pburst=4))
    await primary.write(change(meter_entry=entry))
    cells = await primary.read(p4r.Entity(meter_entry=p4r.MeterEntry()))
    assert len(cells) == 4
    assert cells[1].meter_entry == entry
    assert not cells[0].meter_entry.HasField("config")
    entry.ClearField("config")
    await primary.write(change(meter_entry=entry))
    (found,) = await primary.read(p4r.Entity(meter_entry=entry))
    assert found.meter_entry == entry


async def test_registers(running: Running, primary: Session, schema: P4Schema) -> None:
    entry = p4r.RegisterEntry(register_id=schema.registers["seen"].id, index=p4r.Index(index=2))
    entry.data.bitstring = b"\x00\x00\x01\x00"
    await primary.write(change(register_entry=entry))
    assert running.backend.engine.register_read("KitchenIngress.seen", 2) == 256
    cells = await primary.read(p4r.Entity(register_entry=p4r.RegisterEntry()))
    assert len(cells) == 8
    assert cells[2].register_entry.data.bitstring == b"\x01\x00"
    assert cells[0].register_entry.data.bitstring == b"\x00"


async def test_direct_counter_entries(running: Running, primary: Session, schema: P4Schema) -> None:
    entry = host_entry(schema, 1)
    await primary.write(insert(entry), insert(host_entry(schema, 2)))
    direct = p4r.DirectCounterEntry(data=p4r.CounterData(packet_count=5, byte_count=50))
    direct.table_entry.CopyFrom(entry)
    direct.table_entry.ClearField("action")
    await primary.write(change(direct_counter_entry=direct))
    (found,) = await primary.read(
        p4r.Entity(direct_counter_entry=p4r.DirectCounterEntry(table_entry=direct.table_entry))
    )
    assert found.direct_counter_entry == direct
    of_table = p4r.DirectCounterEntry(table_entry=p4r.TableEntry(table_id=entry.table_id))
    assert len(await primary.read(p4r.Entity(direct_counter_entry=of_table))) == 2
    everything = p4r.Entity(direct_counter_entry=p4r.DirectCounterEntry())
    assert len(await primary.read(everything)) == 2
    unknown = p4r.DirectCounterEntry(table_entry=host_entry(schema, 9))
    assert await refused(
        primary,
        change(direct_counter_entry=unknown),
        change(p4r.Update.DELETE, direct_counter_entry=direct),
        change(
            direct_counter_entry=p4r.DirectCounterEntry(
                table_entry=p4r.TableEntry(table_id=schema.tables["acl"].id, is_default_action=True)
            )
        ),
    ) == [rpc_code.NOT_FOUND, rpc_code.INVALID_ARGUMENT, rpc_code.INVALID_ARGUMENT]
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await primary.read(p4r.Entity(direct_counter_entry=unknown))
    assert update_errors(error.value) == [rpc_code.NOT_FOUND]


async def test_direct_meter_entries(primary: Session, schema: P4Schema) -> None:
    entry = p4r.TableEntry(table_id=schema.tables["acl"].id, priority=3)
    entry.action.action.action_id = schema.actions["drop"].id
    entry.meter_config.CopyFrom(p4r.MeterConfig(cir=1, cburst=1, pir=2, pburst=2))
    await primary.write(insert(entry))
    query = p4r.TableEntry(table_id=entry.table_id, meter_config=p4r.MeterConfig())
    (found,) = await primary.read(p4r.Entity(table_entry=query))
    assert found.table_entry == entry
    direct = p4r.DirectMeterEntry(config=p4r.MeterConfig(cir=8, cburst=8, pir=9, pburst=9))
    direct.table_entry.table_id = entry.table_id
    direct.table_entry.priority = 3
    await primary.write(change(direct_meter_entry=direct))
    (found,) = await primary.read(p4r.Entity(direct_meter_entry=p4r.DirectMeterEntry()))
    assert found.direct_meter_entry == direct
    entry.ClearField("meter_config")
    await primary.write(p4r.Update(type=p4r.Update.MODIFY, entity=p4r.Entity(table_entry=entry)))
    (found,) = await primary.read(p4r.Entity(direct_meter_entry=p4r.DirectMeterEntry()))
    assert not found.direct_meter_entry.HasField("config")


def clone(number: int, **fields: object) -> p4r.PacketReplicationEngineEntry:
    session = p4r.CloneSessionEntry(session_id=number, **fields)  # type: ignore[arg-type]
    return p4r.PacketReplicationEngineEntry(clone_session_entry=session)


def multicast(number: int, *replicas: p4r.Replica) -> p4r.PacketReplicationEngineEntry:
    group = p4r.MulticastGroupEntry(multicast_group_id=number, replicas=replicas)
    return p4r.PacketReplicationEngineEntry(multicast_group_entry=group)


async def test_replication(primary: Session) -> None:
    entries = [
        multicast(1, p4r.Replica(port=b"\x01"), p4r.Replica(egress_port=2, instance=1)),
        clone(1, replicas=[p4r.Replica(port=b"\x01\xfd", instance=1)], packet_length_bytes=128),
    ]
    for entry in entries:
        update = change(p4r.Update.INSERT, packet_replication_engine_entry=entry)
        await primary.write(update)
        assert await refused(primary, update) == [rpc_code.ALREADY_EXISTS]
    everything = p4r.Entity(packet_replication_engine_entry=p4r.PacketReplicationEngineEntry())
    found = await primary.read(everything)
    assert [entity.packet_replication_engine_entry for entity in found] == entries
    (found_clone,) = await primary.read(p4r.Entity(packet_replication_engine_entry=clone(1)))
    assert found_clone.packet_replication_engine_entry == entries[1]
    for entry in entries:
        await primary.write(change(p4r.Update.DELETE, packet_replication_engine_entry=entry))
    assert await primary.read(everything) == []


async def test_malformed_replication(primary: Session) -> None:
    port_one = p4r.Replica(port=b"\x01")
    bad: list[tuple[p4r.PacketReplicationEngineEntry, int]] = [
        (p4r.PacketReplicationEngineEntry(), rpc_code.INVALID_ARGUMENT),
        (multicast(0), rpc_code.INVALID_ARGUMENT),
        (multicast(1 << 16), rpc_code.INVALID_ARGUMENT),
        (multicast(1, port_one, port_one), rpc_code.INVALID_ARGUMENT),
        (multicast(1, p4r.Replica()), rpc_code.INVALID_ARGUMENT),
        (multicast(1, p4r.Replica(port=b"\x02\x00")), rpc_code.OUT_OF_RANGE),
        (multicast(1, p4r.Replica(egress_port=512)), rpc_code.INVALID_ARGUMENT),
        (multicast(1, p4r.Replica(port=b"\x01", instance=1 << 16)), rpc_code.INVALID_ARGUMENT),
        (clone(0), rpc_code.INVALID_ARGUMENT),
        (clone(1, class_of_service=8), rpc_code.INVALID_ARGUMENT),
        (clone(1, packet_length_bytes=-1), rpc_code.INVALID_ARGUMENT),
    ]
    codes = await refused(
        primary,
        *(change(p4r.Update.INSERT, packet_replication_engine_entry=entry) for entry, _ in bad),
        change(packet_replication_engine_entry=multicast(1)),
        change(p4r.Update.DELETE, packet_replication_engine_entry=clone(1)),
    )
    assert codes == [code for _, code in bad] + [rpc_code.NOT_FOUND] * 2
