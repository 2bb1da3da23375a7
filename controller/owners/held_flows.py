"""What a switch holds in the tables of flow_tables.py: entries by the hundred thousand, which are
kept as they came and decoded one at a time. finsy takes ten times as long."""

from array import array
from collections.abc import Callable, Iterator
from typing import NamedTuple

from finsy import P4Schema
from finsy.proto import p4r

from fcn.contract.exact import Encoded, ExactTable, Read
from fcn.contract.names import FLOW_TABLES, LABEL_TABLES
from fcn.controller.config.notation import Address
from fcn.controller.owners.addresses import ipv4, ipv6

_ADDRESS: dict[int, Callable[[int], Address]] = {4: ipv4, 6: ipv6}

_TABLE_ENTRY = 0x12
"""The tag of Entity.table_entry."""

_LABELS = 1 << 20

_Place = tuple[str, int]
"""The table of an entry, and where it is in what the switch said of that."""


class KnownSender(NamedTuple):
    """The queue pair that CNPs for a label go to, of which host, and in whose name; `note` was
    stored with the entry."""

    vrf: int
    cnp_source: int
    host: int
    source_qp: int
    p_key: int
    note: str


class LabelledFlow(NamedTuple):
    """A flow with its label; `vrf` is the VRF ID, `idle_timeout` in microseconds (0: never)."""

    vrf: int
    src: Address
    dst: Address
    dest_qp: int
    label: int
    idle_timeout: int
    watched: bool


class Held(NamedTuple):
    """What a switch holds of a flow and its sender, or an entry of neither."""

    flow: LabelledFlow | None
    sender: KnownSender | None
    places: tuple[_Place, ...]


class HeldFlows:
    """Flows of one switch."""

    def __init__(self, schema: P4Schema) -> None:
        self._tables = {
            name: ExactTable.of(schema, name)
            for name in (*LABEL_TABLES.values(), *FLOW_TABLES.values())
            if schema.tables.get(name) is not None
        }
        self._octets = {name: bytearray() for name in self._tables}
        """Of each table a ReadResponse."""
        self._places = {name: array("I") for name in LABEL_TABLES.values()}
        """By label where its entry is; none is at 0, where the response begins."""

    @property
    def names(self) -> list[str]:
        return list(self._tables)

    def add(self, table: str, response: bytes) -> None:
        """Entries of a table, as a ReadResponse."""
        exact, octets, places = self._tables[table], self._octets[table], self._places.get(table)
        begin = len(octets)
        octets += response
        if places is not None:
            if not places:
                places.frombytes(bytes(_LABELS * places.itemsize))
            for at in _entries(octets, begin):
                label = exact.first(octets, *_span(octets, at))
                if label is None and (read := self._read((table, at))) is not None:
                    label = read.match[0]
                if label is not None:
                    places[label % _LABELS] = at

    def entries(self, held: Held) -> Iterator[Encoded]:
        """As the intent compares them."""
        for place in held.places:
            if (read := self._read(place)) is not None:
                yield self._tables[place[0]].entry(*read)

    def __iter__(self) -> Iterator[Held]:
        """Flows with their senders, then what is left."""
        for version in _ADDRESS:
            if FLOW_TABLES[version] in self._tables:
                yield from self._of(version, FLOW_TABLES[version], LABEL_TABLES[version])

    def _of(self, version: int, table: str, labels: str) -> Iterator[Held]:
        address, senders = _ADDRESS[version], self._places[labels]
        for place in ((table, at) for at in _entries(self._octets[table])):
            if (read := self._read(place)) is None:
                continue
            (vrf, src, dst, dest_qp), action, (label,), idle, _ = read
            ends = vrf, address(src), address(dst), dest_qp
            flow = LabelledFlow(*ends, label, idle // 1000, "watched" in action)
            of_label = labels, senders[label % _LABELS] if senders else 0
            named = self._read(of_label) if of_label[1] else None
            sender = _sender(named)
            # Where writing was cut off, the label may be of a later flow already.
            if named is not None and (sender is None or sender.host == src):
                senders[label % _LABELS] = 0
                yield Held(flow, sender, (place, of_label))
            else:
                yield Held(flow, None, (place,))
        for at in filter(None, senders):
            if self._read((labels, at)) is not None:
                yield Held(None, None, ((labels, at),))

    def _read(self, place: _Place) -> Read | None:
        """An entry; None where it is of the program."""
        table, at = place
        exact, octets = self._tables[table], self._octets[table]
        start, end = _span(octets, at)
        read = exact.decode(octets, start, end)
        return read or exact.read(p4r.TableEntry.FromString(bytes(octets[start:end])))


def _sender(read: Read | None) -> KnownSender | None:
    if read is None or not read.arguments:
        return None
    # The CNP goes to the flow's source, which is therefore the action's destination.
    vrf, source, host, source_qp, p_key = read.arguments
    note = read.metadata.decode(errors="replace")
    return KnownSender(vrf, source, host, source_qp, p_key, note)


def _entries(response: bytearray, end: int = 0) -> Iterator[int]:
    """Where the entities of a ReadResponse are that are entries of tables, from a place on."""
    while end < len(response):
        start, end = _span(response, end)
        if response[start] == _TABLE_ENTRY:
            yield start


def _span(octets: bytearray, at: int) -> tuple[int, int]:
    """Where the content of a message, whose tag is here, begins and ends."""
    at += 1
    size = octets[at]
    shift = 7
    while octets[at] >= 0x80:
        at += 1
        size = size - (1 << shift) | octets[at] << shift
        shift += 7
    return at + 1, at + 1 + size
