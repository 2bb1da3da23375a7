"""`fcn capture` against a switch process in a network namespace of its own."""

import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import grpc
import pytest
from scapy.layers.inet import UDP
from scapy.utils import rdpcap
from typer.testing import CliRunner

from fcn.contract.rpc import handler_of
from fcn.controller.cli.capture import CaptureError, running_switch
from fcn.controller.cli.commands import app
from fcn.controller.proto import fcn_pb2 as pb
from fcn.packets.fast_cnp import FAST_CNP_PORT, FastCnp
from fcn.ptf_tests.lib.packets import ethernet, fast_cnp, udp

PORT, INTERFACE, FAR = 7, "fcncap0", "fcncap1"
ADDRESS = f"127.0.0.1:{20000 + os.getpid() % 20000}"
"""Unique, because the search for the switch covers the processes of all namespaces."""
PATIENCE = 120.0
"""Seconds for a program to start or end; only a failure takes that long."""
MAC_A, MAC_B = "02:00:00:00:00:01", "02:00:00:00:00:02"
NO_API = "127.0.0.1:1"
LABELS = range(0x80000, 0x80005)
SEND = """
import socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind((sys.argv[1], 0))
for line in sys.stdin:
    link.send(bytes.fromhex(line))
"""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
needs_tcpdump = pytest.mark.skipif(
    shutil.which("tcpdump") is None, reason="tcpdump is not installed (Debian package tcpdump)"
)
needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed (Debian package tshark)"
)


class _Status:
    """A controller with one switch."""

    def GetStatus(  # noqa: N802 (gRPC's name)
        self, request: pb.GetStatusRequest, context: grpc.ServicerContext
    ) -> pb.GetStatusResponse:
        return pb.GetStatusResponse(nodes=[pb.NodeStatus(name="pe1", role="pe", grpc=ADDRESS)])


@pytest.fixture
def api(tmp_path: Path) -> Iterator[str]:
    """Endpoint of that controller: a path, which is reachable from every network namespace."""
    server = grpc.server(ThreadPoolExecutor(1))
    service = pb.DESCRIPTOR.services_by_name["Fcn"]
    server.add_generic_rpc_handlers((handler_of(service, _Status()),))
    endpoint = f"unix:{tmp_path}/api"
    server.add_insecure_port(endpoint)
    server.start()
    yield endpoint
    server.stop(None).wait()


