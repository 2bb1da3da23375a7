"""The sending half of a StreamChannel: bounded, so that a slow client delays no other."""

import asyncio
from collections import deque

from finsy.proto import p4r

STREAM_QUEUE, STREAM_OCTETS = 2048, 1 << 24
"""Messages that wait for a client at most, and their octets: an error quotes what caused it, of any
size."""
_STANDINGS = 64
"""Arbitration updates that wait for a client; of more, the oldest say what is no longer so."""


class ClientStream:
    """Messages waiting for one client; runs on the event loop."""

    def __init__(self, limit: int = STREAM_QUEUE, octets: int = STREAM_OCTETS) -> None:
        self._limit = limit
        self._room = octets
        self._queue: deque[p4r.StreamMessageResponse] = deque()
        self._ready = asyncio.Event()
        self._standings = 0
        self._closed = False

    def send(self, message: p4r.StreamMessageResponse) -> None:
        """Queue an arbitration update, of which the newest must not be lost."""
        self._append(message)
        self._standings += 1
        if self._standings > _STANDINGS:
            kinds = (waiting.WhichOneof("update") for waiting in self._queue)
            del self._queue[list(kinds).index("arbitration")]
            self._standings -= 1

    def offer(self, message: p4r.StreamMessageResponse) -> bool:
        """Queue a notification; False when the queue is full."""
        size = message.ByteSize()
        if len(self._queue) >= self._limit or size > self._room:
            return False
        self._room -= size
        self._append(message)
        return True

    def close(self) -> None:
        """End next() after the last queued message."""
        self._closed = True
        self._ready.set()

    async def next(self) -> p4r.StreamMessageResponse | None:
        """The next message to put on the wire; None after close()."""
        while not self._queue:
            if self._closed:
                return None
            self._ready.clear()
            await self._ready.wait()
        message = self._queue.popleft()
        if message.WhichOneof("update") == "arbitration":
            self._standings -= 1
        else:
            self._room += message.ByteSize()
        return message

    def _append(self, message: p4r.StreamMessageResponse) -> None:
        self._queue.append(message)
        self._ready.set()
