"""TableEntry: keys, priorities, actions, defaults, const tables, filters and direct resources."""

import grpc
import pytest
from finsy import P4Schema
from finsy.proto import p4r, p4r_grpc, rpc_code
from p4rt_cases import ACL_ERRORS, HOST_ERRORS, Change
from p4rt_testing import (
    Running,
    Session,
    acl_entry,
    delete,
    host_entry,
    insert,
    modify,
    refused,
    update_errors,
)

from fcn.softswitch.api import ActionCall, CounterValue, Exact, Range, Ternary


@pytest.fixture
def host(schema: P4Schema) -> p4r.TableEntry:
    return host_entry(schema, 1)


@pytest.fixture
def acl(schema: P4Schema) -> p4r.TableEntry:
    return acl_entry(schema)


def default(schema: P4Schema, table: str, action: str | None = None) -> p4r.TableEntry:
    entry = p4r.TableEntry(table_id=schema.tables[table].id, is_default_action=True)
    if action is not None:
        entry.action.action.action_id = schema.actions[action].id
    return entry


async def entries(primary: Session, query: p4r.TableEntry) -> list[p4r.TableEntry]:
    return [e.table_entry for e in await primary.read(p4r.Entity(table_entry=query))]


async def test_keys_reach_the_engine(
    running: Running, primary: Session, host: p4r.TableEntry, acl: p4r.TableEntry
) -> None:
    await primary.write(insert(host), insert(acl))
    assert list(running.backend.engine.entries.values()) == [
        ("KitchenIngress.host", (Exact(1),), 0, ActionCall("KitchenIngress.send", (2,))),
        (
            "KitchenIngress.acl",
            (Ternary(0x0A00, 0xFF00), Range(5, 0x800), Ternary(0x1FF, 0x1FF)),
            9,
            ActionCall("KitchenIngress.drop"),
        ),
    ]
    assert await entries(primary, p4r.TableEntry(table_id=acl.table_id)) == [acl]


async def test_omitted_fields_match_anything(
    running: Running, primary: Session, acl: p4r.TableEntry
) -> None:
    acl.ClearField("match")
    await primary.write(insert(acl))
    ((_, match, _, _),) = running.backend.engine.entries.values()
    assert match == (Ternary(0, 0), Range(0, 0xFFFF), Ternary(0, 0))
    assert await entries(primary, p4r.TableEntry(table_id=acl.table_id)) == [acl]


async def test_long_byte_strings_are_accepted_and_shortened(
    primary: Session, host: p4r.TableEntry
) -> None:
    host.match[0].exact.value = bytes(40) + b"\x01"
    host.action.action.params[0].value = b"\x00\x00\x02"
    await primary.write(insert(host))
    (found,) = await entries(primary, p4r.TableEntry(table_id=host.table_id))
    assert found.match[0].exact.value == b"\x01"
    assert found.action.action.params[0].value == b"\x02"


@pytest.mark.parametrize(
    ("change", "code"), [e[1:] for e in HOST_ERRORS], ids=[e[0] for e in HOST_ERRORS]
)
async def test_malformed_entries(
    running: Running, primary: Session, host: p4r.TableEntry, change: Change, code: int
) -> None:
    change(host)
    assert await refused(primary, insert(host)) == [code]
    assert running.backend.engine.entries == {}


@pytest.mark.parametrize("change", [e[1] for e in ACL_ERRORS], ids=[e[0] for e in ACL_ERRORS])
async def test_malformed_acl_entries(primary: Session, acl: p4r.TableEntry, change: Change) -> None:
    change(acl)
    assert await refused(primary, insert(acl)) == [rpc_code.INVALID_ARGUMENT]


@pytest.mark.parametrize(
    ("value", "length"), [(b"\x01", 40), (b"\x01\x00", 0), (b"\x01\x00", 49), (b"\x01\x00", -1)]
)
async def test_malformed_prefixes(
    primary: Session, schema: P4Schema, value: bytes, length: int
) -> None:
    entry = p4r.TableEntry(table_id=schema.tables["route"].id)
    entry.match.add(field_id=1).lpm.CopyFrom(p4r.FieldMatch.LPM(value=value, prefix_len=length))
    assert await refused(primary, insert(entry)) == [rpc_code.INVALID_ARGUMENT]


async def test_batch_continues_and_reports_every_update(
    running: Running, primary: Session, host: p4r.TableEntry, schema: P4Schema
) -> None:
    other = host_entry(schema, 2)
    codes = await refused(
        primary, insert(host), insert(host), delete(other), modify(other), insert(other)
    )
    assert codes == [
        rpc_code.OK,
        rpc_code.ALREADY_EXISTS,
        rpc_code.NOT_FOUND,
        rpc_code.NOT_FOUND,
        rpc_code.OK,
    ]
    assert len(running.backend.engine.entries) == 2


