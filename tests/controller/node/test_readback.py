"""What is read from a switch, which may answer with anything, and as much as it likes."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, cast

import finsy as fy

from fcn.controller.node.readback import read, read_cells
from fcn.controller.pace import TURN

MANY = 10 * TURN


class Talkative:
    """A switch whose answers come in one message."""

    async def read(self, _pattern: object) -> AsyncIterator[fy.P4CounterEntry]:
        for index in range(MANY):
            data = fy.P4CounterData(packet_count=index, byte_count=0)
            yield fy.P4CounterEntry("port_tx", index=index, data=data)


SWITCH = cast(Any, Talkative())


async def test_an_answer_of_any_length_holds_nobody_up() -> None:
    turns, read_in = 0, list[int]()

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    others = asyncio.create_task(other())
    async for _ in read(SWITCH, fy.P4CounterEntry("port_tx")):
        read_in.append(turns)
    others.cancel()
    assert len(read_in) == MANY
    assert max(Counter(read_in).values()) <= TURN


async def test_cells_that_nobody_asked_for_are_not_kept() -> None:
    asked = [("port_tx", 7), ("port_rx", 7)]
    assert await read_cells(SWITCH, asked) == {("port_tx", 7): (7, 0), ("port_rx", 7): (0, 0)}
