"""Frames through real interfaces: VLAN tags, checksum offload, sizes, pacing, status."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import engine_veth
import pytest
from engine_scenarios import MAC, PROGRAMS, ethernet, pack
from engine_veth import VethPorts
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from fcn.softswitch.api import ActionCall, EngineError, EngineEvents, Exact, PortQueue
from fcn.softswitch.engine import RealEngine, load_program

REASON = engine_veth.usable()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
PATIENCE = 60.0


@pytest.fixture
def ports() -> Iterator[VethPorts]:
    with VethPorts("ri", (1, 2)) as made:
        yield made


@pytest.fixture
def engine(ports: VethPorts) -> Iterator[RealEngine]:
    """kitchen.p4 forwarding between ports 1 and 2, addresses unchanged."""
    made = RealEngine(
        load_program(PROGRAMS / "kitchen.json"), {p: ports.switch(p) for p in ports.ports}
    )
    for port in (1, 2):
        made.table_insert(
            "I.l2", [Exact(MAC), Exact(port)], 0, ActionCall("I.forward", (3 - port, MAC))
        )
    made.start()
    yield made
    made.close()


@pytest.fixture
def wire(ports: VethPorts) -> Iterator[RealEngine]:
    """match.p4, which sends all packets to port 2 unchanged."""
    names = {p: ports.switch(p) for p in ports.ports}
    made = RealEngine(load_program(PROGRAMS / "match.json"), names)
    made.start()
    yield made
    made.close()


def through(ports: VethPorts, *frames: bytes) -> list[bytes]:
    """Frames sent on port 2 for frames received on port 1."""
    for frame in frames:
        ports.send(1, frame)
    return ports.receive({2: len(frames)}, PATIENCE).get(2, [])


def test_forwarding_both_ways(ports: VethPorts, engine: RealEngine) -> None:
    frame = ethernet(0x9999) + bytes(range(46))
    assert through(ports, frame) == [frame]
    ports.send(2, frame)
    assert ports.receive({1: 1}, PATIENCE) == {1: [frame]}
    counters = engine.port_counters(1)
    assert (counters.rx_packets, counters.tx_packets) == (1, 1)
    assert (counters.rx_octets, counters.tx_octets) == (60, 60)


def test_frames_that_a_full_disk_does_not_keep_are_counted(
    ports: VethPorts, wire: RealEngine
) -> None:
    """They are forwarded all the same."""
    full = os.open("/dev/full", os.O_WRONLY)
    wire.keep_frames(1, full, full)
    wire.keep_frames(2, full, full)
    frame = ethernet(0x9999) + bytes(range(46))
    assert through(ports, frame, frame) == [frame, frame]
    assert wire.statistics()["capture_drops"] == 4
    os.close(full)


def test_order_and_number_of_many(ports: VethPorts, engine: RealEngine) -> None:
    frames = [ethernet(0x9999) + n.to_bytes(4, "big") + bytes(42) for n in range(500)]
    assert through(ports, *frames) == frames
    assert engine.port_counters(2).tx_packets == 500


def test_order_of_frames_that_leave_by_different_ways(ports: VethPorts, engine: RealEngine) -> None:
    """Frames of more than a page are sent by another socket than small ones."""
    sizes = [46, 46, 5000, 46, 8000, 4082, 4083, 46, 9000, 46] * 5
    frames = [
        ethernet(0x9999) + n.to_bytes(2, "big") + bytes(size - 2) for n, size in enumerate(sizes)
    ]
    assert through(ports, *frames) == frames
    assert engine.statistics()["tx_errors"] == 0


def test_nothing_stale_leaves_when_a_link_returns(ports: VethPorts, engine: RealEngine) -> None:
    """Frames that could not be sent are dropped and counted, not sent later."""
    subprocess.run(["ip", "link", "set", ports.switch(2), "down"], check=True)
    old = ethernet(0x9999) + b"old" + bytes(43)
    for _ in range(20):
        ports.send(1, old)
    deadline = time.monotonic() + PATIENCE
    while engine.statistics()["tx_errors"] < 20:
        assert time.monotonic() < deadline, engine.statistics()
    subprocess.run(["ip", "link", "set", ports.switch(2), "up"], check=True)
    ports.drain(2)
    new = ethernet(0x9999) + b"new" + bytes(43)
    assert through(ports, new) == [new]


@pytest.mark.parametrize("tag", ["81000064", "88a80123", "8100a00081000005"])
def test_vlan_tags_stay(ports: VethPorts, engine: RealEngine, tag: str) -> None:
    frame = ethernet(0)[:12] + bytes.fromhex(tag) + b"\x99\x99" + bytes(46)
    assert through(ports, frame) == [frame]


@pytest.mark.parametrize("size", [14, 60, 1514, 1600, 9014, 9500])
def test_sizes(ports: VethPorts, engine: RealEngine, size: int) -> None:
    frame = ethernet(0x9999) + bytes(size - 14)
    assert through(ports, frame) == [frame]


_SENDER = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if len(sys.argv) > 2:
    s.setsockopt(socket.SOL_UDP, 103, int(sys.argv[2]))  # UDP_SEGMENT
s.sendto(b"z" * int(sys.argv[1]), ("10.77.0.2", 9))
"""


