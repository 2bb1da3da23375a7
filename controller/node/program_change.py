"""What is done before a switch gets another program (FAN-4), and where it takes none."""

import asyncio
from collections.abc import Callable
from typing import Any

import finsy as fy
from finsy.p4client import P4ClientError

from fcn.contract.link_clock import clock_packet
from fcn.controller.clock import Clock
from fcn.controller.owners.punt import Punt

LAST_ROUND = 1.0
"""Seconds in which the last clock packet leaves its queue."""

SET, GET = "_set_pipeline_config_request", "_get_pipeline_config_request"
"""Methods of finsy's switch, which has no event before it sets a program."""


def stop_clock_before(switch: fy.Switch, clock_port: int, clock: Clock) -> None:
    """From now on stop the clock before the switch gets another program: BMv2 takes none while a
    packet goes round, and waits for its end for ever. clock_port: that of the new program, taken
    for that of the one before, to which it is a port of no use if it has no clock."""
    set_program = getattr(switch, SET)

    async def stop_and_set(**request: Any) -> Any:  # noqa: ANN401
        if await _has_program(switch):
            # Younger than that of any clock, which has the time of its start.
            packet = clock_packet(int(clock.wall()) + 1, is_last=True)
            await switch.write([Punt.send(clock_port, packet)])
            await asyncio.sleep(LAST_ROUND)
        return await set_program(**request)

    setattr(switch, SET, stop_and_set)


def hear_refusal(switch: fy.Switch, refused: Callable[[P4ClientError], None]) -> None:
    """From now on call `refused` with the reason for which the switch did not take its program."""
    set_program = getattr(switch, SET)

    async def set_or_tell(**request: Any) -> Any:  # noqa: ANN401
        try:
            return await set_program(**request)
        except P4ClientError as error:
            refused(error)
            raise

    setattr(switch, SET, set_or_tell)


async def _has_program(switch: fy.Switch) -> bool:
    try:
        reply = await getattr(switch, GET)()
    except P4ClientError as error:
        if error.is_pipeline_missing:
            return False
        raise
    return bool(reply.config.HasField("cookie"))
