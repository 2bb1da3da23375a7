"""The same requests to the softswitch and to simple_switch_grpc: the codes agree or are listed.

docs/softswitch-p4runtime.md explains the differences.
"""

import asyncio
import contextlib
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import grpc
import pytest
from finsy import P4Schema
from finsy.proto import p4r, p4r_grpc, rpc_code
from p4rt_cases import ACL_ERRORS, HOST_ERRORS
from p4rt_entities import one_shot, route
from p4rt_testing import (
    Running,
    Session,
    acl_entry,
    config,
    delete,
    host_entry,
    insert,
    modify,
    update_errors,
    wrapped,
)

BMV2 = shutil.which("simple_switch_grpc")
OK = rpc_code.OK
needs_bmv2 = pytest.mark.skipif(BMV2 is None, reason="simple_switch_grpc is not installed")

# Answers of simple_switch_grpc that differ from the specification.
DIFFERENT = {
    "host is_const": OK,
    "host empty key": OK,
    "host wide key": rpc_code.INVALID_ARGUMENT,
    "host wide param": rpc_code.INVALID_ARGUMENT,
    "host meter counters": OK,
    "acl negative priority": rpc_code.UNKNOWN,
    "acl whole range": OK,
    "no keys": rpc_code.UNKNOWN,
    "default of an indirect table": rpc_code.INVALID_ARGUMENT,
    "const entry": rpc_code.NOT_FOUND,
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def bmv2(log: Path) -> Iterator[str]:
    """simple_switch_grpc without ports; its address."""
    assert BMV2 is not None
    address = f"127.0.0.1:{free_port()}"
    arguments = (
        f"--no-p4 --device-id 1 --thrift-port {free_port()} "
        f"-- --grpc-server-addr {address} --cpu-port 510"
    )
    with log.open("w") as out:
        process = subprocess.Popen([BMV2, *arguments.split()], stdout=out, stderr=subprocess.STDOUT)
    try:
        yield address
    finally:
        process.kill()
        process.wait()


@contextlib.asynccontextmanager
async def primary(address: str) -> AsyncIterator[Session]:
    """A primary with the test program committed."""
    async with grpc.aio.insecure_channel(address) as channel:
        await asyncio.wait_for(channel.channel_ready(), 20)
        async with Session(p4r_grpc.P4RuntimeStub(channel)) as session:
            await session.arbitrate()
            await session.set_config(config())
            yield session


async def result(session: Session, *updates: p4r.Update) -> list[int]:
    try:
        await session.write(*updates)
    except grpc.aio.AioRpcError as error:
        return update_errors(error)
    return [OK] * len(updates)


def default(schema: P4Schema, table: str, action: str) -> p4r.TableEntry:
    entry = p4r.TableEntry(table_id=schema.tables[table].id, is_default_action=True)
    entry.action.action.action_id = schema.actions[action].id
    return entry


def cases(schema: P4Schema) -> Iterator[tuple[str, list[p4r.Update]]]:
    """Named batches; each leaves the tables as they were."""
    for name, change, _ in HOST_ERRORS:
        entry = host_entry(schema, 1)
        change(entry)
        yield f"host {name}", [insert(entry)]
    for name, change in ACL_ERRORS:
        entry = acl_entry(schema)
        change(entry)
        yield f"acl {name}", [insert(entry)]
    host, other = host_entry(schema, 1), host_entry(schema, 2)
    yield "batch", [insert(host), insert(host), modify(other), delete(other), delete(host)]
    yield "acl", [insert(acl_entry(schema)), delete(acl_entry(schema))]
    keyless = default(schema, "learning", "learn")
    keyless.is_default_action = False
    yield "no keys", [insert(keyless)]
    yield "insert of a default", [insert(default(schema, "host", "drop"))]
    yield "delete of a default", [delete(default(schema, "host", "drop"))]
    yield "const default", [modify(default(schema, "fixed", "NoAction"))]
    yield "table-only action as default", [modify(default(schema, "host", "NoAction"))]
    yield "default of an indirect table", [modify(default(schema, "route", "NoAction"))]
    yield "default", [modify(default(schema, "learning", "learn"))]
    only_default = host_entry(schema, 1)
    only_default.action.action.CopyFrom(p4r.Action(action_id=schema.actions["drop"].id))
    yield "default-only action in an entry", [insert(only_default)]
    const = p4r.TableEntry(table_id=schema.tables["fixed"].id, priority=1)
    const.match.add(field_id=1).exact.value = b"\x88\xb5"
    yield "const entry", [delete(const)]


@needs_bmv2
async def test_update_codes(running: Running, schema: P4Schema, tmp_path: Path) -> None:
    with bmv2(tmp_path / "bmv2.log") as address:
        async with primary(running.address) as ours, primary(address) as theirs:
            for name, updates in cases(schema):
                found = await result(ours, *updates)
                reference = await result(theirs, *updates)
                expected = [DIFFERENT[name]] if name in DIFFERENT else found
                assert reference == expected, name
                if reference == [OK] and found != [OK]:
                    await theirs.write(delete(updates[0].entity.table_entry))


@needs_bmv2
async def test_the_message_just_written_reads_its_entry(
    running: Running, schema: P4Schema, tmp_path: Path
) -> None:
    with bmv2(tmp_path / "bmv2.log") as address:
        for server in (running.address, address):
            async with primary(server) as session:
                for written in (
                    host_entry(schema, 1),
                    acl_entry(schema),
                    route(schema, 1, one_shot(schema, (2, 1))),
                ):
                    assert await result(session, insert(written)) == [OK]
                    (found,) = await session.read(p4r.Entity(table_entry=written))
                    assert found.table_entry == written


@needs_bmv2
async def test_json_in_a_message(running: Running, schema: P4Schema, tmp_path: Path) -> None:
    """Both take p4.tmp.P4DeviceConfig, and return it as it was sent."""
    with bmv2(tmp_path / "bmv2.log") as address:
        for server in (running.address, address):
            async with primary(server) as session:
                await session.set_config(wrapped(config(cookie=3)))
                found = await session.get_config(p4r.GetForwardingPipelineConfigRequest.ALL)
                assert found.config == wrapped(config(cookie=3))
                assert await result(session, insert(host_entry(schema, 1))) == [OK]


@needs_bmv2
async def test_arbitration(running: Running, tmp_path: Path) -> None:
    with bmv2(tmp_path / "bmv2.log") as address:
        answers = []
        for server in (running.address, address):
            async with (
                primary(server) as first,
                grpc.aio.insecure_channel(server) as channel,
                Session(p4r_grpc.P4RuntimeStub(channel), 0) as second,
            ):
                backup = await second.arbitrate()
                with pytest.raises(grpc.aio.AioRpcError) as refused:
                    await second.write()
                promoted = await second.arbitrate(7)
                demoted = await first.arbitration()
                answers.append(
                    (
                        [update.status.code for update in (backup, promoted, demoted)],
                        [update.election_id for update in (backup, promoted, demoted)],
                        refused.value.code(),
                    )
                )
        assert answers[0] == answers[1]
