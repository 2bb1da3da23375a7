"""What is done before a switch gets another program: nothing waits or goes round in it any more
(SRF-7, FAN-4), and what was learned of flows and hosts is kept."""

import asyncio
from collections.abc import Callable, Collection

import finsy as fy
from finsy.p4entity import P4Entity
from finsy.proto import p4i

from fcn.contract.link_clock import clock_packet
from fcn.contract.names import FLOW_TABLES, LABEL_TABLES, ROUTE_TABLES
from fcn.contract.pipeline import Pipeline, load_pipeline
from fcn.controller.clock import Clock
from fcn.controller.config.modes import FlowControlMode
from fcn.controller.finsy_adapter import present_program, speaking
from fcn.controller.node.quiet import end_holds
from fcn.controller.node.readback import read
from fcn.controller.owners.punt import Punt

LAST_ROUND = 1.0
"""Seconds in which the last clock packet leaves its queue."""

AHEAD = 1 << 25
"""Seconds by which the clock of a switch may be ahead of the controller's: that was set back, and
the clock was set going with tokens that are higher and higher (MOST_STEP in node/links.py)."""

LEARNED = frozenset(
    name for tables in (FLOW_TABLES, LABEL_TABLES, ROUTE_TABLES) for name in tables.values()
)
"""Tables with what was learned: flows with their labels, and hosts."""

HOLDS = ("flow_control", "hold_budget", "arn_neighbor")
"""Tables that say whether a switch holds traffic, and for whom: the first two without a key."""


async def leave_program(
    switch: fy.Switch, tell: Callable[[str], None], pipeline: Pipeline, clock: Clock
) -> list[fy.P4TableEntry]:
    """End what goes on in a switch that is to get the program `pipeline`; returns what its program
    has learned that the new one can take over. Raises P4ClientError.

    Its program is understood as far as its tables are those of a profile of fcn. BMv2 takes no
    program while a packet goes round, and waits for its end for ever.
    """
    program = await present_program(switch)
    if program is None:
        return []
    everything = load_pipeline(pipeline.name, binary=False)
    known = _shared(everything.schema.p4info, program)
    with speaking(switch, everything.schema):
        learned = [entry for table in LEARNED & known for entry in await _entries(switch, table)]
        if known.issuperset(HOLDS):
            await end_holds(
                switch, tell, everything, FlowControlMode.OFF, await _holds(switch, known)
            )
    if pipeline.target.ports.paces_clock:
        await _stop_clock(switch, pipeline.target.ports.clock, clock)
    return learned


def _shared(ours: p4i.P4Info, theirs: p4i.P4Info) -> frozenset[str]:
    """Names of tables that two programs have alike, with the same numbers."""
    known = {table.preamble.id: table for table in theirs.tables}
    return frozenset(
        table.preamble.alias for table in ours.tables if known.get(table.preamble.id) == table
    )


async def _holds(switch: fy.Switch, known: Collection[str]) -> list[P4Entity]:
    *defaults, neighbors = HOLDS
    held: list[P4Entity] = []
    for table in defaults:
        async for entry in read(switch, fy.P4TableEntry(table, is_default_action=True)):
            entry.is_default_action = True
            held.append(entry)
    for table in (neighbors, "heeded_pauses"):
        held += await _entries(switch, table) if table in known else []
    return held


async def _entries(switch: fy.Switch, table: str) -> list[fy.P4TableEntry]:
    found = [entry async for entry in read(switch, fy.P4TableEntry(table))]
    return [entry for entry in found if not (entry.is_default_action or entry.is_const)]


async def _stop_clock(switch: fy.Switch, clock_port: int, clock: Clock) -> None:
    """clock_port: that of the new program, taken for that of the one before, to which it is a port
    of no use if it has no clock."""
    # Younger than that of any clock; the program that knows this token is left.
    packet = clock_packet(int(clock.wall()) + AHEAD, is_last=True)
    await switch.write([Punt.send(clock_port, packet)])
    await asyncio.sleep(LAST_ROUND)
