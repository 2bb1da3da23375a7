"""fcn-softswitch as a process, on veth pairs."""

import hashlib
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import finsy as fy
import grpc
import pytest
from finsy.proto import p4r, p4r_grpc
from p4rt_command import Cable, command, failure, ip, refusal
from p4rt_testing import P4BLOB, P4INFO, Session, config, insert
from traffic_manager import manager_at, ports_of

from fcn.contract.proto import trafficmanager_pb2 as tm

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="interfaces need root")

Get = p4r.GetForwardingPipelineConfigRequest
WIRE = Path(__file__).parent.parent / "p4" / "match.json"
"""Sends every packet to port 2."""
HOST_MAC = "02:00:00:00:00:01"
FRAME = bytes.fromhex("02000000000102000000000288b6") + bytes(46)
ETH_P_ALL = 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_forwards_and_stops_cleanly(
    cables: tuple[Cable, Cable], number: signal.Signals
) -> None:
    one, two = cables
    arguments = ["--device-id", "1", "-i", f"1@{one.switch}", "-i", f"2@{two.switch}"]
    target = ["--", "--grpc-server-addr", "127.0.0.1:0", "--cpu-port", "510"]
    with (
        command(*arguments, "--queue", "2:depth=9,delay=3ms", "--no-p4", *target) as switch,
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as tester,
    ):
        assert f"1@{one.switch} 2@{two.switch}" in switch.line
        tester.bind((two.tester, ETH_P_ALL))
        tester.settimeout(60)
        options = fy.SwitchOptions(p4info=P4INFO, p4blob=P4BLOB, device_id=1)
        async with fy.Switch("sw", switch.address, options) as controller:
            await controller.insert(
                [
                    fy.P4TableEntry(
                        "host",
                        match=fy.P4TableMatch(dst=HOST_MAC),
                        action=fy.P4TableAction("send", port=2),
                    )
                ]
            )
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
                sender.bind((one.tester, 0))
                sender.send(FRAME)
            assert tester.recv(2048) == FRAME
            found: Any = controller.read([fy.P4CounterEntry("port_rx", index=1)])
            counts = [entry.packet_count async for entry in found]
            assert counts == [1]
            async with grpc.aio.insecure_channel(switch.address) as channel:
                manager = manager_at(channel)
                ports = await ports_of(manager)
                assert ports[2].queue.depth == 9
                assert ports[2].queue.delay_ns == 3_000_000
                assert ports[1].counters.rx_packets == 1
                assert ports[2].counters.tx_packets == 1
                assert ports[1].up
                ip("link", "set", one.tester, "down")
                async for _ in manager.WatchQueues(tm.WatchQueuesRequest()):
                    if not (await ports_of(manager, 1))[1].up:
                        break
        switch.process.send_signal(number)
        assert switch.process.wait(timeout=60) == 0


def test_program_is_loaded_at_start(cables: tuple[Cable, Cable]) -> None:
    one, _ = cables
    with command(
        "-i", f"1@{one.switch}", str(P4BLOB), "--", "--grpc-server-addr", "127.0.0.1:0"
    ) as s:
        assert "device 0 listens for P4Runtime on 127.0.0.1:" in s.line
        assert str(P4BLOB) in s.line
        assert "cannot listen" in refusal("--no-p4", "--", "--grpc-server-addr", s.address)


async def _answer_to_a_write(address: str) -> tuple[grpc.StatusCode, str | None]:
    async with (
        grpc.aio.insecure_channel(address) as channel,
        Session(p4r_grpc.P4RuntimeStub(channel)) as session,
    ):
        await session.arbitrate()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await session.write(insert(p4r.TableEntry(table_id=1)))
        assert not (await session.get_config(Get.ALL)).HasField("config")
        await session.set_config(config())
        return refused.value.code(), refused.value.details()


async def test_without_a_p4info_the_program_runs_and_a_controller_sends_one(
    cables: tuple[Cable, Cable], tmp_path: Path
) -> None:
    one, two = cables
    program = tmp_path / "wire.json"
    program.write_bytes(WIRE.read_bytes())
    ports = ("-i", f"1@{one.switch}", "-i", f"2@{two.switch}")
    target = ("--", "--grpc-server-addr", "127.0.0.1:0")
    with (
        command("--device-id", "1", *ports, str(program), *target) as switch,
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as tester,
    ):
        tester.bind((two.tester, ETH_P_ALL))
        tester.settimeout(60)
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
            sender.bind((one.tester, 0))
            sender.send(FRAME)
        assert tester.recv(2048) == FRAME
        code, why = await _answer_to_a_write(switch.address)
        assert code == grpc.StatusCode.FAILED_PRECONDITION
        assert why == "No forwarding pipeline config set for this device"


def test_what_packets_passed_is_written_at_the_end(tmp_path: Path) -> None:
    file = tmp_path / "coverage"
    address = ("--", "--grpc-server-addr", "127.0.0.1:0")
    with command("--coverage", str(file), str(P4BLOB), *address) as s:
        s.process.send_signal(signal.SIGTERM)
        assert s.process.wait(timeout=60) == 0
    assert json.loads(file.read_text()) == {hashlib.sha256(P4BLOB.read_bytes()).hexdigest(): []}
    assert "cannot write" in refusal("--coverage", str(tmp_path), "--no-p4", *address)


