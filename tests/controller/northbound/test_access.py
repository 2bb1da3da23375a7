"""Who may call what over TLS, and what is noted of it."""

import asyncio
import grp
import json
import os
import pwd
import socket
import stat
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from led import leads, one_of_three
from switches import until

from fcn.contract.roles import Role
from fcn.contract.rpc import Stub
from fcn.contract.transport import ServerFiles
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config
from fcn.controller.northbound.access import METHODS
from fcn.controller.northbound.audit import KEPT, AuditError, AuditLog
from fcn.controller.northbound.client import ControllerError, FcnClient, UnreachableError
from fcn.controller.northbound.following import follow
from fcn.controller.northbound.local_users import KEY, SUFFIX, LocalUsers, word_for
from fcn.controller.northbound.serving import serving
from fcn.controller.pki.authority import Usage, read_signed, revocation_list, sign
from fcn.controller.pki.folder import make, parse_holder, revoke
from fcn.controller.proto import fcn_pb2 as pb
from fcn.controller.store import Store


@pytest.fixture
def pki(tmp_path: Path) -> Path:
    folder = tmp_path / "pki"
    make(folder, [parse_holder(name) for name in ("operator:alice", "agent:gpu-1")])
    return folder


def files(pki: Path) -> ServerFiles:
    own = pki / "controller"
    names = ("certificate.pem", "key.pem", "operators-ca.pem", "operators-crl.pem")
    return ServerFiles(*(own / name for name in names))


@pytest.fixture
async def api(config: Config, pki: Path, tmp_path: Path) -> AsyncIterator[str]:
    """Of a controller whose switches are away: it is the API that is looked at."""
    audit = AuditLog(tmp_path / "audit.log")
    plane = ControlPlane(config)
    async with serving(plane.network, "127.0.0.1:0", tls=files(pki), audit=audit) as address:
        yield address


async def call(api: str, folder: Path | None, ask: Callable[[FcnClient], object]) -> object:
    """What a client says, or why it is refused."""

    def run() -> object:
        try:
            with FcnClient(api, timeout=20, tls=folder) as client:
                return ask(client)
        except ControllerError as error:
            return error

    return await asyncio.to_thread(run)


def enable(client: FcnClient) -> object:
    return client.set_features("pe1", enabled=True)


def status(client: FcnClient) -> object:
    return client.status()


def noted(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]


def test_every_method_has_one_role() -> None:
    methods = pb.DESCRIPTOR.services_by_name["Fcn"].methods
    assert METHODS.keys() == {method.name for method in methods}
    for name, access in METHODS.items():
        reads = name.startswith(("Get", "List", "Watch", "Diff", "Follow"))
        assert access.changes is not reads, name
        assert (access.role is Role.READ_ONLY) is (reads and name != "DiffConfig"), name


async def test_each_role_may_do_its_part(api: str, pki: Path, tmp_path: Path) -> None:
    who = pki / "operators"
    assert isinstance(await call(api, who / "read-only", status), pb.GetStatusResponse)
    refused = await call(api, who / "read-only", enable)
    assert str(refused) == "SetFeatures needs the role operator; read-only has read-only"
    assert isinstance(await call(api, who / "alice", enable), pb.SetFeaturesResponse)
    refused = await call(api, who / "alice", lambda client: client.apply_config("", "x.yaml"))
    assert str(refused) == "ApplyConfig needs the role admin; alice has operator"
    refused = await call(api, who / "read-only", lambda it: list(it.diff_config("", "x")))
    assert "DiffConfig needs the role operator" in str(refused)
    events = await call(api, who / "read-only", lambda client: client.events())
    assert not isinstance(events, Exception)
    await call(api, who / "admin", lambda client: client.apply_config("secret: x\n", "x.yaml"))
    await call(api, who / "admin", lambda client: client.set_features("pe9", enabled=True))
    # Who is refused hears so before it is noted.
    await until(lambda: len(noted(tmp_path)) == 5)
    lines = noted(tmp_path)
    assert lines.pop()["detail"].startswith("there is no node 'pe9'")
    assert [(line["who"], line["call"], line["outcome"]) for line in lines] == [
        ("read-only", "SetFeatures", "PERMISSION_DENIED"),
        ("alice", "SetFeatures", "OK"),
        ("alice", "ApplyConfig", "PERMISSION_DENIED"),
        ("admin", "ApplyConfig", "INVALID_ARGUMENT"),
    ]
    assert lines[1]["request"] == {"node": "pe1", "features": [], "enabled": True}
    assert lines[1]["role"] == "operator"
    assert lines[1]["peer"].startswith("ipv4:127.0.0.1:")
    assert "secret" not in json.dumps(lines[3]["request"])


