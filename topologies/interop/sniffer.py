"""The RoCEv2 packets on a guest's TAP: every CNP to it, and the ICRCs of the guest's own packets.

The same ICRC routine checks both: that it accepts the guest's own ICRCs shows that it computes what
the guest's kernel does.
"""

import ctypes
import os
import socket
import threading
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from fcn.packets.icrc import icrc_valid
from fcn.packets.roce import ROCEV2_PORT, Opcode
from fcn.topologies.guest_host import TAP, GuestHost

CLONE_NEWNET = 0x40000000
ETH_P_ALL = 3
POLL_S = 0.2
RECEIVE_BUFFER = 8 << 20
SAMPLE = 500
UDP = 17
HEADER = {4: 20, 6: 40}
UDP_HEADER = 8
BTH_HEADER = 12


@dataclass(frozen=True, slots=True)
class Cnp:
    """A CNP that reached the guest's network card."""

    family: int
    src: str
    dst: str
    dest_qp: int
    icrc_valid: bool


class Sniffer:
    """Context manager; `cnps` grows while it runs; `own_valid` of `own_checked` ICRCs are valid."""

    def __init__(self, host: GuestHost) -> None:
        self.cnps: list[Cnp] = []
        self.own_checked = 0
        self.own_valid = 0
        self._socket = packet_socket(host.pid)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> "Sniffer":
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stopping.set()
        self._thread.join()
        self._socket.close()

    def _read(self) -> None:
        self._socket.settimeout(POLL_S)
        while not self._stopping.is_set():
            try:
                frame, address = self._socket.recvfrom(65536)
            except TimeoutError:
                continue
            self._take(frame[14:], to_guest=address[2] == socket.PACKET_OUTGOING)

    def _take(self, datagram: bytes, *, to_guest: bool) -> None:
        opcode = roce_opcode(datagram)
        if opcode is None:
            return
        if to_guest and opcode == Opcode.CNP:
            self.cnps.append(read_cnp(datagram))
        elif not to_guest and self.own_checked < SAMPLE:
            self.own_checked += 1
            self.own_valid += icrc_valid(datagram)


def roce_opcode(datagram: bytes) -> int | None:
    """BTH opcode of a RoCEv2 datagram (IPv4 without options, IPv6 without extensions), or None."""
    if len(datagram) < HEADER[4] + UDP_HEADER + BTH_HEADER:
        return None
    family = datagram[0] >> 4
    if family not in HEADER or len(datagram) < HEADER[family] + UDP_HEADER + BTH_HEADER:
        return None
    udp = datagram[HEADER[family] :]
    protocol = datagram[9] if family == 4 else datagram[6]
    if protocol != UDP or int.from_bytes(udp[2:4]) != ROCEV2_PORT:
        return None
    return udp[UDP_HEADER]


def read_cnp(datagram: bytes) -> Cnp:
    """Addresses and destination QP of a datagram that `roce_opcode` calls a CNP."""
    family = datagram[0] >> 4
    first, size = (12, 4) if family == 4 else (8, 16)
    bth = datagram[HEADER[family] + UDP_HEADER :]
    return Cnp(
        family,
        str(ip_address(datagram[first : first + size])),
        str(ip_address(datagram[first + size : first + 2 * size])),
        int.from_bytes(bth[5:8]),
        icrc_valid(datagram),
    )


def packet_socket(pid: int) -> socket.socket:
    """A packet socket on the TAP in the network namespace of process `pid`."""
    libc = ctypes.CDLL(None, use_errno=True)

    def enter(descriptor: int) -> None:
        if libc.setns(descriptor, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    with (
        Path("/proc/thread-self/ns/net").open() as home,
        Path(f"/proc/{pid}/ns/net").open() as away,
    ):
        enter(away.fileno())
        try:
            # With a protocol it would receive from every interface until it is bound.
            raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
            raw.bind((TAP, ETH_P_ALL))
        finally:
            enter(home.fileno())
    return raw