@pytest.fixture
def sender(ports: VethPorts) -> Iterator[list[str]]:
    """A command that runs Python behind port 1, in a network namespace with an IP stack."""
    space = f"ri{os.getpid()}"
    commands = [
        f"ip netns add {space}",
        f"ip link set {ports.host(1)} netns {space}",
        f"ip -n {space} addr add 10.77.0.1/24 dev {ports.host(1)}",
        f"ip -n {space} link set {ports.host(1)} up",
        f"ip -n {space} neigh add 10.77.0.2 lladdr 11:22:33:44:55:66 dev {ports.host(1)}",
    ]
    ports.release(1)
    try:
        for command in commands:
            subprocess.run(command.split(), check=True, capture_output=True)
        yield ["ip", "netns", "exec", space, sys.executable, "-c", _SENDER]
    finally:
        subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)


def _udp(frames: list[bytes]) -> list[bytes]:
    return [f for f in frames if f[12:14] == b"\x08\x00" and f[23] == 17]


def test_checksums_left_to_hardware_are_completed(
    ports: VethPorts, sender: list[str], wire: RealEngine
) -> None:
    subprocess.run([*sender, "301"], check=True)
    (frame,) = _udp(ports.receive({2: 1}, PATIENCE)[2])
    assert IP in Ether(frame)
    sent = int.from_bytes(frame[40:42], "big")
    again = Ether(frame)
    del again[UDP].chksum
    assert sent == Ether(bytes(again))[UDP].chksum
    assert sent != 0


def test_segments_left_to_hardware_are_counted(
    ports: VethPorts, sender: list[str], wire: RealEngine
) -> None:
    subprocess.run([*sender, "3000", "1000"], check=True)
    deadline = time.monotonic() + PATIENCE
    while not wire.statistics()["gso_drops"]:
        assert time.monotonic() < deadline, "the kernel segmented by itself"
    assert wire.statistics()["gso_drops"] == 1


def test_pacing_on_the_wall_clock(ports: VethPorts, engine: RealEngine) -> None:
    """20 packets at 1000 per second and 30 ms delay: none is early."""
    engine.port_queue_set(2, PortQueue(depth=100, rate_pps=1000, delay_ns=30_000_000))
    start = time.monotonic()
    frames = through(ports, *[ethernet(0x9999) + bytes(46)] * 20)
    elapsed = time.monotonic() - start
    assert len(frames) == 20
    assert elapsed >= 0.050


@pytest.fixture
def depths(ports: VethPorts) -> Iterator[RealEngine]:
    """queueing.p4, which writes the queue's depth at arrival into packets."""
    names = {p: ports.switch(p) for p in ports.ports}
    made = RealEngine(load_program(PROGRAMS / "queueing.json"), names)
    made.port_queue_set(2, PortQueue(depth=1000))
    made.start()
    yield made
    made.close()


