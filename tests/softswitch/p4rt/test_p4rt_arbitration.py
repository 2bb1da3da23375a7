"""Client arbitration with several raw clients (P4Runtime 1.4, Client Arbitration)."""

from contextlib import AsyncExitStack

import grpc
import pytest
from finsy.proto import U128, p4r, p4r_grpc, rpc_code
from p4rt_testing import DEVICE_ID, Running, Session, config

from fcn.softswitch.p4rt.arbitration import MAX_ROLES, Arbitration, Client
from fcn.softswitch.p4rt.stream import ClientStream


def code_of(update: p4r.MasterArbitrationUpdate) -> int:
    return update.status.code


async def test_first_client_becomes_primary(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub, 5) as one:
        update = await one.arbitrate()
        assert code_of(update) == rpc_code.OK
        assert U128.decode(update.election_id) == 5
        assert not update.HasField("role")


async def test_backup_promotion_and_demotion(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub, 5) as one, Session(stub, 3) as two:
        assert code_of(await one.arbitrate()) == rpc_code.OK
        backup = await two.arbitrate()
        assert code_of(backup) == rpc_code.ALREADY_EXISTS
        assert U128.decode(backup.election_id) == 5
        assert code_of(await two.arbitrate(1 << 64)) == rpc_code.OK
        demoted = await one.arbitration()
        assert code_of(demoted) == rpc_code.ALREADY_EXISTS
        assert U128.decode(demoted.election_id) == 1 << 64


async def test_a_primary_that_asks_stays_primary_and_disturbs_nobody(
    stub: p4r_grpc.P4RuntimeStub,
) -> None:
    async with Session(stub, 5) as one, Session(stub, 3) as two:
        await one.arbitrate()
        await two.arbitrate()
        assert code_of(await one.arbitrate()) == rpc_code.OK
        # The answer to this is the next thing that the backup hears.
        assert code_of(await two.arbitrate(6)) == rpc_code.OK
        assert code_of(await one.arbitration()) == rpc_code.ALREADY_EXISTS


async def test_loss_of_the_primary_is_announced(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub, 3) as backup:
        async with Session(stub, 5) as primary:
            await primary.arbitrate()
            await backup.arbitrate()
        lost = await backup.arbitration()
        assert code_of(lost) == rpc_code.NOT_FOUND
        assert U128.decode(lost.election_id) == 5
        assert code_of(await backup.arbitrate(4)) == rpc_code.NOT_FOUND
        assert code_of(await backup.arbitrate(5)) == rpc_code.OK


async def test_half_closed_primary_is_lost(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub, 5) as primary, Session(stub, 3) as backup:
        await primary.arbitrate()
        await backup.arbitrate()
        await primary.half_close()
        assert code_of(await backup.arbitration()) == rpc_code.NOT_FOUND


async def test_primary_steps_down(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub, 5) as one, Session(stub, 3) as two:
        await one.arbitrate()
        await two.arbitrate()
        assert code_of(await one.arbitrate(1)) == rpc_code.NOT_FOUND
        assert code_of(await two.arbitration()) == rpc_code.NOT_FOUND


async def test_unset_election_id_never_wins(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub, None) as one:
        update = await one.arbitrate()
        assert code_of(update) == rpc_code.NOT_FOUND
        assert not update.HasField("election_id")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await one.set_config(config())
        assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED


async def test_zero_election_id_may_win(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub, 0) as one:
        assert code_of(await one.arbitrate()) == rpc_code.OK


async def test_duplicate_election_id_ends_the_stream(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub, 5) as one, Session(stub, 5) as two:
        await one.arbitrate()
        with pytest.raises(
            (EOFError, grpc.aio.AioRpcError), match=r"Election id 5 is already used"
        ):
            await two.arbitrate()
        assert code_of(await one.arbitrate()) == rpc_code.OK


async def test_wrong_device_ends_the_stream(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub, device_id=9) as one:
        with pytest.raises((EOFError, grpc.aio.AioRpcError), match="NOT_FOUND"):
            await one.arbitrate()


async def test_device_and_role_of_a_stream_are_fixed(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub) as one:
        await one.arbitrate()
        one.device_id = 9
        with pytest.raises((EOFError, grpc.aio.AioRpcError), match="FAILED_PRECONDITION"):
            await one.arbitrate()
    async with Session(stub) as two:
        await two.arbitrate()
        two.role = "other"
        with pytest.raises((EOFError, grpc.aio.AioRpcError), match="FAILED_PRECONDITION"):
            await two.arbitrate()


async def test_roles_have_their_own_primaries(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub, 5) as one, Session(stub, 5, role="metering") as two:
        assert code_of(await one.arbitrate()) == rpc_code.OK
        update = await two.arbitrate()
        assert code_of(update) == rpc_code.OK
        assert update.role.name == "metering"
        await one.set_config(config())
        await two.write()