@contextmanager
def _namespace() -> Iterator[str]:
    name = f"fcncap{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        for command in (
            ["link", "set", "lo", "up"],
            ["link", "add", INTERFACE, "type", "veth", "peer", "name", FAR],
            ["link", "set", INTERFACE, "up"],
            ["link", "set", FAR, "up"],
        ):
            subprocess.run(["ip", "-n", name, *command], check=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


@pytest.fixture(scope="module")
def switch() -> Iterator[str]:
    """The network namespace a fcn-softswitch runs in."""
    with _namespace() as namespace:
        command = [sys.executable, "-m", "fcn.softswitch", "--no-p4", "-i", f"{PORT}@{INTERFACE}"]
        command += ["--", "--grpc-server-addr", ADDRESS]
        with subprocess.Popen(
            ["ip", "netns", "exec", namespace, *command], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            try:
                ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
                assert ready, "the switch does not start"
                assert ADDRESS in process.stdout.readline()
                yield namespace
            finally:
                process.terminate()


def _wait_until_capturing(process: "subprocess.Popen[str]") -> None:
    """Wait until the kernel delivers packets to it; tshark reports "Capturing" too early."""
    deadline = time.monotonic() + PATIENCE
    while not _captures(process.pid):
        assert process.poll() is None, "fcn capture ended early"
        assert time.monotonic() < deadline, "nothing captures"
        time.sleep(0.01)


def _captures(pid: int) -> bool:
    """Whether the process or a child of it has a packet socket that is bound and running.

    /proc/PID/net/packet: sk, RefCnt, Type, Proto, Iface (0: not bound), R (running), Rmem, User,
    Inode.
    """
    proc = Path("/proc")
    rows = [row.split() for row in (proc / f"{pid}/net/packet").read_text().splitlines()[1:]]
    running = {f"socket:[{row[8]}]" for row in rows if row[4] != "0" and row[5] == "1"}
    family = [pid]
    for parent in family:
        # A child can end, and a descriptor be closed, during the search.
        with suppress(FileNotFoundError):
            family += map(int, (proc / f"{parent}/task/{parent}/children").read_text().split())
            for descriptor in (proc / f"{parent}/fd").iterdir():
                with suppress(FileNotFoundError):
                    if os.readlink(descriptor) in running:
                        return True
    return False


@contextmanager
def _capture(api: str, *arguments: str | Path) -> Iterator["subprocess.Popen[str]"]:
    """`fcn capture`, started and capturing."""
    command = [sys.executable, "-m", "fcn.controller.cli.main", "capture", "pe1", str(PORT)]
    with subprocess.Popen(
        [*command, "--api", api, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if "listening on" in line or "Capturing on" in line:
                    break
            _wait_until_capturing(process)
            yield process
        finally:
            process.kill()


def _send(namespace: str) -> None:
    """Send Fast CNPs with LABELS to the port, each after a packet of another protocol."""
    src, dst = "2001:db8::2", "2001:db8::1"
    datagrams = [
        datagram
        for label in LABELS
        for datagram in (udp(src, dst, 7, 9), fast_cnp(src, dst, label, 3))
    ]
    frames = [ethernet(each, src=MAC_A, dst=MAC_B) for each in datagrams]
    lines = "\n".join(frame.hex() for frame in frames)
    command = ["ip", "netns", "exec", namespace, sys.executable, "-c", SEND, FAR]
    subprocess.run(command, input=lines, text=True, check=True)


@needs_root
@needs_tcpdump
def test_writes_a_pcap_of_the_filtered_packets(api: str, switch: str, tmp_path: Path) -> None:
    file = tmp_path / "out.pcap"
    expression = f"udp dst port {FAST_CNP_PORT}"
    with _capture(api, "-w", file, "-c", str(len(LABELS)), "--filter", expression) as process:
        _send(switch)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    found = rdpcap(str(file))
    assert [packet[FastCnp].label for packet in found] == list(LABELS)
    assert {packet[UDP].dport for packet in found} == {FAST_CNP_PORT}


@needs_root
@needs_tcpdump
@needs_tshark
def test_shows_packets_by_name(api: str, switch: str) -> None:
    with _capture(api, "-c", "2", "--filter", f"udp port {FAST_CNP_PORT}") as process:
        _send(switch)
        output, _ = process.communicate(timeout=PATIENCE)
    assert [line.partition("FastCNP")[2].split(": ", 1)[1] for line in output.splitlines()] == [
        f"flow label {label:#x}, level 3" for label in LABELS[:2]
    ]


@needs_root
def test_an_unknown_port_is_refused_with_those_there_are(api: str, switch: str) -> None:
    done = CliRunner().invoke(app, ["capture", "pe1", "3", "--api", api])
    assert done.exit_code == 1
    assert f"pe1 has no port 3; its ports are: {PORT} ({INTERFACE})" in done.stderr


@needs_root
@needs_tcpdump
def test_a_file_that_cannot_be_written_is_refused(api: str, switch: str, tmp_path: Path) -> None:
    file = str(tmp_path / "missing" / "out.pcap")
    done = CliRunner().invoke(app, ["capture", "pe1", str(PORT), "-w", file, "--api", api])
    assert done.exit_code == 1
    assert "cannot write" in done.stderr
    assert "No such file" in done.stderr


def test_an_unknown_node_is_refused(api: str) -> None:
    done = CliRunner().invoke(app, ["capture", "pe9", "1", "--api", api])
    assert done.exit_code == 1
    assert "there is no node 'pe9'; the nodes are: pe1" in done.stderr


def _process(proc: Path, pid: int, command: str) -> None:
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "cmdline").write_bytes(command.replace(" ", "\0").encode() + b"\0")


def test_both_kinds_of_switch_are_found_by_their_address(tmp_path: Path) -> None:
    _process(tmp_path, 5, "bash -c -i")
    _process(tmp_path, 6, "simple_switch_grpc --no-p4 -i 1@a --interface 2@b --thrift-port 9 -- "
             "--cpu-port 510 --grpc-server-addr 0.0.0.0:6001")  # fmt: skip
    _process(tmp_path, 7, "simple_switch_grpc -i 1@c -- --grpc-server-addr 127.0.0.1:16001")
    _process(tmp_path, 8, "python -m fcn.softswitch -i1@d -- --grpc-server-addr=127.0.0.1:6003")
    (tmp_path / "9").mkdir()
    (tmp_path / "net").mkdir()
    assert running_switch("127.0.0.1:6001", NO_API, tmp_path).interfaces == {1: "a", 2: "b"}
    assert running_switch("127.0.0.1:6003", NO_API, tmp_path).interfaces == {1: "d"}
    with pytest.raises(CaptureError, match=r"no switch of this machine serves 127\.0\.0\.1:6004"):
        running_switch("127.0.0.1:6004", NO_API, tmp_path)


def test_of_switches_with_one_address_the_controllers_own_is_taken(
    api: str, tmp_path: Path
) -> None:
    """Two networks at once: the controller listens on a Unix socket, here this process."""
    for pid, interface, namespace in (
        (5, "a", "net:[1]"),
        (6, "b", "net:[2]"),
        (7, "c", "net:[1]"),
    ):
        _process(tmp_path, pid, f"simple_switch_grpc -i 1@{interface} -- --grpc-server-addr :6001")
        _in_namespace(tmp_path, pid, namespace)
    _in_namespace(tmp_path, os.getpid(), "net:[2]")
    assert running_switch("127.0.0.1:6001", api, tmp_path).interfaces == {1: "b"}


def _in_namespace(proc: Path, pid: int, namespace: str) -> None:
    (proc / str(pid) / "ns").mkdir(parents=True)
    (proc / str(pid) / "ns" / "net").symlink_to(namespace)
