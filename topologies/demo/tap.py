"""Timestamps of certain packets on a link, by a packet socket at its receiving end.

The kernel stamps each packet when a switch sends it, so scheduling delays of receiving processes do
not matter. Only received packets count: packets that a switch sends may bypass packet sockets.
"""

import ctypes
import socket
import struct
import threading
import time
from ipaddress import IPv6Network
from pathlib import Path

from fcn.packets.fantel import FANTEL_PORT, Event
from fcn.topologies.arrival_stamps import arrivals, stamp_arrivals

ETH_P_ALL = 3
SO_ATTACH_FILTER = 26
PACKET_OUTGOING = 4
SKF_AD_PKTTYPE = 0xFFFFF000 + 4
POLL_S = 0.2
RECEIVE_BUFFER = 4 << 20

# Classic BPF (linux/filter.h), offsets from the Ethernet header.
LOAD_BYTE, LOAD_HALF, LOAD_WORD, AND, RETURN, JUMP_EQUAL = 0x30, 0x28, 0x20, 0x54, 0x06, 0x15
ETHERTYPE, IPV6_WORD, NEXT_HEADER, IPV6_DST, UDP_DST = 12, 14, 20, 38, 56
FANTEL_TYPE = 63

Instruction = tuple[int, int, int, int]
Condition = tuple[int, int, int, int | None]


def _require(load: int, offset: int, value: int, mask: int | None, rest: int) -> list[Instruction]:
    """Continue when (packet[offset] & mask) == value, else jump over `rest` to the reject."""
    masked = [] if mask is None else [(AND, 0, 0, mask)]
    return [(load, 0, 0, offset), *masked, (JUMP_EQUAL, 0, rest, value)]


def _program(conditions: list[Condition]) -> list[Instruction]:
    program: list[Instruction] = [(RETURN, 0, 0, 1), (RETURN, 0, 0, 0)]
    for load, offset, value, mask in reversed(conditions):
        program = [*_require(load, offset, value, mask, len(program) - 1), *program]
    return program


# Not PACKET_OUTGOING (4): hosts, other hosts, broadcast and multicast have this bit clear.
INCOMING: Condition = (LOAD_BYTE, SKF_AD_PKTTYPE, 0, PACKET_OUTGOING)
IPV6: Condition = (LOAD_HALF, ETHERTYPE, 0x86DD, None)


def any_ipv6() -> list[Instruction]:
    return _program([INCOMING, IPV6])


def ipv6_to(network: IPv6Network) -> list[Instruction]:
    parts = struct.unpack("!4I", network.network_address.packed)
    masks = struct.unpack("!4I", network.netmask.packed)
    to_network: list[Condition] = [
        (LOAD_WORD, IPV6_DST + 4 * place, part, mask)
        for place, (part, mask) in enumerate(zip(parts, masks, strict=True))
        if mask
    ]
    return _program([INCOMING, IPV6, *to_network])


def marked_ce() -> list[Instruction]:
    """IPv6 packets with CE in their outer header (RFC 3168)."""
    return _program([INCOMING, IPV6, (LOAD_HALF, IPV6_WORD, 0x0030, 0x0030)])


def udp_to(port: int) -> list[Instruction]:
    """IPv6 packets without extension headers to a UDP port."""
    return _program([INCOMING, IPV6, *_to_port(port)])


def congestion_told() -> list[Instruction]:
    """FANTEL messages that a path is congested, over UDP."""
    of_congestion: Condition = (LOAD_BYTE, FANTEL_TYPE, Event.CONGESTION, None)
    return _program([INCOMING, IPV6, *_to_port(FANTEL_PORT), of_congestion])


def _to_port(port: int) -> list[Condition]:
    return [(LOAD_BYTE, NEXT_HEADER, 17, None), (LOAD_HALF, UDP_DST, port, None)]


def far_end(interface: str) -> str:
    """The other interface of a veth pair in this namespace."""
    return socket.if_indextoname(int(Path(f"/sys/class/net/{interface}/iflink").read_text()))


class Tap:
    """Context manager recording when packets that match a filter arrive at an interface."""

    def __init__(self, interface: str, program: list[Instruction]) -> None:
        # Kernel stamps are wall-clock time, everything else here is monotonic.
        self._to_monotonic = time.monotonic_ns() - time.time_ns()
        self._times: list[int] = []
        self._ending = threading.Event()
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
        buffer = ctypes.create_string_buffer(code, len(code))
        filter_program = struct.pack("HL", len(program), ctypes.addressof(buffer))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, filter_program)
        stamp_arrivals(self._socket)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        self._socket.bind((interface, ETH_P_ALL))
        self._socket.settimeout(POLL_S)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Tap":
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._ending.set()
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        for _, stamp in arrivals(self._socket, 1, self._ending.is_set):
            self._times.append(stamp + self._to_monotonic)

    @property
    def count(self) -> int:
        return len(self._times)

    def stop(self) -> tuple[int, ...]:
        """End it and return all times, CLOCK_MONOTONIC nanoseconds."""
        self._ending.set()
        self._thread.join()
        return tuple(self._times)
