"""What is done before a switch gets another program (FAN-4), and where it takes none."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import finsy as fy
from finsy.p4client import P4ClientError
from finsy.p4schema import P4ConfigResponseType

from fcn.contract.link_clock import clock_packet
from fcn.contract.names import FLOW_TABLES, LABEL_TABLES, ROUTE_TABLES
from fcn.contract.pipeline import Pipeline
from fcn.controller.clock import Clock
from fcn.controller.node.readback import read
from fcn.controller.owners.punt import Punt

LAST_ROUND = 1.0
"""Seconds in which the last clock packet leaves its queue."""

LEARNED = frozenset(
    name for tables in (FLOW_TABLES, LABEL_TABLES, ROUTE_TABLES) for name in tables.values()
)
"""Tables with what was learned: flows with their labels, and hosts."""

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


def keep_learned(
    switch: fy.Switch, pipeline: Pipeline, keep: Callable[[list[fy.P4TableEntry]], None]
) -> None:
    """From now on `keep` gets what was learned of flows and hosts, from the program that a switch
    had before: another profile has the same tables. Nothing where that has others."""
    set_program = getattr(switch, SET)

    async def read_and_set(**request: Any) -> Any:  # noqa: ANN401
        keep([entry async for entry in _learned(switch, pipeline)])
        return await set_program(**request)

    setattr(switch, SET, read_and_set)


async def _learned(switch: fy.Switch, pipeline: Pipeline) -> AsyncIterator[fy.P4TableEntry]:
    try:
        reply = await getattr(switch, GET)(response_type=P4ConfigResponseType.P4INFO_AND_COOKIE)
    except P4ClientError as error:
        if error.is_pipeline_missing:
            return
        raise
    before = {table.preamble.id: table for table in reply.config.p4info.tables}
    for table in pipeline.schema.p4info.tables:
        same = before.get(table.preamble.id)
        if (
            table.preamble.alias in LEARNED
            and same is not None
            and same.match_fields[:] == table.match_fields[:]
            and same.action_refs[:] == table.action_refs[:]
        ):
            async for entry in read(switch, fy.P4TableEntry(table.preamble.alias)):
                if not (entry.is_default_action or entry.is_const):
                    yield entry


async def _has_program(switch: fy.Switch) -> bool:
    try:
        reply = await getattr(switch, GET)()
    except P4ClientError as error:
        if error.is_pipeline_missing:
            return False
        raise
    return bool(reply.config.HasField("cookie"))
