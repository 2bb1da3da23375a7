"""Which user of this machine makes a call: gRPC does not tell it of a Unix socket, the kernel does.

Beside the socket of the API is one where a client gets a word that only it knows; while that
connection is open, calls with the word are those of the user at its other end.
"""

import asyncio
import os
import pwd
import secrets
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

KEY = "fcn-user"
"""Of the metadata of a call."""

SUFFIX = ".user"
"""Of the socket's name, behind that of the API."""

AT_ONCE = 1024
"""Words that are known at a time; whoever comes then makes calls without a name."""

TIMEOUT = 5.0
"""Seconds a client waits for its word."""

_CREDENTIALS = struct.Struct("3i")


class LocalUsers:
    def __init__(self) -> None:
        self._users: dict[str, str] = {}

    def of(self, word: str | bytes) -> str:
        """The user with this word, empty where nobody has it."""
        return self._users.get(word, "") if isinstance(word, str) else ""

    @asynccontextmanager
    async def listening(self, path: str, mode: int, group: int) -> AsyncIterator[None]:
        """Give out words meanwhile; `group` -1: that of this user. Raises OSError."""
        before = os.umask(0o177)
        try:
            server = await asyncio.start_unix_server(self._greet, path, limit=1)
        finally:
            os.umask(before)
        os.chown(path, -1, group)
        os.chmod(path, mode)
        try:
            yield
        finally:
            server.close()

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        own: socket.socket = writer.get_extra_info("socket")
        said = own.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        _, uid, _ = _CREDENTIALS.unpack(said)
        word = secrets.token_hex(16)
        try:
            if len(self._users) < AT_ONCE:
                self._users[word] = _name(uid)
                writer.write(word.encode())
                # Nothing more is said: it ends when the client does.
                await reader.read(1)
        except OSError:
            return
        finally:
            self._users.pop(word, None)
            writer.close()


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


@contextmanager
def word_for(path: str) -> Iterator[tuple[tuple[str, str], ...]]:
    """The metadata of calls to the API at this socket; none where it gives out no words."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(TIMEOUT)
        try:
            asking.connect(path + SUFFIX)
            word = asking.recv(64).decode("ascii", errors="replace")
        except OSError:
            word = ""
        yield ((KEY, word),) if word.isalnum() else ()
