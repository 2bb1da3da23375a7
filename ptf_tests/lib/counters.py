"""Counters of the contract, read from whatever counters the loaded program has for them."""

from typing import Any, Protocol

import finsy as fy
from finsy.p4entity import P4EntityList

from fcn.contract.counters import add_up
from fcn.contract.pipeline import Pipeline


class Reader(Protocol):
    """What a P4RuntimeClient offers for this."""

    @property
    def pipeline(self) -> Pipeline:
        """The program loaded last."""

    def read(self, *entities: P4EntityList) -> list[Any]:
        """Read entities."""


def read_counter(client: Reader, counter: str) -> dict[int, tuple[int, int]]:
    """(packets, octets) by index; empty when the program has no such counter."""
    parts = client.pipeline.counter_parts(counter)
    return add_up(cell for part in parts for cell in client.read(fy.P4CounterEntry(part)))
