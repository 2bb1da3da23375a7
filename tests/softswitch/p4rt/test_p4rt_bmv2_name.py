"""fcn-softswitch behind a link named simple_switch_grpc."""

import asyncio
import os
import socket
import sys
from pathlib import Path

import grpc
import pytest
from finsy.proto import p4r, p4r_grpc
from p4rt_command import Cable, command, failure
from scapy.utils import RawPcapReader

SOFTSWITCH = Path(sys.executable).parent / "fcn-softswitch"
WIRE = Path(__file__).parent.parent / "p4" / "match.json"
"""Sends every packet to port 2."""
FRAME = bytes.fromhex("02000000000102000000000288b6") + bytes(46)
TAGGED = FRAME[:12] + bytes.fromhex("81000005") + FRAME[12:]
ETH_P_ALL = 3
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="interfaces need root")


@pytest.fixture
def link(tmp_path: Path) -> Path:
    link = tmp_path / "simple_switch_grpc"
    link.symlink_to(SOFTSWITCH)
    return link


async def test_it_listens_everywhere_when_told_to_and_says_so(link: Path, tmp_path: Path) -> None:
    log = tmp_path / "s1.log"
    everywhere = ("--no-p4", "--log-file", str(log), "--", "--grpc-server-addr", "0.0.0.0:0")
    with command(*everywhere, run=[str(link)]) as switch:
        port = switch.address.rpartition(":")[2]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            reply = await p4r_grpc.P4RuntimeStub(channel).Capabilities(p4r.CapabilitiesRequest())
            assert reply.p4runtime_api_version == "1.4.0"
        written = await asyncio.to_thread(Path(f"{log}.txt").read_text)
        assert "WARNING softswitch 0.0.0.0:0 can be reached from other machines" in written
        assert not log.exists()


def test_the_console_is_stdout(link: Path) -> None:
    quiet = ("--no-p4", "--log-console", "--thrift-port", "9090")
    with command(*quiet, "--", "--grpc-server-addr", "127.0.0.1:0", run=[str(link)]) as switch:
        assert "--thrift-port is ignored: there is no Thrift server" in switch.line


def _frames(file: Path) -> list[bytes]:
    with RawPcapReader(str(file)) as reader:
        assert reader.linktype == 1
        return [frame for frame, _ in reader]


@needs_root
def test_pcap_fills_two_files_an_interface(
    link: Path, tmp_path: Path, cables: tuple[Cable, Cable]
) -> None:
    """As simple_switch_grpc does, and as nobody, in a folder of root's."""
    one, two = cables
    ports = ("-i", f"1@{one.switch}", "-i", f"2@{two.switch}")
    target = ("--", "--grpc-server-addr", "127.0.0.1:0")
    with (
        command(*ports, f"--pcap={tmp_path}", str(WIRE), *target, run=[str(link)]) as switch,
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as tester,
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender,
    ):
        assert switch.line
        tester.bind((two.tester, ETH_P_ALL))
        tester.settimeout(60)
        sender.bind((one.tester, 0))
        for frame in (FRAME, TAGGED):
            sender.send(frame)
            assert len(tester.recv(2048)) >= len(FRAME)
        assert _frames(tmp_path / f"{one.switch}_in.pcap") == [FRAME, TAGGED]
        assert _frames(tmp_path / f"{two.switch}_out.pcap") == [FRAME, TAGGED]
        assert _frames(tmp_path / f"{one.switch}_out.pcap") == []
        assert _frames(tmp_path / f"{two.switch}_in.pcap") == []


@needs_root
def test_pcap_files_that_cannot_be_written(tmp_path: Path, cables: tuple[Cable, Cable]) -> None:
    arguments = ("--no-p4", "-i", f"1@{cables[0].switch}", "--pcap")
    target = ("--", "--grpc-server-addr", "127.0.0.1:0")
    nowhere = failure(*arguments, str(tmp_path / "none"), *target)
    assert f"--pcap: {tmp_path}/none is no folder" in nowhere
    other = tmp_path / "other"
    other.write_text("kept")
    (tmp_path / f"{cables[0].switch}_in.pcap").symlink_to(other)
    assert "it is a link" in failure(*arguments, str(tmp_path), *target)
    assert other.read_text() == "kept"
