"""The controller and real switches with TLS and mutual TLS, certificates made for each test."""

import asyncio
import os
import shutil
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from switches import until

from fcn.controller.app import ControlPlane
from fcn.controller.cli.shell import VARIABLES, ShellError, environment, shell_arguments
from fcn.controller.config import parse_config
from fcn.controller.node import session
from fcn.controller.northbound.client import FcnClient
from fcn.controller.northbound.serving import serving
from fcn.controller.proto import fcn_pb2 as pb
from fcn.hosts.processes import is_listening
from fcn.topologies.interop.certificates import Authority, Certificate

HOST = "127.0.0.1"
SWITCHES = {"softswitch": [sys.executable, "-m", "fcn.softswitch"], "bmv2": ["simple_switch_grpc"]}


class Certificates:
    """Of one CA: the switch's and the controller's; and a controller's of another CA."""

    def __init__(self, folder: Path) -> None:
        ours = Authority(folder / "ours")
        self.ca = ours.ca
        self.switch = ours.sign("switch")
        self.controller = ours.sign("controller")
        theirs = Authority(folder / "theirs")
        self.stranger = theirs.sign("controller")
        self.other_ca = theirs.ca


def _target_options(switch: str, files: Certificates, mutual: bool) -> list[str]:
    own = files.switch
    if switch == "bmv2":
        options = ["--grpc-server-ssl", "--grpc-server-cert", str(own.certificate)]
        options += ["--grpc-server-key", str(own.key), "--grpc-server-cacert", str(files.ca)]
        return options + ["--grpc-server-with-client-auth"] * mutual
    options = ["--certificate", str(own.certificate), "--key", str(own.key)]
    return options + ["--ca", str(files.ca)] * mutual