async def test_updates_without_type_or_entity(primary: Session, host: p4r.TableEntry) -> None:
    codes = await refused(
        primary,
        p4r.Update(entity=p4r.Entity(table_entry=host)),
        p4r.Update(type=p4r.Update.INSERT),
        p4r.Update(type=p4r.Update.INSERT, entity=p4r.Entity(value_set_entry=p4r.ValueSetEntry())),
        p4r.Update(type=p4r.Update.INSERT, entity=p4r.Entity(extern_entry=p4r.ExternEntry())),
    )
    assert codes == [
        rpc_code.INVALID_ARGUMENT,
        rpc_code.INVALID_ARGUMENT,
        rpc_code.INVALID_ARGUMENT,
        rpc_code.UNIMPLEMENTED,
    ]


async def test_full_table(primary: Session, acl: p4r.TableEntry) -> None:
    updates = []
    for priority in range(1, 10):
        acl.priority = priority
        updates.append(insert(acl))
    assert await refused(primary, *updates) == [rpc_code.OK] * 8 + [rpc_code.RESOURCE_EXHAUSTED]
    acl.priority = 1
    await primary.write(delete(acl))
    acl.priority = 9
    await primary.write(insert(acl))


async def test_modify_keeps_the_action_when_unset(
    running: Running, primary: Session, host: p4r.TableEntry
) -> None:
    await primary.write(insert(host))
    host.ClearField("action")
    host.metadata = b"new"
    await primary.write(modify(host))
    (found,) = await entries(primary, p4r.TableEntry(table_id=host.table_id))
    assert found.metadata == b"new"
    assert found.action.action.params[0].value == b"\x02"
    host.action.CopyFrom(found.action)
    host.action.action.params[0].value = b"\x03"
    await primary.write(modify(host))
    ((_, _, _, action),) = running.backend.engine.entries.values()
    assert action == ActionCall("KitchenIngress.send", (3,))


async def test_delete_looks_at_the_key_only(primary: Session, host: p4r.TableEntry) -> None:
    await primary.write(insert(host))
    host.action.action.action_id = 77
    host.idle_timeout_ns = -4
    await primary.write(delete(host))
    assert await entries(primary, p4r.TableEntry(table_id=host.table_id)) == []


async def test_action_scopes(primary: Session, host: p4r.TableEntry, schema: P4Schema) -> None:
    host.action.action.CopyFrom(p4r.Action(action_id=schema.actions["drop"].id))
    assert (
        await refused(primary, insert(host), modify(default(schema, "host", "NoAction")))
        == [rpc_code.PERMISSION_DENIED] * 2
    )


async def test_default_entries(running: Running, primary: Session, schema: P4Schema) -> None:
    query = default(schema, "learning")
    assert await entries(primary, query) == [default(schema, "learning", "NoAction")]
    changed = default(schema, "learning", "learn")
    changed.metadata = b"m"
    await primary.write(modify(changed))
    assert await entries(primary, query) == [changed]
    assert running.backend.engine.defaults["KitchenIngress.learning"] == ActionCall(
        "KitchenIngress.learn"
    )
    await primary.write(modify(query))
    assert await entries(primary, query) == [default(schema, "learning", "NoAction")]
    assert running.backend.engine.defaults["KitchenIngress.learning"] is None


async def test_default_entries_that_are_refused(primary: Session, schema: P4Schema) -> None:
    with_priority = default(schema, "acl", "drop")
    with_priority.priority = 1
    with_timeout = default(schema, "host", "drop")
    with_timeout.idle_timeout_ns = 1
    codes = await refused(
        primary,
        insert(default(schema, "host", "drop")),
        delete(default(schema, "host")),
        modify(with_priority),
        modify(with_timeout),
        modify(default(schema, "fixed", "NoAction")),
        modify(default(schema, "route", "NoAction")),
    )
    assert codes == [rpc_code.INVALID_ARGUMENT] * 4 + [rpc_code.PERMISSION_DENIED] * 2


async def test_keyless_table_has_only_a_default(primary: Session, schema: P4Schema) -> None:
    entry = p4r.TableEntry(table_id=schema.tables["learning"].id)
    entry.action.action.action_id = schema.actions["learn"].id
    assert await refused(primary, insert(entry)) == [rpc_code.INVALID_ARGUMENT]


async def test_const_table(primary: Session, schema: P4Schema) -> None:
    found = await entries(primary, p4r.TableEntry(table_id=schema.tables["fixed"].id))
    assert [entry.priority for entry in found] == [2, 1]
    assert all(entry.is_const for entry in found)
    first = found[0]
    assert [m.field_id for m in first.match] == [1, 2]
    assert [m.field_id for m in found[1].match] == [1]
    assert first.action.action.params[0].value == b"\x02"
    for entry in found:
        entry.is_const = False
    assert (
        await refused(primary, insert(first), modify(first), delete(first))
        == [rpc_code.PERMISSION_DENIED] * 3
    )


