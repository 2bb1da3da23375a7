"""Cells of a counter's parts are added up by index."""

from finsy import P4CounterData, P4CounterEntry

from fcn.contract.counters import add_up


def _cell(part: str, index: int, packets: int, octets: int) -> P4CounterEntry:
    data = P4CounterData(packet_count=packets, byte_count=octets)
    return P4CounterEntry(part, index=index, data=data)


def test_parts_are_added_up() -> None:
    cells = [_cell("events", 1, 3, 300), _cell("events", 2, 1, 64), _cell("arrival", 1, 4, 500)]
    assert add_up(cells) == {1: (7, 800), 2: (1, 64)}
    assert add_up([]) == {}
