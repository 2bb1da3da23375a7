"""Timestamps of certain packets on a link, by a packet socket at its receiving end.

The kernel stamps each packet when a switch sends it, so scheduling delays of receiving processes do
not matter. Only received packets count: packets that a switch sends may bypass packet sockets.
"""

import socket
import threading
import time
from ipaddress import IPv6Network
from pathlib import Path

from fcn.packets.fantel import FANTEL_PORT, Event
from fcn.topologies.arrival_stamps import arrivals, stamp_arrivals

ETH_P_ALL = 3
SOL_PACKET, PACKET_IGNORE_OUTGOING = 263, 23  # linux/if_packet.h; Python has no names for them
POLL_S = 0.2
RECEIVE_BUFFER = 4 << 20

ANY_IPV6 = "ip6"
"""Expressions as of pcap-filter(7)."""

MARKED_CE = "ip6[0:2] & 0x30 = 0x30"
"""IPv6 packets with CE in their outer header (RFC 3168)."""

CONGESTION_TOLD = f"ip6 and udp dst port {FANTEL_PORT} and ether[63] = {Event.CONGESTION:d}"
"""FANTEL messages that a path is congested, over UDP."""


def ipv6_to(network: IPv6Network) -> str:
    return f"ip6 dst net {network}"


def udp_to(port: int) -> str:
    """IPv6 packets without extension headers to a UDP port."""
    return f"ip6 and udp dst port {port}"


def far_end(interface: str) -> str:
    """The other interface of a veth pair in this namespace."""
    return socket.if_indextoname(int(Path(f"/sys/class/net/{interface}/iflink").read_text()))


class Tap:
    """Context manager recording when packets that match a filter arrive at an interface."""

    def __init__(self, interface: str, expression: str) -> None:
        # It takes a second to import.
        from scapy.arch.linux import attach_filter

        # Kernel stamps are wall-clock time, everything else here is monotonic.
        self._to_monotonic = time.monotonic_ns() - time.time_ns()
        self._times: list[int] = []
        self._ending = threading.Event()
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        attach_filter(self._socket, expression, interface)
        self._socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
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
