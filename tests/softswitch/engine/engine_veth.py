"""Pairs of virtual interfaces with raw sockets at the far ends."""

import os
import select
import socket
import struct
import subprocess
import time
from collections import defaultdict
from collections.abc import Sequence
from types import TracebackType
from typing import Self

ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_AUXDATA = 8
PACKET_IGNORE_OUTGOING = 23
TP_STATUS_VLAN_VALID = 1 << 4
TP_STATUS_VLAN_TPID_VALID = 1 << 6
_AUXDATA = struct.Struct("=IIIHHHH")


def usable() -> str | None:
    """Why virtual interfaces cannot be made here, None when they can."""
    if os.geteuid() != 0:
        return "needs root to make virtual interfaces"
    name = f"vt{os.getpid()}"
    made = subprocess.run(
        ["ip", "link", "add", name, "type", "veth", "peer", "name", name + "p"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode:
        return f"cannot make virtual interfaces: {made.stderr.strip()}"
    subprocess.run(["ip", "link", "del", name], check=True)
    return None


class VethPorts:
    """One veth pair per port; switch(port) names the switch's end, this object holds the other."""

    def __init__(self, prefix: str, ports: Sequence[int]) -> None:
        self.prefix = f"{prefix}{os.getpid()}"
        self.ports = list(ports)
        self._sockets: dict[int, socket.socket] = {}

    def switch(self, port: int) -> str:
        """Interface for the switch."""
        return f"{self.prefix}s{port}"

    def host(self, port: int) -> str:
        """Interface at the far end."""
        return f"{self.prefix}h{port}"

    def __enter__(self) -> Self:
        for port in self.ports:
            ends = (self.switch(port), self.host(port))
            _run("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
            for name in ends:
                _run("sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1")
                _run("ip", "link", "set", name, "mtu", "9500", "up")
            s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
            s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
            s.setblocking(False)
            s.bind((ends[1], ETH_P_ALL))
            self._sockets[port] = s
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for s in self._sockets.values():
            s.close()
        for port in self.ports:
            subprocess.run(
                ["ip", "link", "del", self.switch(port)], capture_output=True, check=False
            )

    def limit(self, port: int, rate: str) -> None:
        """Limit what the switch sends on a port as Mininet's TCLink does, with tc's HTB."""
        device = ("dev", self.switch(port))
        _run("tc", "qdisc", "replace", *device, "root", "handle", "5:", "htb", "default", "1")
        _run("tc", "class", "replace", *device, "parent", "5:", "classid", "5:1", "htb",
             "rate", rate, "burst", "15k")  # fmt: skip

    def release(self, port: int) -> None:
        """Stop listening at a far end, so that others can use it."""
        self._sockets.pop(port).close()

    def drain(self, port: int) -> None:
        """Clear the error that a link going down set on the far end's socket."""
        self._sockets[port].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)

    def send(self, port: int, data: bytes) -> None:
        """Put a frame on the wire towards the switch."""
        self._sockets[port].send(data)

    def receive(self, wanted: dict[int, int], timeout: float) -> dict[int, list[bytes]]:
        """Frames from the switch by port, until each has the expected number or the timeout."""
        out: dict[int, list[bytes]] = defaultdict(list)
        deadline = time.monotonic() + timeout
        by_fd = {s.fileno(): p for p, s in self._sockets.items()}
        while True:
            short = any(len(out[p]) < n for p, n in wanted.items())
            left = deadline - time.monotonic() if short else 0
            ready, _, _ = select.select(list(by_fd), [], [], max(0, left))
            for fd in ready:
                port = by_fd[fd]
                out[port].append(_receive(self._sockets[port]))
            if not ready and left <= 0:
                return {p: frames for p, frames in out.items() if frames}


def _receive(s: socket.socket) -> bytes:
    """One frame, with the VLAN tag the kernel removed inserted again."""
    data, ancillary, _, _ = s.recvmsg(65536, 512)
    for level, kind, payload in ancillary:
        if level == SOL_PACKET and kind == PACKET_AUXDATA:
            status, _, _, _, _, tci, tpid = _AUXDATA.unpack(payload[: _AUXDATA.size])
            if status & TP_STATUS_VLAN_VALID:
                tpid = tpid if status & TP_STATUS_VLAN_TPID_VALID else 0x8100
                return data[:12] + struct.pack("!HH", tpid, tci) + data[12:]
    return data


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