@pytest.fixture(params=sorted(SWITCHES))
def switch(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if shutil.which(SWITCHES[name][0]) is None:
        pytest.skip(f"{SWITCHES[name][0]} is not installed")
    return name


@asynccontextmanager
async def _running(switch: str, files: Certificates, mutual: bool) -> AsyncIterator[str]:
    """A switch without interfaces; its address."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
    command = [*SWITCHES[switch], "--no-p4", "--device-id", "1"]
    command += ["--thrift-port", str(port + 1 if port < 65535 else port - 1)]
    command += ["--", "--grpc-server-addr", f"{HOST}:{port}", "--cpu-port", "510"]
    command += _target_options(switch, files, mutual)
    null = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdout=null, stderr=null)
    try:
        await until(lambda: process.returncode is not None or is_listening(HOST, port), "switch")
        assert process.returncode is None
        yield f"{HOST}:{port}"
    finally:
        process.kill()
        await process.wait()


def _plane(network: dict[str, Any], address: str, **keys: object) -> ControlPlane:
    node = network["nodes"]["p1"] | {"grpc": address, "device_id": 1} | keys
    alone = {"api": "127.0.0.1:0", "insecure": ["api"], "nodes": {"p1": node}}
    return ControlPlane(parse_config(yaml.safe_dump(alone)))


def _tls(files: Certificates, own: Certificate | None, ca: Path | None = None) -> dict[str, Any]:
    tls = {"ca": str(ca or files.ca), "name": "switch"}
    if own is not None:
        tls |= {"certificate": str(own.certificate), "key": str(own.key)}
    return tls


async def _up(plane: ControlPlane) -> None:
    async with asyncio.timeout(120), plane.running():
        while not plane.nodes["p1"].is_up:  # noqa: ASYNC110 - other tasks change it
            await asyncio.sleep(0.05)


async def _refused(plane: ControlPlane) -> str:
    """What is told of a switch that no session begins with."""
    async with asyncio.timeout(120), plane.running():
        status = plane.nodes["p1"].status
        while "no session with" not in status.detail or "Trying again" not in status.detail:
            await asyncio.sleep(0.05)
            status = plane.nodes["p1"].status
            assert not plane.nodes["p1"].is_up
    return status.detail


@pytest.mark.parametrize("mutual", [False, True])
async def test_a_pipeline_is_pushed_over_tls(
    network: dict[str, Any], tmp_path: Path, switch: str, mutual: bool
) -> None:
    files = Certificates(tmp_path)
    async with _running(switch, files, mutual) as address:
        own = files.controller if mutual else None
        await _up(_plane(network, address, tls=_tls(files, own)))


async def test_strangers_have_no_session(
    network: dict[str, Any], tmp_path: Path, switch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain text, no certificate, one of another CA; and a switch that has one of another CA."""
    monkeypatch.setattr(session, "BEGIN_TIMEOUT", 2.0)
    files = Certificates(tmp_path)
    async with _running(switch, files, mutual=True) as address:
        assert "TLS (off) right?" in await _refused(_plane(network, address))
        for tls, reason in (
            (_tls(files, None), "Socket closed"),
            (_tls(files, files.stranger), "Socket closed"),
            (_tls(files, files.controller, files.other_ca), "is not one of the CA in `tls`"),
            (_tls(files, files.controller) | {"name": "x"}, "has another name; `name` in `tls`"),
        ):
            told = await _refused(_plane(network, address, tls=tls))
            assert reason in told
            assert "TLS (on) right?" in told


async def test_renewed_files_are_read(network: dict[str, Any], tmp_path: Path) -> None:
    """The controller's certificate is replaced while it tries."""
    files = Certificates(tmp_path)
    used = Certificate(tmp_path / "used.pem", tmp_path / "used.key")

    def install(own: Certificate) -> None:
        shutil.copy(own.certificate, used.certificate)
        shutil.copy(own.key, used.key)

    install(files.stranger)
    async with _running("softswitch", files, mutual=True) as address:
        plane = _plane(network, address, tls=_tls(files, used))
        async with asyncio.timeout(120), plane.running():
            await until(lambda: "Trying again" in plane.nodes["p1"].status.detail, "a refusal")
            install(files.controller)
            await until(lambda: plane.nodes["p1"].is_up, "the session")


@pytest.mark.skipif(
    not (environment() / "complete").exists(),
    reason="p4runtime-shell is not installed; `fcn shell NODE` installs it",
)
async def test_the_shell_reaches_a_switch_as_the_controller_does(
    network: dict[str, Any], tmp_path: Path
) -> None:
    """With the files and the name the controller tells; not without its key."""
    files = Certificates(tmp_path)
    async with _running("softswitch", files, mutual=True) as address:
        plane = _plane(network, address, tls=_tls(files, files.controller))
        async with plane.running(), serving(plane.network, "127.0.0.1:0") as api:
            await until(lambda: plane.nodes["p1"].is_up, "the session")
            status = await asyncio.to_thread(_status, api)
            read = 'print("entries:", len(list(table_entry["endpoint"].read())))'
            code, said = await _in_shell(status, read)
            assert (code, "entries: " in said) == (0, True), said
            stranger = pb.NodeStatus.FromString(status.SerializeToString())
            stranger.tls.ClearField("certificate")
            stranger.tls.ClearField("key")
            code, said = await _in_shell(stranger, 'print("entries")')
            assert code != 0, said
    files.controller.key.unlink()
    with pytest.raises(ShellError, match="cannot be read here"):
        shell_arguments(status)


def _status(api: str) -> pb.NodeStatus:
    with FcnClient(api) as client:
        return client.status().nodes[0]


async def _in_shell(status: pb.NodeStatus, line: str) -> tuple[int | None, str]:
    """Type a line; the exit code, and what was printed."""
    process = await asyncio.create_subprocess_exec(
        *(str(environment() / "bin" / "python"), *shell_arguments(status)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=os.environ | VARIABLES,
    )
    output, _ = await asyncio.wait_for(process.communicate(f"{line}\nexit\n".encode()), 120)
    return process.returncode, output.decode()
