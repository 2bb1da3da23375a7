"""RoCEv2 packets through both PEs, compared octet by octet, and as captured in the core."""

from collections.abc import Sequence
from dataclasses import dataclass

from interop_namespaces import Namespace, frames_until
from interop_testbed import (
    HOST_MAC,
    HOST_V4,
    HOST_V6,
    LINUX_SITE_MAC,
    PE_DC_MAC,
    REMOTE_MAC,
    REMOTE_V4,
    REMOTE_V6,
    InteropTestbed,
)

from fcn.ptf_tests.lib.packets import Ecn, datagram_of, ethernet, roce, udp, with_ttl

DEST_QP = 0x118
PAIRS = ((HOST_V4, REMOTE_V4), (HOST_V6, REMOTE_V6))
"""(our host, remote host) by family."""
FRAME_TIMEOUT_S = 60.0
TTL = 64
DISCARD_PORT = 9
UNCHANGED_OCTETS = 32
"""Of a RoCEv2 packet's end: BTH, payload and ICRC, which no router changes."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """Datagrams captured between the PEs, and those that arrived at the other host."""

    core: tuple[bytes, ...]
    arrived: tuple[bytes, ...]


def send_to_remote(testbed: InteropTestbed, pair: tuple[str, str], *datagrams: bytes) -> Crossing:
    """From our host to the remote one; `pair` is one of PAIRS."""
    marker = udp(*pair, DISCARD_PORT, DISCARD_PORT, b"last one to remote")
    frames = [ethernet(each, src=HOST_MAC, dst=PE_DC_MAC) for each in (*datagrams, marker)]
    return _send(
        testbed, testbed.host, testbed.remote, frames, b"last one to remote", by_linux=False
    )


def send_to_host(testbed: InteropTestbed, pair: tuple[str, str], *datagrams: bytes) -> Crossing:
    """From the remote host to ours; `pair` is one of PAIRS."""
    marker = udp(pair[1], pair[0], DISCARD_PORT, DISCARD_PORT, b"last one to host")
    frames = [ethernet(each, src=REMOTE_MAC, dst=LINUX_SITE_MAC) for each in (*datagrams, marker)]
    return _send(testbed, testbed.remote, testbed.host, frames, b"last one to host", by_linux=True)


def _send(
    testbed: InteropTestbed,
    near: Namespace,
    far: Namespace,
    frames: Sequence[bytes],
    marker: bytes,
    *,
    by_linux: bool,
) -> Crossing:
    with (
        near.packet_socket("eth0") as sender,
        far.packet_socket("eth0") as receiver,
        testbed.wires.packet_socket("wan") as core,
    ):
        for frame in frames:
            sender.send(frame)
        arrived = frames_until(receiver, marker, FRAME_TIMEOUT_S)
        tunnelled = frames_until(core, marker, FRAME_TIMEOUT_S, sent=by_linux)
    # Not what the kernel sends by itself, such as MLD reports.
    ends = [frame[-UNCHANGED_OCTETS:] for frame in frames[:-1]]
    return Crossing(
        tuple(
            datagram_of(frame)
            for frame in tunnelled
            if frame[12:14] == b"\x86\xdd" and frame.endswith(tuple(ends))
        ),
        tuple(datagram_of(frame) for frame in arrived if _is_udp(frame)),
    )


def _is_udp(frame: bytes) -> bool:
    """Whether a frame is UDP, and not an ICMP error of the host's stack."""
    next_protocol = {b"\x08\x00": 14 + 9, b"\x86\xdd": 14 + 6}.get(frame[12:14])
    return next_protocol is not None and frame[next_protocol] == 17


def roce_of_every_ecn(src: str, dst: str) -> tuple[bytes, ...]:
    """One RDMA WRITE with each ECN codepoint."""
    return tuple(roce(src, dst, DEST_QP, psn=ecn, ecn=ecn) for ecn in Ecn)


def assert_unharmed(sent: Sequence[bytes], arrived: Sequence[bytes], hops: int = 2) -> None:
    """All packets arrived in order, unchanged but for `hops` routing hops."""
    expected = [with_ttl(datagram, TTL - hops).hex() for datagram in sent]
    assert [datagram.hex() for datagram in arrived] == expected
