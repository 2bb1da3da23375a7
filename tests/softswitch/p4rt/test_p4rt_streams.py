"""Packet-in and packet-out, digest lists, idle timeouts and slow clients."""

import asyncio

import grpc
import pytest
from finsy import P4Schema
from finsy.proto import p4r, p4r_grpc, rpc_code
from p4rt_testing import (
    RecordingEngine,
    Running,
    Session,
    config,
    delete,
    host_entry,
    insert,
    update_errors,
)

from fcn.softswitch.api import EngineEvents
from fcn.softswitch.p4rt.digests import MAX_UNACKNOWLEDGED
from fcn.softswitch.p4rt.stream import ClientStream

SECOND = 10**9


@pytest.fixture
def events(running: Running, primary: Session) -> EngineEvents:
    """The callbacks for the engine's events."""
    engine: RecordingEngine = running.backend.engine
    assert engine.events is not None
    return engine.events


def packet_out(payload: bytes, **metadata: int) -> p4r.StreamMessageRequest:
    message = p4r.PacketOut(payload=payload)
    for number, value in enumerate(metadata.values(), start=1):
        message.metadata.add(metadata_id=number, value=value.to_bytes(2, "big"))
    return p4r.StreamMessageRequest(packet=message)


async def test_packet_in_header_becomes_metadata(primary: Session, events: EngineEvents) -> None:
    events.packet_in(((258 << 7) | 5).to_bytes(2, "big") + b"frame")
    packet = (await primary.receive()).packet
    assert packet.payload == b"frame"
    assert [(m.metadata_id, m.value) for m in packet.metadata] == [(1, b"\x01\x02"), (2, b"\x05")]


async def test_packet_out_metadata_becomes_header(running: Running, primary: Session) -> None:
    await primary.send(packet_out(b"frame", egress_port=258, pad=5))
    await primary.send(packet_out(b"late", egress_port=1))
    error = (await primary.receive()).error
    assert running.backend.engine.sent == [((258 << 7) | 5).to_bytes(2, "big") + b"frame"]
    assert error.canonical_code == rpc_code.INVALID_ARGUMENT
    assert error.packet_out.packet_out.payload == b"late"


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ({}, rpc_code.INVALID_ARGUMENT),
        ({"egress_port": 1, "pad": 0, "more": 0}, rpc_code.INVALID_ARGUMENT),
        ({"egress_port": 512, "pad": 0}, rpc_code.OUT_OF_RANGE),
    ],
)
async def test_bad_packet_out(
    running: Running, primary: Session, metadata: dict[str, int], code: int
) -> None:
    await primary.send(packet_out(b"x", **metadata))
    assert (await primary.receive()).error.canonical_code == code
    assert running.backend.engine.sent == []


async def test_packet_out_without_a_controller_header(running: Running, primary: Session) -> None:
    """The packet is what enters the pipeline; metadata is none of it."""
    plain = config()
    del plain.p4info.controller_packet_metadata[:]
    await primary.set_config(plain)
    await primary.send(packet_out(b"frame"))
    await primary.send(p4r.StreamMessageRequest(packet=p4r.PacketOut(
        payload=b"x", metadata=[p4r.PacketMetadata(metadata_id=1, value=b"\x01")],
    )))  # fmt: skip
    error = (await primary.receive()).error
    assert error.canonical_code == rpc_code.INVALID_ARGUMENT
    assert running.backend.engine.sent == [b"frame"]


async def test_controller_headers_that_end_within_an_octet(
    running: Running, primary: Session
) -> None:
    """The bits that are left of it are zeros, as in simple_switch_grpc: of 9 bits, two octets."""
    short = config()
    for header in short.p4info.controller_packet_metadata:
        del header.metadata[1:]
    await primary.set_config(short)
    await primary.send(packet_out(b"frame", egress_port=258))
    # A packet-out has no answer; what is asked behind it on the stream has.
    await primary.arbitrate()
    engine = running.backend.engine
    assert engine.events is not None
    engine.events.packet_in((258 << 7).to_bytes(2, "big") + b"frame")
    packet = (await primary.receive()).packet
    assert packet.payload == b"frame"
    assert [(m.metadata_id, m.value) for m in packet.metadata] == [(1, b"\x01\x02")]
    assert engine.sent == [(258 << 7).to_bytes(2, "big") + b"frame"]


async def test_short_packet_in_is_dropped(primary: Session, events: EngineEvents) -> None:
    events.packet_in(b"\x00")
    events.packet_in(b"\x00\x80next")
    assert (await primary.receive()).packet.payload == b"next"


async def test_backups_hear_nothing(
    stub: p4r_grpc.P4RuntimeStub, primary: Session, events: EngineEvents
) -> None:
    async with Session(stub, 0) as backup:
        await backup.arbitrate()
        events.packet_in(b"\x00\x80one")
        assert (await primary.receive()).packet.payload == b"one"
        await backup.arbitrate(9)
        events.packet_in(b"\x00\x80two")
        assert (await backup.receive()).packet.payload == b"two"


