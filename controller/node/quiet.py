"""Lets what waits at a switch leave before its mode of flow control changes, or PAUSE frames of a
port are heeded no more: new packets of the same flow would not wait, and would overtake (SRF-7,
SRF-9)."""

import asyncio
from collections.abc import Callable, Container

import finsy as fy
from finsy.p4entity import P4Entity

from fcn.contract.names import named_cells
from fcn.contract.pipeline import Pipeline
from fcn.controller.config.modes import FlowControlMode
from fcn.controller.node.readback import read
from fcn.controller.owners.flow_control import FlowControl

POLL = 0.05
"""Seconds."""
POLLS = 200
"""How often it is looked whether all has left. What a switch has lost never does."""


async def end_holds(
    switch: fy.Switch,
    tell: Callable[[str], None],
    pipeline: Pipeline,
    mode: FlowControlMode,
    held: list[P4Entity],
    heeded: Container[int] = (),
) -> list[P4Entity]:
    """Where the switch has another mode than the one it is to get, obey no neighbour and no PAUSE
    frame any more, otherwise none of ports that are not among the ones `heeded` from now on; wait
    until the longest hold is over and all that waited has left. held: what the switch holds; tell
    gets why it waits; returns what it holds afterwards. Raises P4ClientError.
    """
    running = FlowControl.running_in(held, pipeline)
    if running is None:
        return held
    neighbors, pauses = running.neighbors, running.pauses
    if running.mode is mode:
        neighbors = []
        pauses = [each for each in pauses if FlowControl.paused_port(each) not in heeded]
        if not pauses:
            return held
    tell("what neighbours and data centres have stopped leaves, then flow control changes")
    await switch.delete(neighbors)
    quiet = [FlowControl.without_pauses(entry) for entry in pauses]
    await switch.modify(quiet)
    await asyncio.sleep(running.longest_s)
    for _ in range(POLLS):
        if not await _waiting(switch):
            break
        await asyncio.sleep(POLL)
    gone = [*neighbors, *pauses]
    return [*(entity for entity in held if entity not in gone), *quiet]


async def _waiting(switch: fy.Switch) -> int:
    cells = named_cells("holds")
    counts = {
        cells.get(cell.index or 0, ""): cell.packet_count
        async for cell in read(switch, fy.P4CounterEntry("holds"))
    }
    left = counts.get("HOLD_LEFT", 0) + counts.get("HOLD_SKIPPED", 0)
    return max(0, counts.get("HOLD_PARKED", 0) - left)