async def test_strangers_are_told_why(api: str, pki: Path, tmp_path: Path) -> None:
    plain = await call(api, None, status)
    assert isinstance(plain, UnreachableError)
    assert "FCN_TLS names the folder" in str(plain)
    agent = await call(api, pki / "agents" / "gpu-1", status)
    assert isinstance(agent, UnreachableError)
    assert "of another CA" in str(agent)
    make(tmp_path / "other", [])
    other = tmp_path / "other" / "operators" / "admin"
    assert "its certificate is not one of" in str(await call(api, other, status))
    nothing = await call(api, tmp_path / "none", status)
    assert "cannot read" in str(nothing)


async def test_a_certificate_without_a_role_may_do_nothing(api: str, pki: Path) -> None:
    home = pki / "ca" / "operators"
    ca = read_signed((home / "certificate.pem").read_bytes(), (home / "key.pem").read_bytes())
    mallory = pki / "operators" / "mallory"
    mallory.mkdir()
    made = sign(ca, "mallory", Usage.CLIENT)
    (mallory / "certificate.pem").write_bytes(made.certificate_pem)
    (mallory / "key.pem").write_bytes(made.key_pem)
    (mallory / "ca.pem").write_bytes((pki / "operators" / "admin" / "ca.pem").read_bytes())
    refused = await call(api, mallory, status)
    assert "mallory says no role; it needs one of these URIs" in str(refused)