async def enable(
    primary: Session, schema: P4Schema, wait: int = 0, size: int = 1, ack: int = 0
) -> int:
    entry = p4r.DigestEntry(digest_id=schema.digests["learn_t"].id)
    entry.config.CopyFrom(
        p4r.DigestEntry.Config(max_timeout_ns=wait, max_list_size=size, ack_timeout_ns=ack)
    )
    await primary.write(digest_update(p4r.Update.INSERT, entry))
    return entry.digest_id


def digest_update(kind: int, entry: p4r.DigestEntry) -> p4r.Update:
    return p4r.Update(type=p4r.Update.Type.ValueType(kind), entity=p4r.Entity(digest_entry=entry))


async def digests(primary: Session) -> p4r.DigestList:
    message = await asyncio.wait_for(primary.receive(), 5)
    assert message.WhichOneof("update") == "digest"
    return message.digest


async def test_digest_values(primary: Session, schema: P4Schema, events: EngineEvents) -> None:
    digest_id = await enable(primary, schema)
    events.digest("learn_t", [(0x0A0B, 258)])
    found = await digests(primary)
    assert (found.digest_id, found.list_id) == (digest_id, 1)
    assert found.timestamp > 0
    (data,) = found.data
    assert [member.bitstring for member in data.struct.members] == [b"\x0a\x0b", b"\x01\x02"]


