"""Reads of what was just written, and of everything there is."""

import grpc
import pytest
from finsy import P4Schema
from finsy.proto import p4r, rpc_code
from p4rt_entities import everything, one_shot, route
from p4rt_testing import Session, insert, send_action, update_errors


async def _write(primary: Session, kind: int, entity: p4r.Entity) -> None:
    await primary.write(p4r.Update(type=p4r.Update.Type.ValueType(kind), entity=entity))


async def test_the_message_just_written_reads_what_it_wrote(
    primary: Session, schema: P4Schema
) -> None:
    for kind, entity in everything(schema):
        await _write(primary, kind, entity)
        assert await primary.read(entity) == [entity]


async def test_the_one_shot_just_written_reads_its_entry(
    primary: Session, schema: P4Schema
) -> None:
    entries = [route(schema, number, one_shot(schema, (1, 1), (2, 2))) for number in (1, 2)]
    await primary.write(*map(insert, entries))
    written = p4r.Entity(table_entry=entries[1])
    assert await primary.read(written) == [written]


async def test_a_member_is_no_filter(primary: Session, schema: P4Schema) -> None:
    """P4Runtime 1.4, TableEntry, Wildcard Reads: neither filters entries nor is it an error."""
    for kind, entity in everything(schema):
        await _write(primary, kind, entity)
    written = p4r.Entity(table_entry=route(schema, 2, p4r.TableAction(action_profile_group_id=1)))
    by_another = p4r.Entity(
        table_entry=route(schema, 2, p4r.TableAction(action_profile_member_id=1))
    )
    assert await primary.read(by_another) == [written]
    by_another.table_entry.ClearField("match")
    assert len(await primary.read(by_another)) == 2
    by_another.table_entry.action.action.CopyFrom(send_action(schema, 1))
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await primary.read(by_another)
    assert update_errors(error.value) == [rpc_code.INVALID_ARGUMENT]


async def test_everything_is_read_by_one_request(primary: Session, schema: P4Schema) -> None:
    """As P4Runtime 1.4 does in Wildcard Reads, `extern_entry {}` included."""
    written = [entity for _, entity in everything(schema)]
    for kind, entity in everything(schema):
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
