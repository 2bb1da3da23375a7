"""Sender and receiver of fcn-roce over a veth pair, both under ASan and UBSan (FCN-14)."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from roce_testing import HostPair
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6

from fcn.hosts.roce.log import LogError, RoceLog, read_log
from fcn.hosts.roce.options import Dcqcn, QpPair, Receiver, Sender

SEND_SCRIPT = """
import socket, sys
to, datagram = sys.argv[1:]
family = socket.AF_INET6 if ":" in to else socket.AF_INET
raw = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW)
raw.sendto(bytes.fromhex(datagram), (to, 0))
"""
"""The kernel resolves the neighbour and keeps the datagram meanwhile; scapy would give up."""


def send_cnp(
    pair: HostPair, src: str, dst: str, qp: int, opcode: int = 0x81, damage: int = 0
) -> None:
    """Send a CNP from host b, built by scapy; `damage` is XORed to the last octet of the ICRC."""
    ip = IPv6(src=src, dst=dst) if ":" in dst else IP(src=src, dst=dst, flags="DF", id=1)
    udp = UDP(sport=0, dport=4791, chksum=None if ":" in dst else 0)
    whole = bytearray(bytes(ip / udp / BTH(opcode=opcode, dqpn=qp, becn=1, psn=0) / bytes(16)))
    whole[-1] ^= damage
    command = pair.command(pair.b, sys.executable, "-c", SEND_SCRIPT, dst, whole.hex())
    subprocess.run(command, check=True)


@contextmanager
def running(command: list[str]) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        errors = process.stderr.read()
        assert process.wait(timeout=120) == 0, errors


def wait_for(path: Path, text: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not (path.exists() and text in path.read_text()):
        assert time.monotonic() < deadline, f"{path} does not contain {text!r}"
        time.sleep(0.01)


def wait_until_sent(log: Path, seconds: float = 60) -> None:
    """Wait until the sender has sent a packet from now on. What it logs next may be from before."""

    def intervals() -> int:
        whole = log.read_text().rpartition("\n")[0].splitlines()
        events = map(json.loads, whole)
        return sum(event["event"] == "rate" and event["packets"] > 0 for event in events)

    before, deadline = intervals(), time.monotonic() + seconds
    while intervals() < before + 3:
        assert time.monotonic() < deadline, f"{log}: nothing is sent"
        time.sleep(0.01)


def run_pair(
    pair: HostPair, program: Path, receiver: Receiver, sender: Sender
) -> tuple[RoceLog, RoceLog]:
    with running(pair.command(pair.b, str(program), *receiver.arguments())):
        wait_for(receiver.log, '"start"')
        with running(pair.command(pair.a, str(program), *sender.arguments())) as process:
            process.wait(timeout=120)
    return read_log(sender.log), read_log(receiver.log)


@pytest.mark.parametrize("version", [4, 6])
def test_connect_send_disconnect(
    host_pair: HostPair, roce_program: Path, tmp_path: Path, version: int
) -> None:
    a, b = HostPair.ADDRESSES[version]
    sent, received = run_pair(
        host_pair,
        roce_program,
        Receiver(local=b, log=tmp_path / "b.jsonl", first_qp=0x200),
        Sender(
            local=a, remote=b, log=tmp_path / "a.jsonl", qps=3, duration_ms=400,
            dcqcn=Dcqcn(rate_bps=4e6),
        ),
    )  # fmt: skip
    assert {event["remote_qp"] for event in sent.named("connected")} == {0x200, 0x201, 0x202}
    by_qp = {event["qp"]: event for event in received.named("qp_summary")}
    for qp in sent.named("qp_summary"):
        peer = by_qp[qp["remote_qp"]]
        assert peer["remote_qp"] == qp["qp"]
        assert peer["packets"] == qp["packets"] > 0
        assert peer["octets"] == qp["octets"]
        assert (peer["lost"], peer["late"], peer["ce"], peer["cnps"]) == (0, 0, 0, 0)
        # The last one may come after the DREQ.
        assert 0 <= qp["packets"] // 16 - qp["acks"] <= 1
        assert peer["taken"] == peer["packets"]
        assert (qp["retransmitted"], qp["naks"], qp["timeouts"]) == (0, 0, 0)
        # No lower bound: under load the sender loses sending time, which it does not make up for.
        assert qp["octets"] * 8 / 0.4 <= 4e6 * 1.1
    summary = received.one("summary")
    for problem in ("bad_length", "bad_checksum", "bad_icrc", "unknown_qp", "socket_lost"):
        assert summary[problem] == 0, problem
    messages = [(e["direction"], e["message"]) for e in sent.named("cm") if e["qp"] == 0x11]
    assert list(dict.fromkeys(messages))[1:] == [
        ("received", "REP"), ("sent", "RTU"), ("sent", "DREQ"), ("received", "DREP"),
    ]  # fmt: skip


def test_ce_is_answered_with_cnps_and_slows_the_sender(
    host_pair: HostPair, roce_program: Path, tmp_path: Path
) -> None:
    """Every packet is sent with CE, as behind a congested node; the CNPs slow the sender."""
    a, b = HostPair.ADDRESSES[4]
    sent, received = run_pair(
        host_pair,
        roce_program,
        Receiver(local=b, log=tmp_path / "b.jsonl", cnp_interval_us=20_000),
        Sender(
            local=a, remote=b, log=tmp_path / "a.jsonl", duration_ms=1500, ecn="ce",
            dcqcn=Dcqcn(rate_bps=4e6, min_rate_bps=2e5, increase_us=10_000_000),
        ),
    )  # fmt: skip
    totals = next(received.named("qp_summary"))
    assert totals["ce"] == totals["packets"] > 0
    assert totals["cnps"] >= 2
    assert next(sent.named("qp_summary"))["cnps"] == totals["cnps"]
    cnps = list(sent.named("cnp"))
    assert cnps[0]["rate_before_bps"] == 4e6
    assert cnps[0]["rate_bps"] == 2e6
    assert all(event["src"] == b for event in cnps)
    times = [event.time_ns for event in received.named("cnp_sent")]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) >= 20_000_000
    slow = [event["rate_bps"] for event in sent.named("rate")][-1]
    assert slow < 2e6


@pytest.mark.parametrize("version", [4, 6])
def test_only_a_valid_cnp_for_an_own_qp_cuts_the_rate(
    host_pair: HostPair, roce_program: Path, tmp_path: Path, version: int
) -> None:
    a, b = HostPair.ADDRESSES[version]
    log = tmp_path / "a.jsonl"
    sender = Sender(
        local=a, remote=b, log=log, duration_ms=3_600_000, pairs=(QpPair(0x118, 0x200),),
        dcqcn=Dcqcn(rate_bps=1e5, min_rate_bps=1e4, increase_us=10_000_000),
    )  # fmt: skip

    def cnp(qp: int, opcode: int = 0x81, damage: int = 0) -> None:
        send_cnp(host_pair, b, a, qp, opcode, damage)

    with running(host_pair.command(host_pair.a, str(roce_program), *sender.arguments())):
        wait_for(log, '"rate"')
        cnp(0x118, damage=1)
        cnp(0x119)
        cnp(0x118, opcode=0x0A)
        cnp(0x118)
        wait_for(log, '"cnp"')
    sent = read_log(log)
    assert sent.one("cnp")["rate_bps"] == 5e4
    assert sent.one("cnp_rejected")["qp"] == 0x119
    summary = sent.one("summary")
    damaged = summary["bad_icrc"] + summary["bad_checksum"]
    assert (damaged, summary["unknown_qp"]) == (1, 2)


def test_cnps_before_the_start_are_taken(
    host_pair: HostPair, roce_program: Path, tmp_path: Path
) -> None:
    a, b = HostPair.ADDRESSES[4]
    log = tmp_path / "a.jsonl"
    sender = Sender(
        local=a, remote=b, log=log, pairs=(QpPair(0x118, 0x200),),
        start_at_ns=time.monotonic_ns() + 3_600 * 10**9,
    )  # fmt: skip
    with running(host_pair.command(host_pair.a, str(roce_program), *sender.arguments())):
        wait_for(log, '"start"')
        send_cnp(host_pair, b, a, 0x118)
        send_cnp(host_pair, b, a, 0x118)
    sent = read_log(log)
    assert len(list(sent.named("cnp"))) == 2
    assert next(sent.named("qp_summary"))["packets"] == 0


def test_what_was_lost_is_sent_again(
    host_pair: HostPair, roce_program: Path, tmp_path: Path
) -> None:
    """A tbf with a small buffer drops; go-back-N brings all packets, in their order. It sends until
    packets were lost and sent again, however long the machine takes for that; the tbf is so slow
    that a sender that seldom runs is still too fast."""
    a, b = HostPair.ADDRESSES[4]
    device = f"{host_pair.a[:-1]}x"

    def tc(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = host_pair.command(host_pair.a, "tc", "qdisc", *arguments)
        return subprocess.run(command, capture_output=True, text=True, check=False)

    shape = ("rate", "100kbit", "burst", "3000", "limit", "6000")
    shaped = tc("add", "dev", device, "root", "tbf", *shape)
    if shaped.returncode != 0:
        pytest.skip(f"this kernel has no tbf: {shaped.stderr.strip()}")
    receiver = Receiver(local=b, log=tmp_path / "b.jsonl")
    sender = Sender(
        local=a, remote=b, log=tmp_path / "a.jsonl", duration_ms=3_600_000,
        dcqcn=Dcqcn(rate_bps=8e6), timeout_ms=200,
    )  # fmt: skip
    with running(host_pair.command(host_pair.b, str(roce_program), *receiver.arguments())):
        wait_for(receiver.log, '"start"')
        with running(host_pair.command(host_pair.a, str(roce_program), *sender.arguments())):
            wait_for(receiver.log, '"loss"')
            wait_for(sender.log, '"nak"')
            wait_for(sender.log, '"retransmission"')
    sent, received = read_log(sender.log), read_log(receiver.log)
    totals = next(received.named("qp_summary"))
    transmitted = next(sent.named("qp_summary"))
    assert totals["lost"] == received.total("loss", "packets") > 0
    assert 0 < len(list(sent.named("nak"))) <= totals["naks"]
    assert transmitted["retransmitted"] > 0
    first = transmitted["packets"] - transmitted["retransmitted"]
    assert 0 < totals["taken"] <= first, "each packet is taken once"
    assert totals["packets"] - totals["taken"] >= totals["late"]


def test_sender_without_a_receiver_fails_and_says_why(
    host_pair: HostPair, roce_program: Path, tmp_path: Path
) -> None:
    a, b = HostPair.ADDRESSES[4]
    sender = Sender(local=a, remote=b, log=tmp_path / "a.jsonl")
    command = host_pair.command(
        host_pair.a, str(roce_program), *sender.arguments(),
        "--cm-timeout-ms", "10", "--cm-retries", "3",
    )  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "no answer to 3 CM requests" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["listen"], "send or recv"),
        (["send", "--local", "10.0.0.1"], "--remote is missing"),
        (["send", "--local", "10.0.0.1", "--remote", "::1"], "other IP version"),
        (["recv"], "--local is missing"),
        (["recv", "--local", "10.0.0"], "--local"),
        (["recv", "--local", "10.0.0.1", "--qp", "17"], "--qp"),
        (["send", "--local", "::1", "--remote", "::2", "--mtu", "1023"], "--mtu"),
        (["send", "--local", "::1", "--remote", "::2", "--rate-bps", "nan"], "--rate-bps"),
        (["recv", "--local", "::1", "--cnp-interval-us", "-1"], "--cnp-interval-us"),
        (["recv", "--local", "::1", "extra"], "too many"),
    ],
)
def test_wrong_arguments_are_refused(roce_program: Path, arguments: list[str], reason: str) -> None:
    done = subprocess.run([roce_program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert reason in done.stderr


def test_incomplete_logs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_text('{"time_ns":1,"event":"start"}\n')
    with pytest.raises(LogError, match="incomplete"):
        read_log(path)
    path.write_text("{\n")
    with pytest.raises(LogError, match=":1: not a line"):
        read_log(path)


def test_options_reach_the_program_by_their_names() -> None:
    receiver = Receiver(local="::1", log=Path("x"), pairs=(QpPair(2, 3), QpPair(4, 5)))
    assert receiver.arguments()[-4:] == ["--qp", "2:3", "--qp", "4:5"]


def test_every_round_begins_with_reaction_points_as_new(
    host_pair: HostPair, roce_program: Path, tmp_path: Path
) -> None:
    """Every packet is sent with CE: rates fall in each round, and none begins in what it was."""
    a, b = HostPair.ADDRESSES[4]
    line = 4e6
    sent, received = run_pair(
        host_pair,
        roce_program,
        Receiver(local=b, log=tmp_path / "b.jsonl", cnp_interval_us=20_000),
        Sender(
            local=a, remote=b, log=tmp_path / "a.jsonl", qps=2, message_packets=1, ecn="ce",
            duration_ms=1600, round_ms=500, sending_ms=300, reset_ms=100,
            dcqcn=Dcqcn(rate_bps=line, increase_us=10_000_000),
        ),
    )  # fmt: skip
    start = sent.one("sending").time_ns
    resets = [event.time_ns for event in sent.named("reset")]
    rounds = [int(each - start) // 500_000_000 for each in resets]
    assert rounds == [0, 1, 2]
    for at in resets:
        states = [e for e in sent.named("rate") if e.time_ns == at]
        assert [(e["rate_bps"], e["alpha"]) for e in states[-2:]] == [(line, 1.0)] * 2
        first = next(e for e in sent.named("cnp") if e.time_ns >= at)
        assert first["cut"]
        assert (first["rate_before_bps"], first["rate_bps"]) == (line, line / 2)
    # Of each queue pair, a message that began before the end of a round's sending time may leave
    # after it, however late. At the least rate it would be one each 80 ms.
    silent = defaultdict[tuple[int, int], list[int]](list)
    for event in sent.named("rate"):
        number, at = divmod(int(event.time_ns - start), 500_000_000)
        if 300_000_000 < at < 480_000_000:
            silent[number, event["qp"]].append(event["packets"])
    assert silent
    # The first of these tells of the time before, too.
    assert max(sum(packets[1:]) for packets in silent.values()) <= 1
    assert received.total("qp_summary", "packets") == sent.total("qp_summary", "packets") > 0


@pytest.mark.parametrize(("sending", "reset"), [(0, 0), (101, 0), (50, 100)])
def test_rounds_that_cannot_be_are_refused(
    roce_program: Path, tmp_path: Path, sending: int, reset: int
) -> None:
    sender = Sender(
        local="10.0.0.1", remote="10.0.0.2", log=tmp_path / "a.jsonl",
        round_ms=100, sending_ms=sending, reset_ms=reset,
    )  # fmt: skip
    done = subprocess.run(
        [str(roce_program), *sender.arguments()], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "-ms is" in done.stderr


def test_the_command_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fcn.hosts.roce"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "fcn-roce send --local ADDR" in done.stderr


def test_the_command_without_a_compiler(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fcn.hosts.roce", "recv"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "CC": "no-such-compiler"},
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("fcn-roce: no C compiler 'no-such-compiler': install gcc")