async def test_lists_have_at_most_the_size_and_wait_at_most_the_timeout(
    primary: Session, schema: P4Schema, events: EngineEvents
) -> None:
    await enable(primary, schema, wait=SECOND // 20, size=2)
    events.digest("learn_t", [(1, 1), (1, 1), (2, 1), (3, 1)])
    assert len((await digests(primary)).data) == 2
    started = asyncio.get_running_loop().time()
    assert len((await digests(primary)).data) == 1
    assert asyncio.get_running_loop().time() - started > 0.02


async def test_messages_are_suppressed_until_acknowledged(
    running: Running, primary: Session, schema: P4Schema, events: EngineEvents
) -> None:
    digest_id = await enable(primary, schema, ack=3600 * SECOND)
    events.digest("learn_t", [(1, 1)])
    first = await digests(primary)
    events.digest("learn_t", [(1, 1), (2, 2)])
    assert (await digests(primary)).data[0].struct.members[0].bitstring == b"\x02"
    ack = p4r.DigestListAck(digest_id=digest_id, list_id=first.list_id)
    await primary.send(p4r.StreamMessageRequest(digest_ack=ack))
    await primary.send(p4r.StreamMessageRequest(digest_ack=p4r.DigestListAck(digest_id=5)))
    assert (await primary.receive()).error.canonical_code == rpc_code.INVALID_ARGUMENT
    events.digest("learn_t", [(1, 1), (2, 2)])
    again = await digests(primary)
    assert [d.struct.members[0].bitstring for d in again.data] == [b"\x01"]
    assert again.list_id == 3


async def test_lists_nobody_acknowledges_are_forgotten_in_the_end(
    running: Running, primary: Session, schema: P4Schema, events: EngineEvents
) -> None:
    """Then a message of the oldest is told again, and the others are still suppressed."""
    await enable(primary, schema, size=0, ack=3600 * SECOND)
    for first in range(0, MAX_UNACKNOWLEDGED + 4096, 4096):
        events.digest("learn_t", [(number, 1) for number in range(first, first + 4096)])
        assert len((await digests(primary)).data) == 4096
    events.digest("learn_t", [(MAX_UNACKNOWLEDGED, 1)])
    events.digest("learn_t", [(0, 1)])
    (again,) = (await digests(primary)).data
    assert again.struct.members[0].bitstring == b"\x00"
    assert running.device.statistics()["digest_messages_suppressed"] == 1


async def test_suppression_ends_with_the_ack_timeout(
    running: Running, primary: Session, schema: P4Schema, events: EngineEvents
) -> None:
    await enable(primary, schema, ack=SECOND // 50)
    events.digest("learn_t", [(1, 1)])
    assert (await digests(primary)).list_id == 1
    again = asyncio.create_task(digests(primary))
    while not again.done():
        events.digest("learn_t", [(1, 1)])
        await asyncio.sleep(0.005)
    assert again.result().list_id == 2
    assert running.device.statistics()["digest_messages_suppressed"] > 0


@pytest.mark.parametrize(("seconds", "told"), [(60.0, [1, 5]), (0.0, [5])])
async def test_digests_nobody_hears_come_again(
    stub: p4r_grpc.P4RuntimeStub,
    running: Running,
    schema: P4Schema,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    told: list[int],
) -> None:
    """When they are reported anew; and what was kept, for who reads the digest's configuration."""
    monkeypatch.setattr("fcn.softswitch.p4rt.digests.KEPT_FOR", seconds)
    async with Session(stub, 1) as one:
        await one.arbitrate()
        await one.set_config(config())
        digest_id = await enable(one, schema, ack=3600 * SECOND)
        await one.arbitrate(0)
        events = running.backend.engine.events
        assert events is not None
        events.digest("learn_t", [(1, 1)])
        await one.arbitrate(2)
        events.digest("learn_t", [(1, 1)])
        assert len((await digests(one)).data) == 1
        await one.read(p4r.Entity(digest_entry=p4r.DigestEntry(digest_id=digest_id)))
        events.digest("learn_t", [(5, 5)])
        for value in told:
            (data,) = (await digests(one)).data
            assert data.struct.members[0].bitstring == bytes((value,))


async def test_digest_entries(primary: Session, schema: P4Schema, events: EngineEvents) -> None:
    entry = p4r.DigestEntry(digest_id=schema.digests["learn_t"].id)
    entry.config.max_list_size = 3
    query = p4r.Entity(digest_entry=p4r.DigestEntry(digest_id=entry.digest_id))
    assert await primary.read(query) == []
    update, drop = p4r.Update.MODIFY, p4r.Update.DELETE
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await primary.write(
            digest_update(update, entry),
            digest_update(drop, entry),
            digest_update(p4r.Update.INSERT, p4r.DigestEntry(digest_id=4)),
            digest_update(p4r.Update.INSERT, entry),
            digest_update(p4r.Update.INSERT, entry),
        )
    assert update_errors(error.value) == [
        rpc_code.NOT_FOUND,
        rpc_code.NOT_FOUND,
        rpc_code.INVALID_ARGUMENT,
        rpc_code.OK,
        rpc_code.ALREADY_EXISTS,
    ]
    (found,) = await primary.read(query)
    assert found.digest_entry == entry
    await primary.write(digest_update(drop, entry))
    events.digest("learn_t", [(1, 1)])
    events.packet_in(b"\x00\x80next")
    assert (await primary.receive()).packet.payload == b"next"


async def test_idle_timeout_notification(
    running: Running, primary: Session, schema: P4Schema, events: EngineEvents
) -> None:
    entry = host_entry(schema, 1)
    entry.idle_timeout_ns = SECOND
    entry.metadata = b"m"
    await primary.write(insert(entry))
    (handle,) = running.backend.engine.entries
    events.idle("KitchenIngress.host", handle)
    notice = (await primary.receive()).idle_timeout_notification
    assert list(notice.table_entry) == [entry]
    assert notice.timestamp > 0
    events.idle("KitchenIngress.host", handle)
    events.idle("KitchenIngress.host", handle)
    assert len((await primary.receive()).idle_timeout_notification.table_entry) == 2
    await primary.write(delete(entry))
    events.idle("KitchenIngress.host", handle)
    events.packet_in(b"\x00\x80next")
    assert (await primary.receive()).packet.payload == b"next"


async def test_slow_clients_lose_notifications_but_not_arbitration() -> None:
    stream = ClientStream(limit=2)
    note = p4r.StreamMessageResponse(packet=p4r.PacketIn())
    assert [stream.offer(note) for _ in range(4)] == [True, True, False, False]
    stream.send(p4r.StreamMessageResponse(arbitration=p4r.MasterArbitrationUpdate()))
    kinds = []
    for _ in range(3):
        message = await stream.next()
        assert message is not None
        kinds.append(message.WhichOneof("update"))
    assert kinds == ["packet", "packet", "arbitration"]
    stream.close()
    assert await stream.next() is None


async def test_what_waits_for_a_slow_client_has_a_size() -> None:
    """Whoever sends large packets that are refused, and does not read why, takes no memory."""
    stream = ClientStream(octets=250)
    error = p4r.StreamMessageResponse(error=p4r.StreamError(message="x" * 90))
    assert [stream.offer(error) for _ in range(3)] == [True, True, False]
    stream.send(p4r.StreamMessageResponse(arbitration=p4r.MasterArbitrationUpdate(device_id=1)))
    for _ in range(3):
        assert await stream.next() is not None
    assert [stream.offer(error) for _ in range(3)] == [True, True, False]


async def test_a_client_that_does_not_read_holds_nobody_up(
    running: Running, primary: Session, events: EngineEvents, schema: P4Schema
) -> None:
    frame = b"\x00\x80" + bytes(9000)
    for _ in range(20_000):
        events.packet_in(frame)
    assert running.device.statistics()["stream_messages_dropped"] > 0
    await asyncio.wait_for(primary.write(insert(host_entry(schema, 1))), 5)
