"""Long work in the event loop, a piece at a time: whoever else waits has a turn in between."""

import asyncio

TURN = 64
"""Steps in one turn of the event loop; of flows or entries, some milliseconds."""


class Pace:
    """Counts the steps of a piece of work."""

    def __init__(self) -> None:
        self._steps = 0

    async def step(self) -> None:
        self._steps += 1
        if self._steps % TURN == 0:
            await asyncio.sleep(0)
