"""fcn-softswitch towards strangers: who reaches it, as whom it runs, what it takes from a cache."""

import asyncio
import contextlib
import os
import pwd
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

import finsy as fy
import grpc
import pytest
from finsy import P4Schema
from finsy.proto import p4r, p4r_grpc
from p4rt_command import Cable, command, failure, ip, refusal
from p4rt_testing import DEVICE_ID, P4BLOB, P4INFO, Session, config, host_entry, insert
from traffic_manager import manager_at, statistics

from fcn.controller.pki.folder import make, parse_holder, revoke
from fcn.softswitch import privileges
from fcn.softswitch.engine import BuildError, load_program
from fcn.softswitch.p4rt.transport import Transport, TransportError
from fcn.topologies.interop.certificates import Authority, Certificate

Set = p4r.SetForwardingPipelineConfigRequest
HOST_MAC = "02:00:00:00:00:01"
FRAME = bytes.fromhex("02000000000102000000000288b6")
CAP_NET_RAW = 1 << 13
_SO_RCVBUFFORCE = 33
LOCAL = ("--", "--grpc-server-addr", "127.0.0.1:0")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="interfaces and users need root")


def _arbitration() -> p4r.StreamMessageRequest:
    primary = p4r.MasterArbitrationUpdate(device_id=DEVICE_ID, election_id=p4r.Uint128(low=1))
    return p4r.StreamMessageRequest(arbitration=primary)


async def _version(
    address: str, credentials: grpc.ChannelCredentials | None, name: str = "switch"
) -> str:
    options = [("grpc.ssl_target_name_override", name)]
    channel = (
        grpc.aio.insecure_channel(address)
        if credentials is None
        else grpc.aio.secure_channel(address, credentials, options=options)
    )
    async with channel:
        stub = p4r_grpc.P4RuntimeStub(channel)
        reply = await stub.Capabilities(p4r.CapabilitiesRequest(), timeout=10)
        return str(reply.p4runtime_api_version)


def _credentials(root: bytes, own: Certificate) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(root, own.key.read_bytes(), own.certificate.read_bytes())


OWN_NAMES = ("--certificate", "--key", "--ca"), ()
BMV2_NAMES = (
    ("--grpc-server-cert", "--grpc-server-key", "--grpc-server-cacert"),
    ("--grpc-server-ssl", "--grpc-server-with-client-auth"),
)


@pytest.mark.parametrize("names", [OWN_NAMES, BMV2_NAMES], ids=["own", "bmv2"])
@pytest.mark.parametrize("mutual", [False, True])
async def test_tls(
    tmp_path: Path, mutual: bool, names: tuple[Sequence[str], Sequence[str]]
) -> None:
    ours, theirs = Authority(tmp_path / "ours"), Authority(tmp_path / "theirs")
    own, client, other = ours.sign("switch"), ours.sign("controller"), theirs.sign("controller")
    (certificate, key, ca), flags = names
    tls = [certificate, str(own.certificate), key, str(own.key)]
    tls += [ca, str(ours.ca)] if mutual else []
    tls += flags if mutual else flags[:1]
    with command("--no-p4", *LOCAL, *tls) as switch:
        root = ours.ca.read_bytes()
        known = _credentials(root, client)
        assert await _version(switch.address, known) == "1.4.0"
        named = [("grpc.ssl_target_name_override", "switch")]
        async with grpc.aio.secure_channel(switch.address, known, named) as channel:
            assert await statistics(manager_at(channel)) is not None
        async with grpc.aio.insecure_channel(switch.address) as channel:
            with pytest.raises(grpc.aio.AioRpcError):
                await statistics(manager_at(channel))
        refused = [None, grpc.ssl_channel_credentials(theirs.ca.read_bytes())]
        if mutual:
            refused += [grpc.ssl_channel_credentials(root), _credentials(root, other)]
        else:
            assert await _version(switch.address, grpc.ssl_channel_credentials(root)) == "1.4.0"
        for credentials in refused:
            with pytest.raises(grpc.aio.AioRpcError):
                await _version(switch.address, credentials)


