"""Counters as the contract has them: on some targets the sum of several of the program's."""

from collections.abc import Iterable

from finsy import P4CounterEntry


def add_up(cells: Iterable[P4CounterEntry]) -> dict[int, tuple[int, int]]:
    """(packets, octets) by index, of the cells of all parts of a counter."""
    totals: dict[int, tuple[int, int]] = {}
    for cell in cells:
        if cell.index is not None:
            packets, octets = totals.get(cell.index, (0, 0))
            totals[cell.index] = packets + cell.packet_count, octets + cell.byte_count
    return totals
