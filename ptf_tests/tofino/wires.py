"""Network interfaces as ports: frames in and out, each port with a thread that receives."""

import select
import socket
import struct
import threading
from collections.abc import Callable, Mapping

from fcn.softswitch.api import EngineError

_EVERY_PROTOCOL = 0x0003
_PACKET, _AUXILIARY, _IGNORE_OUTGOING = 263, 8, 23
_AUXILIARY_DATA = struct.Struct("=IIIHHHH")
_VLAN, _VLAN_TYPE = 1 << 4, 1 << 6
_ADDRESSES = 12
_LARGEST = 65536
_WAIT_S = 0.2
"""After which a thread looks whether it should end."""


class Wires:
    """The interfaces of a switch. `received`: port and frame, from the port's thread."""

    def __init__(
        self, interfaces: Mapping[int, str], received: Callable[[int, bytes], None]
    ) -> None:
        self._received = received
        self._ended = threading.Event()
        self._sockets = {port: _open(port, name) for port, name in interfaces.items()}
        self._threads = [
            threading.Thread(target=self._listen, args=(port,), daemon=True) for port in interfaces
        ]
        for thread in self._threads:
            thread.start()

    def send(self, port: int, frame: bytes) -> None:
        """Send a frame out of a port; one without an interface is lost, as on a cable that ends."""
        wire = self._sockets.get(port)
        if wire is not None and len(frame) > _ADDRESSES:
            wire.send(frame)

    def close(self) -> None:
        """Let go of the interfaces."""
        self._ended.set()
        for thread in self._threads:
            thread.join()
        for each in self._sockets.values():
            each.close()

    def _listen(self, port: int) -> None:
        wire = self._sockets[port]
        while not self._ended.is_set():
            if select.select([wire], [], [], _WAIT_S)[0]:
                data, auxiliary, _, _ = wire.recvmsg(_LARGEST, socket.CMSG_SPACE(64))
                self._received(port, _with_tag(data, auxiliary))


def _open(port: int, name: str) -> socket.socket:
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERY_PROTOCOL))
    try:
        wire.setsockopt(_PACKET, _AUXILIARY, 1)
        wire.setsockopt(_PACKET, _IGNORE_OUTGOING, 1)
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        wire.bind((name, 0))
    except OSError as error:
        wire.close()
        raise EngineError(f"port {port} ({name}): {error.strerror}") from error
    return wire


def _with_tag(data: bytes, auxiliary: list[tuple[int, int, bytes]]) -> bytes:
    """The kernel takes a VLAN tag out of a frame and says it beside."""
    for level, kind, content in auxiliary:
        if (level, kind) == (_PACKET, _AUXILIARY) and len(content) >= _AUXILIARY_DATA.size:
            status, _, _, _, _, tag, ether_type = _AUXILIARY_DATA.unpack_from(content)
            if status & _VLAN:
                kind_of_tag = ether_type if status & _VLAN_TYPE else 0x8100
                return data[:12] + struct.pack("!HH", kind_of_tag, tag) + data[12:]
    return data
