"""Parser value sets: what is written is read, reaches the engine, and outlives a new pipeline."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from finsy.proto import p4i, p4r, p4r_grpc, rpc_code
from google.protobuf import text_format
from p4rt_testing import Running, Session, update_errors

PROGRAM = Path(__file__).parent.parent / "p4" / "valuesets.json"
INFO = text_format.Parse(PROGRAM.with_suffix(".p4info.txtpb").read_text(), p4i.P4Info())
IDS = {v.preamble.alias: v.preamble.id for v in INFO.value_sets}
Set = p4r.SetForwardingPipelineConfigRequest


def config() -> p4r.ForwardingPipelineConfig:
    return p4r.ForwardingPipelineConfig(p4info=INFO, p4_device_config=PROGRAM.read_bytes())


def entry(name: str, *members: tuple[bytes, ...]) -> p4r.ValueSetEntry:
    """A value set with members given by their fields in order."""
    out = p4r.ValueSetEntry(value_set_id=IDS[name])
    for member in members:
        match = out.members.add().match
        for number, value in enumerate(member, 1):
            match.add(field_id=number).exact.value = value
    return out


def modify(message: p4r.ValueSetEntry) -> p4r.Update:
    return p4r.Update(type=p4r.Update.MODIFY, entity=p4r.Entity(value_set_entry=message))


@pytest.fixture
async def primary(stub: p4r_grpc.P4RuntimeStub) -> AsyncIterator[Session]:
    async with Session(stub) as session:
        await session.arbitrate()
        await session.set_config(config())
        yield session


async def everything(session: Session) -> list[p4r.ValueSetEntry]:
    found = await session.read(p4r.Entity(value_set_entry=p4r.ValueSetEntry()))
    return [entity.value_set_entry for entity in found]


async def test_members_are_replaced_and_read(running: Running, primary: Session) -> None:
    assert await everything(primary) == [entry(name) for name in IDS]
    pairs = entry("pairs", (b"\x07", b"\x0f"), (b"\x01", b"\x00"))
    await primary.write(modify(pairs), modify(entry("types", (b"\x80\x01",))))
    assert running.backend.engine.value_sets == {"P.pairs": {0x7F, 0x10}, "P.types": {0x8001}}
    one = p4r.ValueSetEntry(value_set_id=IDS["pairs"])
    (found,) = await primary.read(p4r.Entity(value_set_entry=one))
    assert found.value_set_entry == pairs
    await primary.write(modify(entry("pairs", (b"\x02", b"\x02"))))
    assert running.backend.engine.value_sets["P.pairs"] == {0x22}
    await primary.write(modify(entry("pairs")))
    assert running.backend.engine.value_sets["P.pairs"] == set()


async def test_reconcile_keeps_members(running: Running, primary: Session) -> None:
    await primary.write(modify(entry("types", (b"\x05",))))
    await primary.set_config(config(), Set.RECONCILE_AND_COMMIT)
    assert len(running.backend.engines) == 2
    assert running.backend.engine.value_sets == {"P.types": {5}}


async def test_what_is_wrong_is_refused(running: Running, primary: Session) -> None:
    added = modify(entry("types", (b"\x05",)))
    added.type = p4r.Update.INSERT
    unknown = entry("types")
    unknown.value_set_id += 1
    missing = entry("pairs", (b"\x01",))
    other = entry("types", (b"\x01",))
    other.members[0].match[0].ternary.CopyFrom(p4r.FieldMatch.Ternary(value=b"\1", mask=b"\1"))
    cases = [
        (added, rpc_code.INVALID_ARGUMENT),
        (modify(unknown), rpc_code.NOT_FOUND),
        (modify(missing), rpc_code.INVALID_ARGUMENT),
        (modify(other), rpc_code.INVALID_ARGUMENT),
        (modify(entry("types", (b"\1", b"\2"))), rpc_code.INVALID_ARGUMENT),
        (modify(entry("types", (b"\1",), (b"\0\1",))), rpc_code.INVALID_ARGUMENT),
        (modify(entry("types", (b"\1\0\0",))), rpc_code.OUT_OF_RANGE),
        (modify(entry("types", *((bytes([n]),) for n in range(5)))), rpc_code.RESOURCE_EXHAUSTED),
    ]
    for update, code in cases:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await primary.write(update)
        assert update_errors(refused.value) == [code], update
    assert running.backend.engine.value_sets == {}
    odd = config()
    odd.p4info.value_sets[0].size += 1
    with pytest.raises(grpc.aio.AioRpcError, match=r"value set P\.\w+ is \(16, 5\), in the JSON"):
        await primary.set_config(odd)


async def test_a_set_of_masks_cannot_be_written(running: Running, primary: Session) -> None:
    """The program runs, as on simple_switch_grpc, whose sets have exact values only, too."""
    masked = config()
    masked.p4info.value_sets[0].match[0].match_type = p4i.MatchField.TERNARY
    name = masked.p4info.value_sets[0].preamble.alias
    await primary.set_config(masked)
    assert await everything(primary) == [entry(name) for name in IDS]
    member = entry(name)
    member.members.add().match.add(field_id=1).ternary.CopyFrom(
        p4r.FieldMatch.Ternary(value=b"\x01", mask=b"\x01")
    )
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await primary.write(modify(member))
    assert update_errors(refused.value) == [rpc_code.UNIMPLEMENTED]
    assert running.backend.engine.value_sets == {}
