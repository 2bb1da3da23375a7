"""The kernel's time of arrival of what a socket receives: it does not depend on when a process is
scheduled that reads it."""

import socket
import struct
from collections.abc import Callable, Iterator

NS_PER_S = 1_000_000_000

_SO_TIMESTAMPNS = 35  # asm-generic/socket.h; Python has no name for it
_TIMESPEC = struct.Struct("qq")


def stamp_arrivals(sock: socket.socket) -> None:
    """Let the kernel stamp what arrives from now on."""
    sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)


def arrivals(
    sock: socket.socket, size: int, ending: Callable[[], bool]
) -> Iterator[tuple[bytes, int]]:
    """The first `size` octets of each packet and its arrival, wall-clock time in nanoseconds, until
    it is ending and no packet is left: so the last ones are counted. The socket has a timeout."""
    while True:
        try:
            data, ancillary, _, _ = sock.recvmsg(size, socket.CMSG_SPACE(_TIMESPEC.size))
        except TimeoutError:
            if ending():
                return
            continue
        seconds, nanoseconds = _TIMESPEC.unpack(ancillary[0][2])
        yield data, seconds * NS_PER_S + nanoseconds
