"""Paths of which a switch knows what is no longer true, because the file has changed (FAN-4).

The registers keep what was said of a path by bits of who said it, where its policy had its place
then. A path that has another place now, or whose reporters have other bits, would inherit what was
said of others, and whoever said it may not be heard any more to end it. What a PE says itself of
the first link of a path, or of its queue, is ended by nobody once it does not watch that.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import finsy as fy

from fcn.contract.paths import NOTHING_SAID, path_report
from fcn.controller.config.paths import Plan
from fcn.controller.config.reporters import Reporter, node_number
from fcn.controller.node.connection import Connection
from fcn.controller.owners.punt import Punt


def outdated(
    held: Sequence[fy.P4TableEntry],
    plans: Iterable[Plan],
    reporters: Mapping[int, Iterable[Reporter]],
    own: Mapping[int, int],
    queues: Mapping[int, int],
) -> list[int]:
    """IDs of the paths of which the switch has to forget everything. held: its entries; a switch
    with none but defaults is a new one, and knows nothing. own, queues: the ports of first links
    that it watches, and of their queues, by path."""
    places = {
        path.number: (plan.cell, slot) for plan in plans for slot, path in enumerate(plan.paths)
    }
    bits = {
        (number, node_number(each.node), each.port, each.bit)
        for number, found in reporters.items()
        for each in found
    }
    kept = {
        match["path_id"]: (args["number"], args["path_slot"])
        for match, args in _entries(held, "path_by_id")
    }
    moved = {
        match["path_id"]
        for match, args in _entries(held, "path_reporter")
        if (match["path_id"], match["node"], match["link"], args["bit_of_path"]) not in bits
    }
    for _, args in _entries(held, "clock_slot"):
        number = args.get("path_id")
        watched = queues if "relief" in args else own
        if isinstance(number, int) and watched.get(number) != args["port"]:
            moved.add(number)
    if all(entry.is_default_action for entry in held):
        return []
    return [
        number for number, place in places.items() if kept.get(number) != place or number in moved
    ]


async def forget(connection: Connection, cpu: int, numbers: Iterable[int]) -> None:
    """Let the switch forget what was said of these paths. Raises P4ClientError."""
    for number in numbers:
        for report in NOTHING_SAID:
            await connection.send(Punt.send(cpu, path_report(number, report)))


def _entries(
    held: Iterable[fy.P4TableEntry], table: str
) -> Iterator[tuple[Mapping[str, object], Mapping[str, object]]]:
    """Match and parameters of the entries of a table."""
    for entry in held:
        if entry.table_id == table and isinstance(entry.action, fy.P4TableAction):
            yield entry.match or {}, entry.action.args
