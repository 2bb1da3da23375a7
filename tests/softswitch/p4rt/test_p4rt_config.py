"""SetForwardingPipelineConfig and GetForwardingPipelineConfig."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from finsy import P4Schema
from finsy.proto import p4r, p4r_grpc
from google.protobuf import text_format
from p4rt_testing import P4BLOB, Running, Session, config, host_entry, insert, wrapped

from fcn.softswitch.p4rt.pipeline import PipelineConfig

PROGRAMS = Path(__file__).parent.parent / "p4"
Set = p4r.SetForwardingPipelineConfigRequest
Get = p4r.GetForwardingPipelineConfigRequest


@pytest.fixture
async def primary(stub: p4r_grpc.P4RuntimeStub) -> AsyncIterator[Session]:
    async with Session(stub) as session:
        await session.arbitrate()
        yield session


async def refusal(
    session: Session, message: p4r.ForwardingPipelineConfig | None, action: int
) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await session.set_config(message, Set.Action.ValueType(action))
    return f"{refused.value.code().name}: {refused.value.details()}"


async def test_response_types(primary: Session) -> None:
    sent = config(cookie=99)
    await primary.set_config(sent)
    assert (await primary.get_config(Get.ALL)).config == sent
    cookie = (await primary.get_config(Get.COOKIE_ONLY)).config
    assert cookie == p4r.ForwardingPipelineConfig(cookie=sent.cookie)
    info = (await primary.get_config(Get.P4INFO_AND_COOKIE)).config
    assert info == p4r.ForwardingPipelineConfig(cookie=sent.cookie, p4info=sent.p4info)
    blob = (await primary.get_config(Get.DEVICE_CONFIG_AND_COOKIE)).config
    assert blob == p4r.ForwardingPipelineConfig(
        cookie=sent.cookie, p4_device_config=P4BLOB.read_bytes()
    )


async def test_json_in_a_message(running: Running, primary: Session, schema: P4Schema) -> None:
    """p4.tmp.P4DeviceConfig of older clients; it is returned as it was sent."""
    sent = wrapped(config(cookie=5))
    await primary.set_config(sent)
    assert (await primary.get_config(Get.ALL)).config == sent
    await primary.write(insert(host_entry(schema, 1)))
    assert len(running.backend.engine.entries) == 1


async def test_verify_changes_nothing(running: Running, primary: Session) -> None:
    await primary.set_config(config(), Set.VERIFY)
    assert running.backend.engines == []
    assert not (await primary.get_config(Get.ALL)).HasField("config")


async def test_commit_clears_state_and_closes_the_old_engine(
    running: Running, primary: Session, schema: P4Schema
) -> None:
    await primary.set_config(config())
    await primary.write(insert(host_entry(schema, 1)))
    await primary.set_config(config())
    assert running.backend.engines[0].closed
    assert running.backend.engine.entries == {}
    assert await primary.read(p4r.Entity(table_entry=p4r.TableEntry(table_id=0))) == [
        entity
        for entity in await primary.read(p4r.Entity(table_entry=p4r.TableEntry(table_id=0)))
        if entity.table_entry.is_const
    ]


async def test_saved_config_takes_writes_and_replays_them(
    running: Running, primary: Session, schema: P4Schema
) -> None:
    await primary.set_config(config(cookie=1))
    await primary.set_config(config(cookie=2), Set.VERIFY_AND_SAVE)
    assert (await primary.get_config(Get.COOKIE_ONLY)).config.cookie.cookie == 2
    await primary.write(insert(host_entry(schema, 1)))
    assert running.backend.engine.entries == {}
    await primary.set_config(None, Set.COMMIT)
    assert len(running.backend.engines) == 2
    assert len(running.backend.engine.entries) == 1
    found = await primary.read(
        p4r.Entity(table_entry=p4r.TableEntry(table_id=schema.tables["host"].id))
    )
    assert [entity.table_entry for entity in found] == [host_entry(schema, 1)]


async def test_commit_without_a_saved_config(primary: Session) -> None:
    assert (await refusal(primary, None, Set.COMMIT)).startswith("NOT_FOUND")
    await primary.set_config(config(), Set.VERIFY_AND_SAVE)
    assert (await refusal(primary, config(), Set.COMMIT)).startswith("INVALID_ARGUMENT")


async def test_reconcile_keeps_the_state(
    running: Running, primary: Session, schema: P4Schema
) -> None:
    await primary.set_config(config())
    await primary.write(insert(host_entry(schema, 1)), insert(host_entry(schema, 2)))
    register = p4r.RegisterEntry(register_id=schema.registers["seen"].id)
    register.index.index = 3
    register.data.bitstring = b"\x2a"
    await primary.write(
        p4r.Update(type=p4r.Update.MODIFY, entity=p4r.Entity(register_entry=register))
    )
    before = await primary.read(p4r.Entity(table_entry=p4r.TableEntry()))
    await primary.set_config(config(cookie=8), Set.RECONCILE_AND_COMMIT)
    assert len(running.backend.engines) == 2
    assert await primary.read(p4r.Entity(table_entry=p4r.TableEntry())) == before
    register.ClearField("data")
    (kept,) = await primary.read(p4r.Entity(register_entry=register))
    assert kept.register_entry.data.bitstring == b"\x2a"


async def test_reconcile_refuses_what_does_not_fit(
    running: Running, primary: Session, schema: P4Schema
) -> None:
    await primary.set_config(config())
    await primary.write(insert(host_entry(schema, 1)))
    other = config()
    host = next(t for t in other.p4info.tables if t.preamble.alias == "host")
    host.preamble.id += 1
    other.p4info.direct_counters[0].direct_table_id += 1
    answer = await refusal(primary, other, Set.RECONCILE_AND_COMMIT)
    assert answer.startswith("INVALID_ARGUMENT: the forwarding state cannot be preserved")
    assert len(running.backend.engines) == 1


async def test_what_is_wrong_with_a_config_is_named(running: Running, primary: Session) -> None:
    verify = Set.VERIFY_AND_COMMIT
    assert (await refusal(primary, None, verify)).startswith("INVALID_ARGUMENT")
    assert (await refusal(primary, config(), Set.UNSPECIFIED)).startswith("INVALID_ARGUMENT")
    bad = config()
    bad.p4_device_config = b"not json"
    assert "is not JSON" in await refusal(primary, bad, verify)
    for cut in (b"\x08", b"\x1a\x05{", b"\x12"):
        bad.p4_device_config = cut
        answer = await refusal(primary, bad, verify)
        assert answer.startswith("INVALID_ARGUMENT: p4_device_config is no P4DeviceConfig message")
    bad.p4_device_config = b"\x08\x01"
    assert "is not JSON" in await refusal(primary, bad, verify)
    bad.p4_device_config = b'{"pipelines": 3}'
    assert "p4_device_config is malformed BMv2 JSON: header_types: Field required" in await refusal(
        primary, bad, verify
    )
    bad = config()
    bad.p4info.tables[0].preamble.name = "KitchenIngress.missing"
    assert "table KitchenIngress.missing is not in the JSON" in await refusal(primary, bad, verify)
    bad = config()
    bad.p4info.tables[0].match_fields[0].bitwidth = 32
    answer = await refusal(primary, bad, verify)
    assert "key dst of KitchenIngress.host is exact bit<32>, in the JSON exact bit<48>" in answer
    bad = config()
    bad.p4info.counters[0].size = 17
    assert "size of counter KitchenIngress.port_rx is 17, in the JSON 16" in await refusal(
        primary, bad, verify
    )
    running.backend.refuse = "action foo uses an extern that is not supported"
    assert await refusal(primary, config(), verify) == f"INVALID_ARGUMENT: {running.backend.refuse}"
    assert running.backend.engines == []


def compiled(name: str) -> p4r.ForwardingPipelineConfig:
    """What p4c wrote for a program of tests/softswitch/p4."""
    pair = p4r.ForwardingPipelineConfig(p4_device_config=(PROGRAMS / f"{name}.json").read_bytes())
    text_format.Parse((PROGRAMS / f"{name}.p4info.txtpb").read_text(), pair.p4info)
    return pair


@pytest.mark.parametrize(
    "name", sorted(p.name.removesuffix(".p4info.txtpb") for p in PROGRAMS.glob("*.p4info.txtpb"))
)
async def test_what_one_compiler_run_wrote_belongs_together(primary: Session, name: str) -> None:
    await primary.set_config(compiled(name))


async def test_what_the_compiler_removed_is_missing_in_the_json(primary: Session) -> None:
    """Tables, profiles, arrays, digests and value sets that no packet reaches: p4c describes them
    in the P4Info and leaves them out of the JSON. A client that writes to one is told."""
    pair = compiled("removed")
    await primary.set_config(pair)
    tables = {t.preamble.alias: t.preamble.id for t in pair.p4info.tables}
    assert set(tables) == {
        "used", "plain", "selected", "profiled", "with_counter", "with_meter",
    }  # fmt: skip
    assert (await primary.get_config(Get.ALL)).config == pair
    entry = p4r.TableEntry(table_id=tables["plain"])
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await primary.write(
            p4r.Update(type=p4r.Update.INSERT, entity=p4r.Entity(table_entry=entry))
        )
    assert "there is no table" in str(refused.value)
    everything = [p4r.Entity() for _ in range(5)]
    everything[0].table_entry.SetInParent()
    everything[1].counter_entry.SetInParent()
    everything[2].action_profile_group.SetInParent()
    everything[3].register_entry.SetInParent()
    everything[4].digest_entry.SetInParent()
    for query in everything:
        await primary.read(query)


async def test_digests_of_tuples_have_two_names(running: Running, primary: Session) -> None:
    """p4c calls them digest_0 and digest_1 in the P4Info, tuple_0 and tuple_1 in the JSON."""
    pair = compiled("digests")
    await primary.set_config(pair)
    engine = running.backend.engine
    assert engine.events is not None
    for digest, name, values in zip(
        pair.p4info.digests, ("tuple_0", "seen_t", "tuple_1"), ((3,), (4,), (5, 6)), strict=True
    ):
        entry = p4r.DigestEntry(digest_id=digest.preamble.id)
        entry.config.max_list_size = 1
        await primary.write(
            p4r.Update(type=p4r.Update.INSERT, entity=p4r.Entity(digest_entry=entry))
        )
        engine.events.digest(name, [values])
        found = (await primary.receive()).digest
        assert found.digest_id == digest.preamble.id
        (data,) = found.data
        members = data.struct.members if name == "seen_t" else data.tuple.members
        assert [int.from_bytes(member.bitstring, "big") for member in members] == list(values)


@pytest.mark.parametrize("kind", ["tables", "counters", "registers", "digests", "action_profiles"])
async def test_what_has_another_name_in_the_json_was_not_removed(
    primary: Session, kind: str
) -> None:
    """Then the P4Info and the JSON are of different runs."""
    bad = config()
    getattr(bad.p4info, kind)[0].preamble.name = "KitchenIngress.renamed"
    answer = await refusal(primary, bad, Set.VERIFY)
    assert answer.startswith("INVALID_ARGUMENT: the P4Info does not belong")
    assert "KitchenIngress.renamed" in answer


@pytest.mark.parametrize("name", ["A" * 100_000, "ü" * 100_000], ids=["ASCII", "UTF-8"])
async def test_a_refusal_is_as_long_as_clients_accept(
    running: Running, primary: Session, name: str
) -> None:
    """Else they would hear of metadata that is too long, and not of what is wrong."""
    bad = config()
    bad.p4info.tables[0].preamble.name = name
    answer = await refusal(primary, bad, Set.VERIFY_AND_COMMIT)
    assert answer.startswith("INVALID_ARGUMENT: the P4Info does not belong")
    assert len(answer) < 2100
    assert running.backend.engines == []


@pytest.mark.parametrize("fails", ["refuse", "refuse_open", "refuse_start", "JSON"])
@pytest.mark.parametrize(
    "action", [Set.VERIFY, Set.VERIFY_AND_SAVE, Set.VERIFY_AND_COMMIT, Set.RECONCILE_AND_COMMIT]
)
async def test_a_refused_pipeline_leaves_the_running_one_alone(
    running: Running, primary: Session, schema: P4Schema, fails: str, action: int
) -> None:
    await primary.set_config(config(cookie=1))
    await primary.write(insert(host_entry(schema, 1)))
    engine = running.backend.engine
    before = await primary.read(p4r.Entity(table_entry=p4r.TableEntry()))
    other = config(cookie=2)
    if fails == "JSON":
        other.p4_device_config = other.p4_device_config.replace(b'"id" : 1,', b'"id" : 4294967296,')
    else:
        setattr(running.backend, fails, "no")
    if fails in ("JSON", "refuse") or action in (Set.VERIFY_AND_COMMIT, Set.RECONCILE_AND_COMMIT):
        await refusal(primary, other, action)
    elif action == Set.VERIFY_AND_SAVE:
        await primary.set_config(other, Set.VERIFY_AND_SAVE)
        await refusal(primary, None, Set.COMMIT)
        return
    assert engine.started
    assert not engine.closed
    assert all(e.closed for e in running.backend.engines if e is not engine)
    assert (await primary.get_config(Get.COOKIE_ONLY)).config.cookie.cookie == 1
    assert await primary.read(p4r.Entity(table_entry=p4r.TableEntry())) == before
    await primary.write(insert(host_entry(schema, 2)))
    assert len(engine.entries) == 2


async def test_capabilities(stub: p4r_grpc.P4RuntimeStub) -> None:
    reply = await stub.Capabilities(p4r.CapabilitiesRequest())
    assert reply.p4runtime_api_version == "1.4.0"


def test_program_sent_again_is_understood_already() -> None:
    first, again = (PipelineConfig.parse(config(cookie=cookie)) for cookie in (1, 2))
    assert again.schema is first.schema
    assert again.message.cookie.cookie == 2