@pytest.mark.parametrize("role", ["", "metering"])
@pytest.mark.parametrize("live", [False, True])
async def test_a_role_config_is_refused(
    stub: p4r_grpc.P4RuntimeStub, role: str, live: bool
) -> None:
    """No scheme is agreed upon, so none matches; without one a role may do everything."""
    async with Session(stub, 5, role=role) as one, Session(stub, 3, role=role) as other:
        if live:
            await one.arbitrate()
            await other.arbitrate()
        update = p4r.MasterArbitrationUpdate(device_id=1, election_id=U128.encode(6))
        update.role.name = role
        update.role.config.Pack(p4r.Role(name="send packets only"))
        await one.send(p4r.StreamMessageRequest(arbitration=update))
        with pytest.raises(
            (EOFError, grpc.aio.AioRpcError), match=r"INVALID_ARGUMENT.*role\.config"
        ):
            await one.arbitration()
        answer = await (other.arbitration() if live else other.arbitrate())
        assert code_of(answer) == (rpc_code.NOT_FOUND if live else rpc_code.OK)
        assert not answer.role.HasField("config")


async def test_write_of_an_unknown_role(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub, 5) as one:
        await one.arbitrate()
        one.role = "nobody"
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await one.write()
        assert refused.value.code() == grpc.StatusCode.NOT_FOUND


async def test_only_the_primary_writes(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub, 5) as primary, Session(stub, 3) as backup:
        await primary.arbitrate()
        await backup.arbitrate()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await backup.set_config(config())
        assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
        await primary.set_config(config())
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await backup.write()
        assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
        await primary.write()


async def test_write_needs_a_pipeline(stub: p4r_grpc.P4RuntimeStub) -> None:
    async with Session(stub) as one:
        await one.arbitrate()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await one.write()
        assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await one.read()
        assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION


async def test_packets_and_acks_are_for_the_primary(
    running: Running, stub: p4r_grpc.P4RuntimeStub
) -> None:
    async with Session(stub, 5) as primary, Session(stub, 3) as backup:
        await primary.arbitrate()
        await primary.set_config(config())
        await backup.arbitrate()
        await backup.send(p4r.StreamMessageRequest(packet=p4r.PacketOut(payload=b"x")))
        error = (await backup.receive()).error
        assert error.canonical_code == rpc_code.PERMISSION_DENIED
        assert error.packet_out.packet_out.payload == b"x"
        await backup.send(p4r.StreamMessageRequest(digest_ack=p4r.DigestListAck(list_id=4)))
        error = (await backup.receive()).error
        assert error.canonical_code == rpc_code.PERMISSION_DENIED
        assert error.digest_list_ack.digest_list_ack.list_id == 4
        assert running.backend.engine.sent == []


async def test_roles_are_bounded(stub: p4r_grpc.P4RuntimeStub) -> None:
    """Each is remembered with its highest election ID; one nobody has makes way for another."""
    async with Session(stub, 7, role="kept") as kept:
        await kept.arbitrate()
        for number in range(MAX_ROLES + 10):
            async with Session(stub, 1, role=f"role{number}") as passing:
                assert code_of(await passing.arbitrate()) == rpc_code.OK
        assert U128.decode((await kept.arbitrate()).election_id) == 7
    async with AsyncExitStack() as stack:
        sessions = [Session(stub, 1, role=f"taken{number}") for number in range(MAX_ROLES)]
        for session in sessions[:-1]:
            await stack.enter_async_context(session)
            assert code_of(await session.arbitrate()) == rpc_code.OK
        await stack.enter_async_context(sessions[-1])
        with pytest.raises(grpc.aio.AioRpcError, match="64 roles are taken already"):
            await sessions[-1].arbitrate()
    async with Session(stub, 1, role="x" * 257) as long:
        with pytest.raises(grpc.aio.AioRpcError, match="256 characters at most"):
            await long.arbitrate()


async def test_fights_for_mastership_cost_a_client_that_does_not_read_no_memory() -> None:
    """What waits for it is the newest of its standing, not all there ever was."""
    arbitration = Arbitration(DEVICE_ID)
    deaf, *fighters = (Client(ClientStream()) for _ in range(3))
    update = p4r.MasterArbitrationUpdate(device_id=DEVICE_ID)
    arbitration.begin(deaf, update)
    for election_id in range(1, 5000):
        update.election_id.CopyFrom(U128.encode(election_id))
        fighter = fighters[election_id % 2]
        assert arbitration.begin(fighter, update)
        arbitration.complete(fighter)
    deaf.stream.close()
    waiting = []
    while (message := await deaf.stream.next()) is not None:
        waiting.append(U128.decode(message.arbitration.election_id))
    assert len(waiting) < 100
    assert waiting == sorted(waiting)
    assert waiting[-1] == 4999