async def test_renewed_files_are_taken_and_revoked_clients_are_refused(tmp_path: Path) -> None:
    make(tmp_path, [parse_holder("switch"), parse_holder("other")])
    home, client = tmp_path / "switches" / "switch", tmp_path / "controller"
    tls = [
        *("--certificate", str(home / "certificate.pem"), "--key", str(home / "key.pem")),
        *("--ca", str(home / "ca.pem"), "--crl", str(home / "crl.pem")),
    ]
    known = grpc.ssl_channel_credentials(
        (client / "switches-ca.pem").read_bytes(),
        (client / "key.pem").read_bytes(),
        (client / "certificate.pem").read_bytes(),
    )
    with command(
        "--no-p4", "--user", "root", "--device-id", str(DEVICE_ID), *LOCAL, *tls
    ) as switch:
        assert await _version(switch.address, known) == "1.4.0"
        for name in ("certificate.pem", "key.pem"):
            (tmp_path / "switches" / "other" / name).replace(home / name)
        # It has the name of the other one now.
        with pytest.raises(grpc.aio.AioRpcError):
            await _version(switch.address, known)
        assert await _version(switch.address, known, "other") == "1.4.0"
        options = [("grpc.ssl_target_name_override", "other")]
        async with grpc.aio.secure_channel(switch.address, known, options=options) as channel:
            stream = p4r_grpc.P4RuntimeStub(channel).StreamChannel()
            await stream.write(_arbitration())
            assert (await stream.read()).arbitration.device_id == DEVICE_ID
            revoke(tmp_path, parse_holder("controller"))
            with pytest.raises(grpc.aio.AioRpcError, match="the certificate of this client is"):
                await stream.read()
        with pytest.raises(grpc.aio.AioRpcError, match="the certificate of this client is revoked"):
            await _version(switch.address, known, "other")
    assert "--crl revokes certificates of --ca" in failure("--no-p4", *LOCAL, *tls[:4], *tls[6:])


def test_strangers_do_not_fill_the_log(tmp_path: Path) -> None:
    """gRPC's C library would write a line about every handshake that fails."""
    ours = Authority(tmp_path / "ours")
    own = ours.sign("switch")
    tls = ["--certificate", str(own.certificate), "--key", str(own.key), "--ca", str(ours.ca)]
    env = {key: value for key, value in os.environ.items() if key != "GRPC_VERBOSITY"}
    with command("--no-p4", *LOCAL, *tls, env=env) as switch:
        host, port = switch.address.rsplit(":", 1)
        for _ in range(5):
            with socket.create_connection((host, int(port)), timeout=60) as stranger:
                stranger.sendall(b"GET / HTTP/1.0\r\n\r\n" * 5)
                with contextlib.suppress(ConnectionError):
                    while stranger.recv(4096):
                        pass
        switch.process.terminate()
        _, errors = switch.process.communicate(timeout=120)
    assert "andshake" not in errors


def test_plain_grpc_is_for_loopback(tmp_path: Path) -> None:
    everywhere = ("--no-p4", "--", "--grpc-server-addr", "0.0.0.0:0")
    assert "say --insecure" in refusal(*everywhere)
    with command(*everywhere, "--insecure") as switch:
        assert switch.address.startswith("0.0.0.0:")
    assert "needs both" in refusal("--no-p4", *LOCAL, "--certificate", str(tmp_path / "none"))
    missing = ("--certificate", str(tmp_path / "none"), "--key", str(tmp_path / "none"))
    assert "cannot read" in refusal("--no-p4", *LOCAL, *missing)
    ours = Authority(tmp_path / "ours")
    one, two = ours.sign("one"), ours.sign("two")
    mixed = ("--certificate", str(one.certificate), "--key", str(two.key))
    assert "two.key is not the key of" in refusal("--no-p4", *LOCAL, *mixed)
    with pytest.raises(TransportError, match="other machines"):
        Transport("10.0.0.1:1").credentials()


