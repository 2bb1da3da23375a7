"""Time-outs that end only while this process runs: on a busy or paused machine what others said may
be there, and not read yet."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

LOOKS = 10
"""At the clock, in the time of a wait."""


@asynccontextmanager
async def patience(seconds: float) -> AsyncIterator[None]:
    """As asyncio.timeout; but a time in which this process stands still counts as one look, and
    what came meanwhile is read before the next. Raises TimeoutError."""
    loop, left = asyncio.get_running_loop(), LOOKS
    timer: asyncio.TimerHandle | None = None
    async with asyncio.timeout(None) as limit:

        def look() -> None:
            nonlocal left, timer
            if not left:
                limit.reschedule(loop.time())
                return
            left -= 1
            timer = loop.call_later(seconds / LOOKS, look)

        look()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
