"""Delay lines and taps on real interfaces."""

import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from ipaddress import IPv6Network
from pathlib import Path

import pytest
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from fcn.hosts.delayline import fcn_delayline
from fcn.hosts.processes import Process, wait_until
from fcn.packets.fantel import FANTEL_PORT, Event, Fantel
from fcn.packets.fantel_tlvs import Origin, PathId
from fcn.packets.wire import FAST_CNP_PORT
from fcn.topologies.demo.tap import (
    ANY_IPV6,
    CONGESTION_TOLD,
    MARKED_CE,
    Tap,
    far_end,
    ipv6_to,
    udp_to,
)

DELAY_MS = 30
PATIENCE_S = 60.0
MACS = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}


def frame(
    number: int, traffic_class: int = 0, port: int = 4791, payload: bytes | None = None
) -> bytes:
    payload = number.to_bytes(4) * 20 if payload is None else payload
    addresses = {"src": "2001:db8::1", "dst": "2001:db8::2"}
    return bytes(
        Ether(**MACS) / IPv6(**addresses, tc=traffic_class) / UDP(sport=1, dport=port) / payload
    )


PROBE = frame(0)
"""Sent until one comes through; the others may come at any time after."""


def packet_socket(interface: str) -> socket.socket:
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x86DD))
    opened.bind((interface, 0))
    opened.settimeout(PATIENCE_S)
    return opened


def receive(opened: socket.socket, *, probes: bool = False) -> tuple[bytes, float]:
    """The next IPv6 frame that is one of ours, and when it came; PROBE only with `probes`."""
    while True:
        data = opened.recv(2000)
        ours = data[6:12] == bytes.fromhex(MACS["src"].replace(":", ""))
        if ours and (probes or data != PROBE):
            return data, time.monotonic()


@pytest.fixture
def veths() -> Iterator[tuple[str, str, str, str]]:
    """Two veth pairs (a, b) and (c, d)."""
    if os.geteuid() != 0:
        pytest.skip("interfaces need root")
    prefix = f"fl{os.getpid() % 100000}"
    names = tuple(prefix + end for end in "abcd")
    a, b, c, d = names
    try:
        for near, far in ((a, b), (c, d)):
            subprocess.run(
                ["ip", "link", "add", near, "type", "veth", "peer", "name", far], check=True
            )
        for name in names:
            subprocess.run(["sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1"], check=True)
            subprocess.run(["ip", "link", "set", name, "up"], check=True)
        yield a, b, c, d
    finally:
        for name in (a, c):
            subprocess.run(["ip", "link", "del", name], capture_output=True, check=False)


def test_delay_line_carries_frames_late_whole_and_in_order(
    veths: tuple[str, str, str, str], tmp_path: Path
) -> None:
    a, b, c, d = veths
    log = tmp_path / "log"
    command = [str(fcn_delayline(sanitize=True)), b, c, str(DELAY_MS * 1000)]
    with (
        Process("delay line", command, log) as line,
        packet_socket(a) as near,
        packet_socket(d) as far,
    ):
        # The first one through tells that the line is up.
        far.settimeout(0.2)

        def carries() -> bool:
            near.send(PROBE)
            try:
                return bool(receive(far, probes=True))
            except TimeoutError:
                return False

        line.wait_ready(carries, PATIENCE_S)
        far.settimeout(PATIENCE_S)
        for number in range(1, 50):
            sent_at = time.monotonic()
            near.send(frame(number))
            if number == 1:
                data, arrived_at = receive(far)
                assert arrived_at - sent_at >= DELAY_MS / 1000
                assert data == frame(1)
        assert [receive(far)[0] for _ in range(2, 50)] == [frame(n) for n in range(2, 50)]
        far.send(frame(99))
        assert receive(near)[0] == frame(99)
        assert line.stop() == 0
    carried = [int(found) for found in re.findall(r"carried (\d+), dropped 0", log.read_text())]
    assert len(carried) == 2
    assert carried[0] >= 50
    assert carried[1] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        ("", 2, "usage"),
        ("lo", 2, "usage"),
        ("lo lo x", 2, "usage"),
        ("lo lo 99999999", 2, "usage"),
        ("no-such-if lo 1", 1, "no-such-if"),
    ],
)
def test_delay_line_refuses_wrong_arguments(arguments: str, code: int, reason: str) -> None:
    command = [str(fcn_delayline()), *arguments.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert reason in done.stderr


def test_a_tap_tells_messages_of_congestion_from_others_about_paths(
    veths: tuple[str, str, str, str],
) -> None:
    a, b, _, _ = veths
    messages = [
        Fantel(event=event, parameters=[Origin(node=1, sequence=1), PathId(path_id=1)])
        for event in (Event.CONGESTION, Event.FAILURE, Event.CONGESTION_CLEARED)
    ]
    with (
        Tap(b, udp_to(FANTEL_PORT)) as everything,
        Tap(b, CONGESTION_TOLD) as told,
        packet_socket(a) as near,
    ):
        for number, message in enumerate(messages):
            near.send(frame(number, port=FANTEL_PORT, payload=bytes(message)))
        near.send(frame(9, port=FAST_CNP_PORT, payload=bytes(messages[0])))
        wait_until(lambda: everything.count == 3, 10, "the tap does not see the frames")
        assert len(told.stop()) == 1


def test_taps_see_what_their_filter_says(veths: tuple[str, str, str, str]) -> None:
    a, b, _, _ = veths
    assert far_end(a) == b
    with (
        Tap(b, ANY_IPV6) as everything,
        Tap(b, MARKED_CE) as marked,
        Tap(b, udp_to(FAST_CNP_PORT)) as fast_cnps,
        Tap(b, ipv6_to(IPv6Network("2001:db8::/61"))) as to_network,
        Tap(b, ipv6_to(IPv6Network("2001:db8::2/128"))) as to_host,
        Tap(b, ipv6_to(IPv6Network("2001:db8:0:8::/61"))) as to_next_network,
        Tap(b, ipv6_to(IPv6Network("2001:db8::3/128"))) as to_next_host,
        Tap(a, ANY_IPV6) as backwards,
        packet_socket(a) as near,
    ):
        began = time.monotonic_ns()
        for traffic_class in (0, 1, 2, 3, 0x6B):
            near.send(frame(traffic_class, traffic_class))
        near.send(frame(9, port=FAST_CNP_PORT))
        wait_until(lambda: everything.count == 6, 10, "the tap does not see the frames")
        ended = time.monotonic_ns()
        times = everything.stop()
        assert list(times) == sorted(times)
        # Wall clock and monotonic clock are read one after the other: allow for that.
        assert began - 1_000_000 <= times[0] <= times[-1] <= ended + 1_000_000
        assert len(marked.stop()) == 2
        assert len(fast_cnps.stop()) == 1
        assert len(to_network.stop()) == len(to_host.stop()) == 6
        assert to_next_network.stop() == to_next_host.stop() == ()
        assert backwards.stop() == ()
