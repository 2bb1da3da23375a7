"""Reads of what was just written, and of everything there is."""

import grpc
import pytest
from finsy import P4Schema
from finsy.proto import p4r, rpc_code
from p4rt_testing import Session, acl_entry, host_entry, send_action, update_errors

INSERT, MODIFY = p4r.Update.INSERT, p4r.Update.MODIFY


def _route(schema: P4Schema, number: int, target: p4r.TableAction) -> p4r.Entity:
    entry = p4r.TableEntry(table_id=schema.tables["route"].id, action=target)
    entry.match.add(field_id=1).lpm.CopyFrom(
        p4r.FieldMatch.LPM(value=bytes([number, 0]), prefix_len=40)
    )
    return p4r.Entity(table_entry=entry)


def _one_shot(schema: P4Schema) -> p4r.TableAction:
    target = p4r.TableAction()
    for port in (1, 2):
        target.action_profile_action_set.action_profile_actions.add(
            action=send_action(schema, port), weight=port
        )
    return target


def _everything(schema: P4Schema) -> list[tuple[int, p4r.Entity]]:
    """Updates of every kind of entity, in order of dependency."""
    host = host_entry(schema, 1)
    host.metadata, host.idle_timeout_ns = b"cookie", 10**9
    host.counter_data.packet_count = 3
    acl = acl_entry(schema)
    acl.meter_config.cir = acl.meter_config.pir = 5
    by_default = p4r.TableEntry(table_id=schema.tables["learning"].id, is_default_action=True)
    by_default.action.action.action_id = schema.actions["learn"].id
    nexthops = schema.action_profiles["nexthops"].id
    rates = p4r.MeterConfig(cir=1, cburst=2, pir=3, pburst=4)
    key = p4r.TableEntry(table_id=host.table_id, match=host.match)
    acl_key = p4r.TableEntry(table_id=acl.table_id, match=acl.match, priority=acl.priority)
    replicas = [p4r.Replica(port=b"\x01", instance=1)]
    member = p4r.ActionProfileMember(
        action_profile_id=nexthops, member_id=1, action=send_action(schema, 1)
    )
    group = p4r.ActionProfileGroup(
        action_profile_id=nexthops,
        group_id=1,
        members=[p4r.ActionProfileGroup.Member(member_id=1, weight=1)],
    )
    counter = p4r.CounterEntry(
        counter_id=schema.counters["port_rx"].id,
        index=p4r.Index(index=2),
        data=p4r.CounterData(packet_count=1, byte_count=9),
    )
    meter = p4r.MeterEntry(
        meter_id=schema.meters["limiter"].id, index=p4r.Index(index=2), config=rates
    )
    register = p4r.RegisterEntry(register_id=schema.registers["seen"].id, index=p4r.Index(index=2))
    register.data.bitstring = b"\x07"
    digest = p4r.DigestEntry(
        digest_id=schema.digests["learn_t"].id, config=p4r.DigestEntry.Config(max_list_size=1)
    )
    tree = p4r.PacketReplicationEngineEntry(
        multicast_group_entry=p4r.MulticastGroupEntry(multicast_group_id=1, replicas=replicas)
    )
    mirror = p4r.PacketReplicationEngineEntry(
        clone_session_entry=p4r.CloneSessionEntry(session_id=1, replicas=replicas)
    )
    return [
        (INSERT, p4r.Entity(table_entry=host)),
        (INSERT, p4r.Entity(table_entry=acl)),
        (MODIFY, p4r.Entity(table_entry=by_default)),
        (INSERT, p4r.Entity(action_profile_member=member)),
        (INSERT, p4r.Entity(action_profile_group=group)),
        (INSERT, _route(schema, 1, p4r.TableAction(action_profile_member_id=1))),
        (INSERT, _route(schema, 2, p4r.TableAction(action_profile_group_id=1))),
        (MODIFY, p4r.Entity(counter_entry=counter)),
        (
            MODIFY,
            p4r.Entity(
                direct_counter_entry=p4r.DirectCounterEntry(
                    table_entry=key, data=p4r.CounterData(packet_count=3)
                )
            ),
        ),
        (MODIFY, p4r.Entity(meter_entry=meter)),
        (
            MODIFY,
            p4r.Entity(direct_meter_entry=p4r.DirectMeterEntry(table_entry=acl_key, config=rates)),
        ),
        (MODIFY, p4r.Entity(register_entry=register)),
        (INSERT, p4r.Entity(digest_entry=digest)),
        (INSERT, p4r.Entity(packet_replication_engine_entry=tree)),
        (INSERT, p4r.Entity(packet_replication_engine_entry=mirror)),
    ]


async def _write(primary: Session, kind: int, entity: p4r.Entity) -> None:
    await primary.write(p4r.Update(type=p4r.Update.Type.ValueType(kind), entity=entity))


async def test_the_message_just_written_reads_what_it_wrote(
    primary: Session, schema: P4Schema
) -> None:
    for kind, entity in _everything(schema):
        await _write(primary, kind, entity)
        assert await primary.read(entity) == [entity]


async def test_the_one_shot_just_written_reads_its_entry(
    primary: Session, schema: P4Schema
) -> None:
    for number in (1, 2):
        await _write(primary, INSERT, _route(schema, number, _one_shot(schema)))
    written = _route(schema, 2, _one_shot(schema))
    assert await primary.read(written) == [written]


async def test_a_member_is_no_filter(primary: Session, schema: P4Schema) -> None:
    """P4Runtime 1.4, TableEntry, Wildcard Reads: neither filters entries nor is it an error."""
    for kind, entity in _everything(schema):
        await _write(primary, kind, entity)
    written = _route(schema, 2, p4r.TableAction(action_profile_group_id=1))
    by_another = _route(schema, 2, p4r.TableAction(action_profile_member_id=1))
    assert await primary.read(by_another) == [written]
    by_another.table_entry.ClearField("match")
    assert len(await primary.read(by_another)) == 2
    by_another.table_entry.action.action.CopyFrom(send_action(schema, 1))
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await primary.read(by_another)
    assert update_errors(error.value) == [rpc_code.INVALID_ARGUMENT]


async def test_everything_is_read_by_one_request(primary: Session, schema: P4Schema) -> None:
    """As P4Runtime 1.4 does in Wildcard Reads, `extern_entry {}` included."""
    written = [entity for _, entity in _everything(schema)]
    for kind, entity in _everything(schema):
        await _write(primary, kind, entity)
    kinds = [field.name for field in p4r.Entity.DESCRIPTOR.oneofs_by_name["entity"].fields]
    request = [p4r.Entity() for _ in kinds]
    for query, name in zip(request, kinds, strict=True):
        getattr(query, name).SetInParent()
    found = await primary.read(*request)
    empty = {"extern_entry", "value_set_entry"}
    assert {entity.WhichOneof("entity") for entity in found} == {*kinds} - empty
    for entity in written:
        if not entity.HasField("table_entry"):
            assert entity in found


@pytest.mark.parametrize(
    "extern", [p4r.ExternEntry(extern_type_id=0x81), p4r.ExternEntry(extern_id=0x81000001)]
)
async def test_an_extern_that_is_asked_for_by_name_is_unimplemented(
    primary: Session, extern: p4r.ExternEntry
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await primary.read(p4r.Entity(extern_entry=extern))
    assert update_errors(error.value) == [rpc_code.UNIMPLEMENTED]
