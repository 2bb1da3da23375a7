"""Counters of the loaded program."""

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Protocol

import finsy as fy
from finsy.p4entity import encode_entities
from finsy.proto import p4r

from fcn.contract.pipeline import Pipeline


class Reader(Protocol):
    """The part of P4RuntimeClient used here."""

    @property
    def pipeline(self) -> Pipeline:
        """The program loaded last."""

    def read_encoded(self, entities: Iterable[p4r.Entity]) -> list[p4r.Entity]:
        """Read entities."""


Cells = dict[int, tuple[int, int]]
"""(packets, octets) by index."""


def read_counter(client: Reader, counter: str, *indexes: int) -> Cells:
    """These cells of a counter; none when the program has no such counter."""
    return read_counters(client, {counter: indexes})[counter]


def read_counters(client: Reader, cells: Mapping[str, Collection[int]]) -> dict[str, Cells]:
    """Cells of several counters, by one request."""
    asked = tuple((counter, tuple(indexes)) for counter, indexes in cells.items())
    names, patterns = _patterns(client.pipeline, asked)
    found: dict[str, Cells] = {counter: {} for counter in cells}
    for entity in client.read_encoded(patterns) if patterns else ():
        cell = entity.counter_entry
        counts = cell.data.packet_count, cell.data.byte_count
        found[names[cell.counter_id]][cell.index.index] = counts
    return found


@lru_cache
def _patterns(
    pipeline: Pipeline, cells: tuple[tuple[str, tuple[int, ...]], ...]
) -> tuple[dict[int, str], list[p4r.Entity]]:
    """Names of the counters the program has, and what asks for their cells: every test asks for
    the same hundred again and again."""
    known = [name for name, _ in cells if name in pipeline.counters]
    names = {pipeline.schema.counters[name].id: name for name in known}
    asked = [
        fy.P4CounterEntry(counter, index=index)
        for counter, indexes in cells
        if counter in known
        for index in indexes
    ]
    return names, encode_entities(asked, pipeline.schema)