def _queueing(ports: VethPorts, count: int) -> tuple[list[int], float]:
    """Depths the frames of a burst to port 2 found, and the seconds until the last arrived."""
    frames = [
        ethernet(1) + pack((2, 16), (n % 256, 240), (0, 32)) + bytes(952) for n in range(count)
    ]
    start = time.monotonic()
    out = through(ports, *frames)
    return [int.from_bytes(f[21:25], "big") for f in out], time.monotonic() - start


def test_a_queueing_discipline_limits_the_rate_and_the_program_sees_the_queue(
    ports: VethPorts, depths: RealEngine
) -> None:
    """100 frames of 1002 octets at 2 Mb/s take 0.4 s, less what a burst of 15 kB saves."""
    assert max(_queueing(ports, 20)[0]) < 20
    ports.limit(2, "2mbit")
    deadline = time.monotonic() + PATIENCE
    while (found := _queueing(ports, 100))[1] < 0.3 or max(found[0]) < 50:
        assert time.monotonic() < deadline, found
    assert len(found[0]) == 100
    assert depths.statistics()["tx_errors"] == 0


def test_frames_that_wait_for_a_queueing_discipline_leave_when_it_is_removed(
    ports: VethPorts, depths: RealEngine
) -> None:
    ports.limit(2, "2mbit")
    deadline = time.monotonic() + PATIENCE
    while depths.port_counters(2).queue_depth < 500:
        assert time.monotonic() < deadline, depths.port_counters(2)
        for _ in range(100):
            ports.send(1, ethernet(1) + pack((2, 16), (0, 272)) + bytes(952))
    subprocess.run(["tc", "qdisc", "del", "dev", ports.switch(2), "root"], check=True)
    while depths.port_counters(2).queue_depth:
        assert time.monotonic() < deadline, depths.port_counters(2)


def test_an_interface_that_is_not_there(ports: VethPorts) -> None:
    program = load_program(PROGRAMS / "kitchen.json")
    with pytest.raises(EngineError, match=r"port 7 \(nosuchif\): No such device"):
        RealEngine(program, {1: ports.switch(1), 7: "nosuchif"})


def test_a_port_has_one_interface(ports: VethPorts, engine: RealEngine) -> None:
    with pytest.raises(EngineError, match="exists already"):
        engine.add_port(2, ports.switch(1))


async def test_port_status(ports: VethPorts, engine: RealEngine) -> None:
    seen: asyncio.Queue[tuple[int, bool]] = asyncio.Queue()
    engine.set_events(
        EngineEvents(
            digest=lambda _n, _m: None,
            packet_in=lambda _: None,
            idle=lambda _t, _h: None,
            port_status=lambda port, up: seen.put_nowait((port, up)),
        )
    )

    async def wait_for(port: int, up: bool) -> None:
        async with asyncio.timeout(PATIENCE):
            while await seen.get() != (port, up):
                pass

    for state, up in (("down", False), ("up", True)):
        set_link = await asyncio.create_subprocess_exec("ip", "link", "set", ports.host(2), state)
        assert await set_link.wait() == 0
        await wait_for(2, up)
        assert engine.port_up(2) is up


def test_the_control_plane_gets_its_turn_under_load(ports: VethPorts, engine: RealEngine) -> None:
    """Entries change during traffic; each frame is processed by the old or the new ones."""
    engine.table_set_default("I.l2", ActionCall("I.forward", (2, 1)))
    frame = ethernet(0x9999, dst=0x020000000009) + bytes(46)
    match = [Exact(0x020000000009), Exact(1)]
    out: list[bytes] = []
    for n in range(200):
        handle = engine.table_insert("I.l2", match, 0, ActionCall("I.forward", (2, 2 + n)))
        ports.send(1, frame)
        out += ports.receive({2: 1}, PATIENCE)[2]
        engine.table_delete("I.l2", handle)
    assert [int.from_bytes(f[:6], "big") for f in out] == list(range(2, 202))
