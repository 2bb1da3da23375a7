"""fcn-softswitch behind a link named simple_switch_grpc."""

import asyncio
import sys
from pathlib import Path

import grpc
import pytest
from finsy.proto import p4r, p4r_grpc
from p4rt_command import command

SOFTSWITCH = Path(sys.executable).parent / "fcn-softswitch"


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
