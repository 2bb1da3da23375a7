"""Counters of the loaded program."""

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


def read_counter(client: Reader, counter: str) -> dict[int, tuple[int, int]]:
    """(packets, octets) by index; empty when the program has no such counter."""
    if counter not in client.pipeline.counters:
        return {}
    cells = client.read(fy.P4CounterEntry(counter))
    return {cell.index: (cell.packet_count, cell.byte_count) for cell in cells}
