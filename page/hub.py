"""Messages to every browser that looks: first those of the last minutes, then the new ones."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict

from fcn.page.model import Flows, Frame, Picture

MINUTES = 5
FRAMES = 60 * MINUTES
LISTS = 60
"""What is kept of frames and lists of flows; a list comes at most every five seconds with a hundred
rows, and sooner only where it is short."""

BEHIND = 64
"""Messages a browser may not have taken yet; one that has more is left, and may come again."""

VIEWERS = 32
"""Browsers that look at the same time. After the last message to one there is None."""


_BEGIN, _KEPT = b"event: begin\ndata: {}\n\n", b"event: kept\ndata: {}\n\n"
"""Before and after what was kept."""


class FullError(Exception):
    """As many look already as can."""


class Hub:
    """Keeps what was said of the last minutes. Its methods belong to one event loop."""

    def __init__(self) -> None:
        self._picture = b""
        self._frames: deque[bytes] = deque(maxlen=FRAMES)
        self._flows: deque[bytes] = deque(maxlen=LISTS)
        self._viewers: set[asyncio.Queue[bytes | None]] = set()

    def draw(self, picture: Picture) -> None:
        """Another network than before: what was kept says nothing of it."""
        self._picture = _message("picture", picture)
        self._frames.clear()
        self._flows.clear()
        self._send(self._picture)

    def show(self, new: Frame | Flows) -> None:
        """Keep it and send it."""
        if isinstance(new, Frame):
            message, kept = _message("frame", new), self._frames
        else:
            message, kept = _message("flows", new), self._flows
        kept.append(message)
        self._send(message)

    def _send(self, message: bytes) -> None:
        for viewer in list(self._viewers):
            if viewer.qsize() >= BEHIND:
                self._viewers.remove(viewer)
                viewer.put_nowait(None)
            else:
                viewer.put_nowait(message)

    def look(self) -> AsyncIterator[bytes]:
        """Server-sent events. Raises FullError."""
        if len(self._viewers) >= VIEWERS:
            raise FullError
        viewer: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._viewers.add(viewer)
        return self._looking(viewer, self.kept())

    def kept(self) -> tuple[bytes, ...]:
        """What one who comes now gets first. Not as one: megabytes would be there once for each."""
        return _BEGIN, self._picture, *self._flows, *self._frames, _KEPT

    async def _looking(
        self, viewer: asyncio.Queue[bytes | None], kept: Iterable[bytes]
    ) -> AsyncIterator[bytes]:
        try:
            for each in kept:
                yield each
            while (message := await viewer.get()) is not None:
                yield message
        finally:
            self._viewers.discard(viewer)

    def close(self) -> None:
        for viewer in self._viewers:
            viewer.put_nowait(None)
        self._viewers.clear()


def _message(name: str, value: Picture | Frame | Flows) -> bytes:
    data = json.dumps(asdict(value), separators=(",", ":"), ensure_ascii=False)
    return f"event: {name}\ndata: {data}\n\n".encode(errors="replace")
