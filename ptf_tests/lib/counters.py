"""Counters of the loaded program."""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

import finsy as fy
from finsy.p4entity import P4EntityList

from fcn.contract.pipeline import Pipeline


class Reader(Protocol):
    """The part of P4RuntimeClient used here."""

    @property
    def pipeline(self) -> Pipeline:
        """The program loaded last."""

    def read(self, *entities: P4EntityList) -> list[Any]:
        """Read entities."""


Cells = dict[int, tuple[int, int]]
"""(packets, octets) by index."""


def read_counter(client: Reader, counter: str, *indexes: int) -> Cells:
    """These cells of a counter; none when the program has no such counter."""
    return read_counters(client, {counter: indexes})[counter]


def read_counters(client: Reader, cells: Mapping[str, Collection[int]]) -> dict[str, Cells]:
    """Cells of several counters, by one request."""
    found: dict[str, Cells] = {counter: {} for counter in cells}
    asked = [
        fy.P4CounterEntry(counter, index=index)
        for counter, indexes in cells.items()
        if counter in client.pipeline.counters
        for index in indexes
    ]
    for cell in client.read(*asked) if asked else ():
        found[cell.counter_id][cell.index] = cell.packet_count, cell.byte_count
    return found