@pytest.mark.parametrize("suffix", [".p4info.txtpb", ".p4.p4info.txtpb"])
async def test_p4info_beside_the_program(tmp_path: Path, suffix: str) -> None:
    program = tmp_path / "program.json"
    program.write_bytes(P4BLOB.read_bytes())
    program.with_suffix(suffix).write_text(P4INFO.read_text())
    with command("--device-id", "1", str(program), "--", "--grpc-server-addr", "127.0.0.1:0") as s:
        async with (
            grpc.aio.insecure_channel(s.address) as channel,
            Session(p4r_grpc.P4RuntimeStub(channel)) as session,
        ):
            assert (await session.get_config(Get.ALL)).config.p4info == config().p4info


CLOSED = """
import sys
from fcn.softswitch import privileges

class Closed:
    def find_spec(self, name, path=None, target=None):
        raise ModuleNotFoundError(f"{name}: its folder is closed", name=name)

def drop_and_close(user, drop=privileges.drop_privileges):
    drop(user)
    sys.meta_path[:] = [Closed()]

privileges.drop_privileges = drop_and_close
from fcn.softswitch.__main__ import main
main()
"""
"""The switch, of a Python that nobody but root may read."""


async def test_a_python_of_root_alone_takes_programs(cables: tuple[Cable, Cable]) -> None:
    """Nothing is imported any more after root was given up."""
    arguments = ["--device-id", "1", "-i", f"1@{cables[0].switch}", "--no-p4"]
    target = ["--", "--grpc-server-addr", "127.0.0.1:0", "--cpu-port", "510"]
    with command(*arguments, *target, run=(sys.executable, "-c", CLOSED)) as switch:
        options = fy.SwitchOptions(p4info=P4INFO, p4blob=P4BLOB, device_id=1)
        async with fy.Switch("sw", switch.address, options) as controller:
            entry = fy.P4TableEntry(
                "host", match=fy.P4TableMatch(dst=HOST_MAC), action=fy.P4TableAction("send", port=1)
            )
            await controller.insert([entry])


async def test_the_log_says_why_a_program_was_refused(cables: tuple[Cable, Cable]) -> None:
    arguments = ["--device-id", "1", "-i", f"1@{cables[0].switch}", "--no-p4"]
    target = ["--", "--grpc-server-addr", "127.0.0.1:0"]
    with command(*arguments, *target, env={"CC": "/no/compiler"}) as switch:
        async with (
            grpc.aio.insecure_channel(switch.address) as channel,
            Session(p4r_grpc.P4RuntimeStub(channel)) as session,
        ):
            await session.arbitrate()
            with pytest.raises(grpc.RpcError, match="no C compiler: install gcc"):
                await session.set_config(config())
        switch.process.terminate()
        _, log = switch.process.communicate(timeout=60)
    (said,) = [line for line in log.splitlines() if "refused" in line]
    assert "a program was refused: no C compiler: install gcc, or set CC" in said


def test_a_full_disk_is_said_once_and_the_switch_goes_on(tmp_path: Path) -> None:
    (tmp_path / "log.txt").symlink_to("/dev/full")
    log = ("-L", "debug", "--log-file", str(tmp_path / "log"))
    with command("--no-p4", *log, "--", "--grpc-server-addr", f"unix:{tmp_path}/s") as switch:
        assert switch.address == f"unix:{tmp_path}/s"
        switch.process.terminate()
        _, errors = switch.process.communicate(timeout=60)
    assert errors == (
        f"fcn-softswitch: cannot write the log {tmp_path}/log.txt: No space left on device; until "
        "there is room its records are lost\n"
    )
    assert switch.process.returncode == 0


def test_reasons_for_not_starting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    anywhere = ("--", "--grpc-server-addr", "127.0.0.1:0")
    assert "`ip link add nosuch0" in refusal("--no-p4", "-i", "1@nosuch0", *anywhere)
    assert "cannot read the program" in refusal(str(tmp_path / "none.json"), *anywhere)
    program = tmp_path / "program.json"
    program.write_bytes(P4BLOB.read_bytes())
    nowhere = ("--p4info", str(tmp_path / "none.txtpb"))
    assert "--p4info FILE" in refusal(str(program), *nowhere, *anywhere)
    info = tmp_path / "program.p4info.txtpb"
    info.write_text("tables { nonsense: 3 }")
    assert "not a P4Info" in refusal(str(program), *anywhere)
    info.write_bytes(b"\xff\xfe")
    assert "not a P4Info" in refusal(str(program), *anywhere)
    info.write_text(P4INFO.read_text())
    monkeypatch.setenv("XDG_CACHE_HOME", str(program))
    assert f"cannot keep the built program in {program}" in refusal(str(program), *anywhere)
    log = failure("--no-p4", "--log-file", str(tmp_path / "none" / "log"), *anywhere)
    assert f"cannot write the log {tmp_path}/none/log.txt: No such file or directory" in log
    for name, value in (("CC", ""), ("PATH", str(tmp_path)), ("XDG_CACHE_HOME", str(tmp_path))):
        monkeypatch.setenv(name, value)
    assert "apt-get install gcc" in refusal(str(program), *anywhere)
    program.write_text("{")
    assert "is not JSON" in refusal(str(program), "--p4info", str(P4INFO), *anywhere)