def _tasks(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").iterdir())


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


@needs_root
@pytest.mark.parametrize(("options", "user"), [([], "nobody"), (["--user", "daemon"], "daemon")])
async def test_root_is_given_up_and_ports_still_open(
    cables: tuple[Cable, Cable], options: list[str], user: str
) -> None:
    """A second pipeline opens the interfaces again, and changes of their state are seen."""
    one, two = cables
    arguments = ["--device-id", "1", "-i", f"1@{one.switch}", "-i", f"2@{two.switch}", "--no-p4"]
    with command(*arguments, *options, *LOCAL) as switch:
        account = pwd.getpwnam(user)
        for _ in range(2):
            await _forward_one(switch.address, one, two)
        for task in _tasks(switch.process.pid):
            status = _status(int(task.name))
            assert status["Uid"].split() == [str(account.pw_uid)] * 4
            assert status["Gid"].split() == [str(account.pw_gid)] * 4
            assert status["Groups"] == ""
            assert int(status["CapEff"], 16) | CAP_NET_RAW == CAP_NET_RAW
            assert int(status["CapInh"], 16) == int(status["CapAmb"], 16) == 0
        assert int(_status(switch.process.pid)["CapBnd"], 16) == 0
        assert _status(switch.process.pid)["NoNewPrivs"] == "1"


@needs_root
def test_root_is_kept_on_demand() -> None:
    with command("--no-p4", "--user", "root", *LOCAL) as switch:
        assert _status(switch.process.pid)["Uid"].split() == ["0"] * 4
    assert "there is no user nosuchuser" in failure("--no-p4", "--user", "nosuchuser", *LOCAL)


async def _forward_one(address: str, one: Cable, two: Cable) -> None:
    entry = fy.P4TableEntry(
        "host", match=fy.P4TableMatch(dst=HOST_MAC), action=fy.P4TableAction("send", port=2)
    )
    with _listening(two.tester) as tester, _sending(one.tester) as sender:
        options = fy.SwitchOptions(p4info=P4INFO, p4blob=P4BLOB, device_id=1, p4force=True)
        async with fy.Switch("sw", address, options) as controller:
            await controller.insert([entry])
            sender.send(FRAME + bytes(46))
            assert await asyncio.to_thread(tester.recv, 2048) == FRAME + bytes(46)


def _listening(interface: str) -> socket.socket:
    # With a protocol from the start it would receive what comes on any interface until it is bound.
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 26)
    made.bind((interface, 3))
    made.settimeout(60)
    return made


def _sending(interface: str) -> socket.socket:
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    made.bind((interface, 0))
    return made


@needs_root
async def test_refused_pipelines_cost_no_packet(cables: tuple[Cable, Cable]) -> None:
    """While packets flow: pipelines refused by the schema, by the generator, and one whose ports
    cannot be opened. All packets arrive once and in order, counters and entries go on."""
    one, two = cables
    spare = f"{one.switch}s"
    ip("link", "add", spare, "type", "veth", "peer", "name", f"{spare}t")
    arguments = ["--device-id", "1", "-i", f"1@{one.switch}", "-i", f"2@{two.switch}"]
    with (
        command(*arguments, "-i", f"3@{spare}", str(P4BLOB), *LOCAL) as switch,
        _listening(two.tester) as tester,
        _sending(one.tester) as sender,
    ):
        async with grpc.aio.insecure_channel(switch.address) as channel:
            stub = p4r_grpc.P4RuntimeStub(channel)
            async with Session(stub, device_id=DEVICE_ID) as session:
                await session.arbitrate()
                await session.write(_host_entry())
                done = asyncio.Event()
                sent = asyncio.create_task(_send_until(done, sender))
                for action in (Set.VERIFY, Set.VERIFY_AND_COMMIT, Set.RECONCILE_AND_COMMIT):
                    for blob in _refused():
                        bad = config(cookie=9)
                        bad.p4_device_config = blob
                        with pytest.raises(grpc.aio.AioRpcError) as refused:
                            await session.set_config(bad, action)
                        assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
                ip("link", "del", spare)
                for action in (Set.VERIFY_AND_COMMIT, Set.RECONCILE_AND_COMMIT):
                    with pytest.raises(
                        grpc.aio.AioRpcError, match="cannot start: port 3"
                    ) as failed:
                        await session.set_config(config(cookie=9), action)
                    assert failed.value.code() == grpc.StatusCode.INTERNAL
                done.set()
                count = await sent
                for number in range(count):
                    frame = await asyncio.to_thread(tester.recv, 2048)
                    assert int.from_bytes(frame[14:18], "big") == number
                counted = await session.read(_port_counter())
                assert counted[0].counter_entry.data.packet_count == count