async def test_filters(primary: Session, acl: p4r.TableEntry, schema: P4Schema) -> None:
    punt = p4r.TableEntry()
    punt.CopyFrom(acl)
    punt.priority = 4
    punt.metadata = b"p"
    punt.controller_metadata = 6
    punt.action.action.action_id = schema.actions["punt"].id
    punt.action.action.params.add(param_id=1, value=b"\x07")
    other = p4r.TableEntry(table_id=acl.table_id, priority=4, action=acl.action)
    await primary.write(insert(acl), insert(punt), insert(other))
    query = p4r.TableEntry(table_id=acl.table_id)
    assert len(await entries(primary, query)) == 3
    query.match.extend(acl.match)
    assert await entries(primary, query) == [acl, punt]
    query.priority = 4
    assert await entries(primary, query) == [punt]
    assert await entries(primary, p4r.TableEntry(table_id=acl.table_id, priority=4)) == [
        punt,
        other,
    ]
    assert await entries(primary, p4r.TableEntry(table_id=acl.table_id, metadata=b"p")) == [punt]
    by_cookie = p4r.TableEntry(table_id=acl.table_id, controller_metadata=6)
    assert await entries(primary, by_cookie) == [punt]
    by_action = p4r.TableEntry(table_id=acl.table_id)
    by_action.action.action.action_id = schema.actions["drop"].id
    assert await entries(primary, by_action) == [acl, other]
    everything = await entries(primary, p4r.TableEntry())
    assert len(everything) == 5


async def test_role_filter(
    stub: p4r_grpc.P4RuntimeStub, primary: Session, schema: P4Schema
) -> None:
    async with Session(stub, role="second") as second:
        await second.arbitrate()
        await primary.write(insert(host_entry(schema, 1)))
        await second.write(insert(host_entry(schema, 2)))
        query = p4r.TableEntry(table_id=schema.tables["host"].id)
        assert len(await entries(primary, query)) == 2
        assert await entries(second, query) == [host_entry(schema, 2)]


async def test_read_errors_are_reported_per_request(primary: Session, host: p4r.TableEntry) -> None:
    await primary.write(insert(host))
    queries = [
        p4r.Entity(table_entry=p4r.TableEntry(table_id=host.table_id)),
        p4r.Entity(table_entry=p4r.TableEntry(table_id=5)),
        p4r.Entity(),
    ]
    found: list[p4r.Entity] = []
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await primary.read(*queries, found=found)
    assert [entity.table_entry for entity in found] == [host]
    assert update_errors(error.value) == [
        rpc_code.OK,
        rpc_code.INVALID_ARGUMENT,
        rpc_code.INVALID_ARGUMENT,
    ]


async def test_direct_counter(running: Running, primary: Session, host: p4r.TableEntry) -> None:
    host.counter_data.packet_count = 3
    host.counter_data.byte_count = 300
    await primary.write(insert(host))
    query = p4r.TableEntry(table_id=host.table_id)
    (plain,) = await entries(primary, query)
    assert not plain.HasField("counter_data")
    query.counter_data.SetInParent()
    assert await entries(primary, query) == [host]
    engine = running.backend.engine
    (handle,) = engine.entries
    assert engine.direct_counter_read("KitchenIngress.host", handle) == CounterValue(3, 300)
    host.ClearField("counter_data")
    await primary.write(modify(host))
    assert engine.direct_counter_read("KitchenIngress.host", handle) == CounterValue(3, 300)


async def test_idle_time_is_given_when_asked_for(primary: Session, host: p4r.TableEntry) -> None:
    host.idle_timeout_ns = 10**9
    await primary.write(insert(host))
    query = p4r.TableEntry(table_id=host.table_id)
    assert await entries(primary, query) == [host]
    query.time_since_last_hit.SetInParent()
    (found,) = await entries(primary, query)
    assert found.HasField("time_since_last_hit")


async def test_rollback(
    running: Running, primary: Session, host: p4r.TableEntry, acl: p4r.TableEntry, schema: P4Schema
) -> None:
    acl.meter_config.cir = acl.meter_config.pir = 5
    host.counter_data.packet_count = 8
    await primary.write(insert(host), insert(acl))
    query = p4r.TableEntry(counter_data=p4r.CounterData(), meter_config=p4r.MeterConfig())
    before = sorted(e.SerializeToString() for e in await entries(primary, query))
    changed = p4r.TableEntry()
    changed.CopyFrom(host)
    changed.action.action.params[0].value = b"\x03"
    changed.counter_data.packet_count = 0
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await primary.write(
            modify(changed),
            insert(host_entry(schema, 2)),
            delete(acl),
            modify(default(schema, "learning", "learn")),
            delete(host_entry(schema, 9)),
            insert(host_entry(schema, 3)),
            atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR,
        )
    assert update_errors(error.value) == [rpc_code.ABORTED] * 4 + [
        rpc_code.NOT_FOUND,
        rpc_code.ABORTED,
    ]
    assert sorted(e.SerializeToString() for e in await entries(primary, query)) == before
    assert running.backend.engine.defaults["KitchenIngress.learning"] is None
    await primary.write(insert(host_entry(schema, 2)), atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR)


async def test_dataplane_atomic_is_refused(primary: Session, host: p4r.TableEntry) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await primary.write(insert(host), atomicity=p4r.WriteRequest.DATAPLANE_ATOMIC)
    assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED
