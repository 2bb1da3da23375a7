"""PAUSE frames by priority (IEEE 802.1Qbb) that fcn-roce heeds, under ASan and UBSan (SRF-8)."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from roce_testing import Driver, HostPair
from test_roce_hosts import running, wait_for, wait_until_sent

from fcn.hosts.roce.log import Event, RoceLog, read_log
from fcn.hosts.roce.options import Dcqcn, QpPair, Sender

OURS, OTHER = 3, 4
"""The priority of DSCP 26, fcn-roce's, and another."""
SLOW, FAST = 1_000_000, 10**12
"""Rates of a link, bit/s: the longest PAUSE lasts 33.6 s there, or 34 µs."""
LONGEST = 0xFFFF

SEND_SCRIPT = """
import socket, sys
device, *frames = sys.argv[1:]
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
    raw.bind((device, 0))
    for frame in frames:
        raw.send(bytes.fromhex(frame))
"""


def pause(quanta: dict[int, int], *, opcode: int = 0x0101, to: str = "0180c2000001") -> bytes:
    """A frame of 60 octets with these quanta by priority."""
    vector = sum(1 << priority for priority in quanta)
    times = b"".join(quanta.get(i, 0).to_bytes(2, "big") for i in range(8))
    head = bytes.fromhex(to) + bytes.fromhex("020000000001") + b"\x88\x08"
    return (head + opcode.to_bytes(2, "big") + vector.to_bytes(2, "big") + times).ljust(60, b"\0")


def send(pair: HostPair, *frames: bytes) -> None:
    """Send frames from host b, one after the other."""
    script = ("-c", SEND_SCRIPT, f"{pair.b[:-1]}y", *(frame.hex() for frame in frames))
    subprocess.run(pair.command(pair.b, sys.executable, *script), check=True)


def sender(log: Path, version: int = 4, link_rate_bps: int = SLOW) -> Sender:
    """Sends about 120 packets/s until it is asked to stop."""
    a, b = HostPair.ADDRESSES[version]
    return Sender(
        local=a, remote=b, log=log, duration_ms=3_600_000, link_rate_bps=link_rate_bps,
        pairs=(QpPair(0x118, 0x200), QpPair(0x119, 0x201)), dcqcn=Dcqcn(rate_bps=1e6),
    )  # fmt: skip


def packets_between(log: RoceLog, begin: Event, end: Event) -> int:
    """Packets of data in the intervals that lie between two events: the first of each queue pair
    began before."""
    rates = [event for event in log.named("rate") if begin.time_ns < event.time_ns <= end.time_ns]
    by_qp: dict[int, list[int]] = {}
    for event in rates:
        by_qp.setdefault(event["qp"], []).append(event["packets"])
    assert len(by_qp) == 2
    assert all(len(packets) > 3 for packets in by_qp.values())
    return sum(sum(packets[1:]) for packets in by_qp.values())


def wait_for_rates(log: Path, count: int) -> None:
    """Wait until so many more intervals are logged."""
    before = log.read_text().count('"rate"')
    wait_for_count(log, '"rate"', before + count)


def wait_for_count(log: Path, text: str, count: int) -> None:
    """Wait until the log has a text so many times."""
    deadline = time.monotonic() + 60
    while not log.exists() or log.read_text().count(text) < count:
        assert time.monotonic() < deadline, f"{log}: not {count} times {text}"
        time.sleep(0.01)


@pytest.mark.parametrize("version", [4, 6])
def test_a_pause_holds_its_priority_until_it_is_ended(
    host_pair: HostPair, roce_program: Path, tmp_path: Path, version: int
) -> None:
    log = tmp_path / "a.jsonl"
    command = host_pair.command(host_pair.a, str(roce_program), *sender(log, version).arguments())
    with running(command):
        wait_for(log, '"rate"')
        wait_until_sent(log)
        send(host_pair, pause({OURS: LONGEST, OTHER: 7}))
        wait_for_count(log, '"pause"', 2)
        wait_for_rates(log, 20)
        send(host_pair, pause({OURS: 0}))
        wait_for_count(log, '"pause"', 3)
        wait_until_sent(log)
    sent = read_log(log)
    ours, other, end = sent.named("pause")
    assert (ours["priority"], ours["quanta"], ours["qps"]) == (OURS, LONGEST, 2)
    assert ours["hold_ns"] == LONGEST * 512 * 10**9 // SLOW
    assert (other["priority"], other["quanta"], other["qps"]) == (OTHER, 7, 0)
    assert (end["priority"], end["hold_ns"]) == (OURS, 0)
    assert packets_between(sent, ours, end) == 0
    total = sent.one("pauses")
    assert (total["priority"], total["frames"], total["ignored"]) == (OURS, 2, 0)
    assert total["held_ns"] == end.time_ns - ours.time_ns


def test_a_new_pause_takes_the_place_of_the_last(
    host_pair: HostPair, roce_program: Path, tmp_path: Path
) -> None:
    """One that is over at once, before and after a long one: it neither ends early nor adds up."""
    log = tmp_path / "a.jsonl"
    command = host_pair.command(host_pair.a, str(roce_program), *sender(log).arguments())
    with running(command):
        wait_for(log, '"rate"')
        wait_until_sent(log)
        send(host_pair, pause({OURS: 1}), pause({OURS: LONGEST}))
        wait_for_count(log, '"pause"', 2)
        wait_for_rates(log, 20)
        send(host_pair, pause({OURS: 1}))
        wait_for_count(log, '"pause"', 3)
        wait_until_sent(log)
    sent = read_log(log)
    first, long, last = sent.named("pause")
    assert packets_between(sent, long, last) == 0
    held = sent.one("pauses")["held_ns"]
    before = min(first["hold_ns"], long.time_ns - first.time_ns)
    assert held == before + last.time_ns - long.time_ns + last["hold_ns"]


def test_other_priorities_other_frames_and_short_times_do_not_stop_it(
    host_pair: HostPair, roce_program: Path, tmp_path: Path
) -> None:
    log = tmp_path / "a.jsonl"
    fast = sender(log, link_rate_bps=FAST)
    with running(host_pair.command(host_pair.a, str(roce_program), *fast.arguments())):
        wait_for(log, '"rate"')
        wait_until_sent(log)
        link_pause = pause({OURS: LONGEST}, opcode=0x0001)
        send(host_pair, link_pause, pause({OURS: LONGEST}, to="0180c2000002"))
        send(host_pair, pause({OTHER: LONGEST}), pause({OURS: LONGEST}))
        wait_for_count(log, '"pause"', 2)
        wait_until_sent(log)
    total = read_log(log).one("pauses")
    assert (total["frames"], total["ignored"]) == (2, 2)
    assert total["held_ns"] == LONGEST * 512 * 10**9 // FAST


def test_without_a_link_rate_nothing_is_heeded(
    host_pair: HostPair, roce_program: Path, tmp_path: Path
) -> None:
    log = tmp_path / "a.jsonl"
    off = sender(log, link_rate_bps=0)
    with running(host_pair.command(host_pair.a, str(roce_program), *off.arguments())):
        wait_for(log, '"rate"')
        wait_until_sent(log)
        send(host_pair, pause({OURS: LONGEST}))
        wait_until_sent(log)
    sent = read_log(log)
    assert not list(sent.named("pause"))
    assert not list(sent.named("pauses"))


def test_a_link_rate_needs_an_interface_with_the_address(
    host_pair: HostPair, roce_program: Path, tmp_path: Path
) -> None:
    """10.77.0.9 is local by a route, but of no interface."""
    route = ("ip", "route", "add", "local", "10.77.0.9", "dev", "lo")
    subprocess.run(host_pair.command(host_pair.a, *route), check=True)
    command = [
        "send", "--local", "10.77.0.9", "--remote", "10.77.0.2", "--link-rate-bps", "1000",
        "--log", str(tmp_path / "a.jsonl"),
    ]  # fmt: skip
    done = subprocess.run(
        host_pair.command(host_pair.a, str(roce_program), *command),
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "no interface has the local address" in done.stderr


def test_frames_that_are_cut_off_or_something_else_are_no_pause(driver: Driver) -> None:
    whole = pause({0: 1, OURS: LONGEST})
    assert driver(f"pause {whole.hex()} {FAST}") == "yes 0=0 3=33553"
    assert driver(f"pause {whole[:34].hex()} 512") == "yes 0=1000000000 3=65535000000000"
    for length in range(1, 34):
        assert driver(f"pause {whole[:length].hex()} {FAST}") == "no"
    assert driver(f"pause {pause({1: 1}, opcode=1).hex()} {FAST}") == "no"
    assert driver(f"pause {pause({1: 1}, to='020000000002').hex()} {FAST}") == "no"
