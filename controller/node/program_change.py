"""What is done before a switch gets another program (FAN-4)."""

import asyncio

import finsy as fy

from fcn.contract.link_clock import clock_packet
from fcn.controller.clock import Clock
from fcn.controller.finsy_adapter import has_program
from fcn.controller.owners.punt import Punt

LAST_ROUND = 1.0
"""Seconds in which the last clock packet leaves its queue."""


async def stop_clock(switch: fy.Switch, clock_port: int, clock: Clock) -> None:
    """Stop the clock of a switch that is to get another program: BMv2 takes none while a packet
    goes round, and waits for its end for ever. clock_port: that of the new program, taken for that
    of the one before, to which it is a port of no use if it has no clock. Raises P4ClientError."""
    if await has_program(switch):
        # Younger than that of any clock, which has the time of its start.
        packet = clock_packet(int(clock.wall()) + 1, is_last=True)
        await switch.write([Punt.send(clock_port, packet)])
        await asyncio.sleep(LAST_ROUND)