async def test_revocation_and_expiry_end_what_is_connected(
    api: str, pki: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = pki / "operators" / "alice"
    with FcnClient(api, timeout=20, tls=alice) as client:
        assert await asyncio.to_thread(client.status)
        events = await asyncio.to_thread(client.events)
        revoke(pki, parse_holder("operator:alice"))
        with pytest.raises(ControllerError, match="the certificate of alice is revoked"):
            await asyncio.to_thread(list, events)
        with pytest.raises(ControllerError, match="the certificate of alice is revoked"):
            await asyncio.to_thread(client.status)
    admin = pki / "operators" / "admin"
    with FcnClient(api, timeout=20, tls=admin) as client:
        assert await asyncio.to_thread(client.status)

        class Later(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> "Later":  # noqa: ANN401
                return cls.fromtimestamp(time.time() + 1000 * 86400, tz)

        monkeypatch.setattr("fcn.contract.certificates.datetime", Later)
        with pytest.raises(ControllerError, match="the certificate of admin has expired"):
            await asyncio.to_thread(client.status)


async def test_renewed_files_are_taken_and_broken_ones_are_not(
    api: str, pki: Path, caplog: pytest.LogCaptureFixture
) -> None:
    admin, own = pki / "operators" / "admin", pki / "controller"
    home = pki / "ca" / "controllers"
    ca = read_signed((home / "certificate.pem").read_bytes(), (home / "key.pem").read_bytes())
    # Of another name: who connects from now on notices.
    renewed = sign(ca, "elsewhere", Usage.BOTH)
    (own / "certificate.pem").write_bytes(renewed.certificate_pem)
    assert isinstance(await call(api, admin, status), pb.GetStatusResponse)
    assert "is not the key of" in caplog.text
    (own / "key.pem").write_bytes(renewed.key_pem)
    assert "has another name" in str(await call(api, admin, status))
    crl = own / "operators-crl.pem"
    crl.write_bytes(revocation_list(ca, ()))
    assert "has another name" in str(await call(api, admin, status))


async def test_the_socket_is_for_its_user_alone(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane, path = ControlPlane(config), tmp_path / "api"
    audit = AuditLog(tmp_path / "audit.log")
    async with serving(plane.network, f"unix:{path}", audit=audit) as address:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        # FCN_TLS is for controllers elsewhere.
        monkeypatch.setenv("FCN_TLS", str(tmp_path / "none"))
        assert isinstance(await call(address, None, enable), pb.SetFeaturesResponse)
    (line,) = noted(tmp_path)
    user = pwd.getpwuid(os.geteuid()).pw_name
    assert (line["who"], line["role"], line["call"]) == (user, "admin", "SetFeatures")
    group = os.getgid()
    name = grp.getgrgid(group).gr_name
    async with serving(plane.network, f"unix:{path}", group=name):
        found = path.stat()
        assert (stat.S_IMODE(found.st_mode), found.st_gid) == (0o660, group)


async def test_nothing_is_changed_that_cannot_be_noted(config: Config, tmp_path: Path) -> None:
    plane, file = ControlPlane(config), tmp_path / "folder" / "audit.log"
    async with serving(plane.network, f"unix:{tmp_path}/api", audit=AuditLog(file)) as address:
        before = plane.nodes["pe1"].features
        refused = await call(address, None, lambda it: it.set_features("pe1", enabled=False))
        assert "cannot write the audit log" in str(refused)
        assert "nothing is changed" in str(refused)
        assert plane.nodes["pe1"].features == before
        assert isinstance(await call(address, None, status), pb.GetStatusResponse)


async def test_a_word_of_nobody_names_nobody(config: Config, tmp_path: Path) -> None:
    plane, api = ControlPlane(config), f"unix:{tmp_path}/api"
    async with (
        serving(plane.network, api, audit=AuditLog(tmp_path / "audit.log")),
        grpc.aio.insecure_channel(api) as channel,
    ):
        stub = Stub(channel, pb.DESCRIPTOR.services_by_name["Fcn"])
        for metadata in (((KEY, "0" * 32),), ()):
            await stub.SetFeatures(pb.SetFeaturesRequest(node="pe1"), metadata=metadata)
    assert [line["who"] for line in noted(tmp_path)] == ["unknown"] * 2
    assert sorted(os.listdir(tmp_path)) == ["audit.log"]


async def test_a_word_is_known_until_its_user_is_gone(tmp_path: Path) -> None:
    users, path = LocalUsers(), str(tmp_path / "api")

    def ask() -> tuple[str, str]:
        with word_for(path) as ((_, word),):
            return word, users.of(word)

    async with users.listening(path + SUFFIX, 0o600, -1):
        word, known = await asyncio.to_thread(ask)
        assert known == pwd.getpwuid(os.geteuid()).pw_name
        await until(lambda: not users.of(word))


def test_lines_go_to_whatever_has_the_name(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    audit = AuditLog(file)
    audit.tell(who="a\nb\x1b[2J", call="x" * 1000)
    file.rename(tmp_path / "audit.log.1")
    audit.tell(who="second")
    assert json.loads((tmp_path / "audit.log.1").read_text())["who"] == "a\nb\x1b[2J"
    assert (tmp_path / "audit.log.1").read_text().count("\n") == 1
    assert "\x1b" not in (tmp_path / "audit.log.1").read_text()
    assert len(file.read_text()) < 300
    assert stat.S_IMODE(file.stat().st_mode) & 0o007 == 0


def test_who_is_refused_hides_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often he asks, while the disk is full."""
    audit = AuditLog(tmp_path / "audit.log")
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda _descriptor, _octets: 0)
        for who in ("changed", *["refused"] * (KEPT + 5)):
            audit.tell(who=who)
    audit.check()
    assert [line["who"] for line in noted(tmp_path)][:2] == ["changed", "refused"]
    assert len(noted(tmp_path)) == KEPT


async def test_a_request_is_no_larger_than_it_need_be(api: str, pki: Path) -> None:
    """One of 4 MB, put into words, held up the controller for many seconds."""
    for name in ("read-only", "alice"):
        said = await call(
            api, pki / "operators" / name, lambda it: it.set_features("pe1", True, [""] * 10_000)
        )
        assert "SetFeatures has 20007 octets; 4096 are the most" in str(said)


async def test_one_caller_leaves_room_for_others(
    api: str, pki: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fcn.controller.northbound.access.AT_ONCE", 3)
    alice, admin = (pki / "operators" / name for name in ("alice", "admin"))
    with FcnClient(api, timeout=20, tls=alice) as client:
        streams = [await asyncio.to_thread(client.events) for _ in range(3)]
        refused = "alice has 3 calls open; end some of them"
        assert str(await call(api, alice, status)) == refused
        assert isinstance(await call(api, admin, status), pb.GetStatusResponse)
        del streams
    while str(await call(api, alice, status)) == refused:
        pass


def test_a_full_disk_loses_no_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "audit.log"
    audit, write = AuditLog(file), os.write
    audit.tell(who="first")
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda descriptor, octets: write(descriptor, octets[:5]))
        audit.tell(who="second")
        with pytest.raises(AuditError, match="No space left on device"):
            audit.check()
    audit.check()
    assert [line["who"] for line in noted(tmp_path)] == ["first", "second"]


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_a_file_is_written_to(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "audit.log"
    if kind == "link":
        file.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.mkdir()
    with pytest.raises(AuditError):
        AuditLog(file).check()
    assert not (tmp_path / "elsewhere").exists()


def test_the_time_of_a_line_is_that_of_the_world(tmp_path: Path) -> None:
    AuditLog(tmp_path / "audit.log").tell(who="x")
    (line,) = noted(tmp_path)
    assert abs(datetime.now(UTC) - datetime.fromisoformat(line["time"])) < timedelta(minutes=5)


async def test_a_storm_of_handshakes_leaves_room_for_others(api: str, pki: Path) -> None:
    host, port = api.rsplit(":", 1)
    admin = pki / "operators" / "admin"
    silent = [socket.create_connection((host, int(port))) for _ in range(200)]
    try:
        assert isinstance(await call(api, admin, status), pb.GetStatusResponse)
    finally:
        for each in silent:
            each.close()


async def test_who_follows_the_leader_has_a_certificate(api: str, pki: Path) -> None:
    """One that says read-only is enough."""
    leadership = one_of_three()
    leads(leadership, 1, 2)
    kept = asyncio.Queue[bytes]()
    folder = pki / "operators" / "read-only"
    following = asyncio.create_task(follow(leadership, {2: api}, folder, kept.put_nowait))
    store = Store()
    store.replace(await asyncio.wait_for(kept.get(), 60))
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