def _host_entry() -> p4r.Update:
    entry = host_entry(P4Schema(P4INFO), 1)
    entry.match[0].exact.value = FRAME[:6]
    return insert(entry)


def _port_counter() -> p4r.Entity:
    counter = p4r.CounterEntry(counter_id=P4Schema(P4INFO).counters["port_rx"].id)
    counter.index.index = 1
    return p4r.Entity(counter_entry=counter)


def _refused() -> Iterator[bytes]:
    good = P4BLOB.read_bytes()
    yield good.replace(b'"id" : 1,', b'"id" : 4294967296,')
    yield good.replace(b'"name" : "KitchenIngress.host"', b'"name" : "x\\"; system(1);"')
    yield good.replace(b'"op" : "mark_to_drop"', b'"op" : "teleport"')
    yield b"[" * 100_000


async def _send_until(done: asyncio.Event, sender: socket.socket) -> int:
    """Send numbered frames, some a millisecond, until done; their number."""
    number = 0
    while not done.is_set() or number < 100:
        for _ in range(4):
            sender.send(FRAME + number.to_bytes(4, "big") + bytes(42))
            number += 1
        await asyncio.sleep(0.001)
    return number


def test_a_cache_others_can_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = load_program(P4BLOB)
    folder = tmp_path / "fcn" / "softswitch"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert program.library.stat().st_mode & 0o777 == 0o700
    for path, mode in ((folder, 0o770), (folder, 0o702), (program.library, 0o720)):
        before = path.stat().st_mode
        path.chmod(mode)
        with pytest.raises(BuildError, match="can be written by others"):
            load_program(P4BLOB)
        path.chmod(before)
    assert load_program(P4BLOB).library == program.library
    above = tmp_path / "fcn"
    above.chmod(0o777)
    with pytest.raises(BuildError, match="can be written by all, who could replace"):
        load_program(P4BLOB)
    above.chmod(0o1777)
    assert load_program(P4BLOB).library == program.library
    above.chmod(0o755)
    moved = program.library.with_suffix(".moved")
    program.library.rename(moved)
    program.library.symlink_to(moved)
    with pytest.raises(BuildError, match="is a link"):
        load_program(P4BLOB)


@needs_root
def test_a_library_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    library = load_program(P4BLOB).library
    for path in (library, library.parent):
        os.chown(path, 65534, 65534)
        with pytest.raises(BuildError, match="belongs to user 65534"):
            load_program(P4BLOB)
        os.chown(path, 0, 0)
    os.chown(library.parent.parent, 65534, 65534)
    with pytest.raises(BuildError, match="belongs to user 65534 or can be written by all"):
        load_program(P4BLOB)


@needs_root
def test_an_empty_cache_home_is_as_if_it_were_not_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user the switch becomes gets a folder of its own, not one in root's home."""
    monkeypatch.setattr(privileges, "SYSTEM_CACHE", tmp_path)
    for value, expected in (("", str(tmp_path / "nobody")), ("/mine", "/mine")):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        privileges._own_cache(pwd.getpwnam("nobody"))
        assert os.environ["XDG_CACHE_HOME"] == expected
    assert (tmp_path / "nobody").stat().st_uid == pwd.getpwnam("nobody").pw_uid
