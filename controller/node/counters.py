"""Polls the counters of one switch: in one request, for all who need them."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from finsy.proto import p4r

from fcn.contract.names import COUNTERS, PORT_COUNTERS, VRF_COUNTERS, named_cells
from fcn.controller.clock import Clock
from fcn.controller.finsy_adapter import read_encoded
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.neighbors.service import Refused
from fcn.controller.node.connection import Connection
from fcn.controller.node.readback import read_cells
from fcn.controller.node.session import SwitchAwayError, answering
from fcn.controller.owners.rate_limits import UNDERLAY, cell_of
from fcn.controller.pace import Pace
from fcn.controller.provision.provision import Provision

INTERVAL = 1.0
"""Seconds between two polls."""

Count = tuple[int, int]
"""Packets, octets."""

Cell = tuple[str, int]
"""Counter and index."""

Cells = Mapping[Cell, Count]

CounterValues = Mapping[str, Mapping[str, Count]]
"""By counter and name."""


@dataclass(frozen=True, slots=True)
class FlowCounts:
    """What one PE counted: packets and octets of each flow, notifications for each label."""

    flows: dict[FlowKey, Count]
    notifications: dict[int, int]


class CounterUser(ABC):
    """Who needs cells of counters, always the same ones."""

    @abstractmethod
    def cells(self) -> Iterator[Cell]:
        """Which, in the order in which they are to be read."""

    @abstractmethod
    async def see(self, counts: Cells) -> None:
        """Take in what was read, cells of others among it. Raises SwitchAwayError."""

    def start_anew(self) -> None:  # noqa: B027 - not all keep something
        """The switch was started again, and counts from zero."""


class GrowthUser(CounterUser):
    """Who is told by how many packets cells have grown, by their names in `names`."""

    def __init__(self, names: Mapping[Cell, str]) -> None:
        self._names = names
        self._last: dict[str, int] = {}

    @abstractmethod
    def grew(self, packets: dict[str, int]) -> None:
        """Since the last time; those that have not are left out."""

    def cells(self) -> Iterator[Cell]:
        yield from self._names

    def start_anew(self) -> None:
        """What is counted next is no news."""
        self._last.clear()

    async def see(self, counts: Cells) -> None:
        """The first time is no news."""
        now = {name: counts[cell][0] for cell, name in self._names.items()}
        last, self._last = self._last, now
        if grown := {name: now[name] - last[name] for name in last if now[name] > last[name]}:
            self.grew(grown)


class Counters(CounterUser):
    """The poller of one switch. `last` holds the values last read, by the names of the contract;
    empty while nobody knows them. It is replaced, never modified. `read_at`: when that was, by the
    clock that never goes back."""

    def __init__(self, provision: Provision, connection: Connection, clock: Clock) -> None:
        self.last: CounterValues = {}
        self.read_at = 0.0
        self._clock = clock
        self._connection = connection
        self._names = _members(provision)
        self._provision = provision
        self._users: list[CounterUser] = [self]
        self._counts: dict[Cell, Count] = {}
        self._polling, self._reading_flows = asyncio.Lock(), asyncio.Lock()

    def register(self, *users: CounterUser) -> None:
        """Let these see their cells with each poll."""
        self._users += users

    async def run(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL)
            try:
                await self.poll()
            except SwitchAwayError:
                self.last = {}

    async def poll(self, *users: CounterUser) -> None:
        """Read what these users need now, or all. Raises SwitchAwayError."""
        chosen = users or tuple(self._users)
        # One after the other: an answer that is overtaken would look as if counts had fallen.
        async with self._polling:
            self._check_up()
            with answering(self._connection.name):
                cells = (cell for user in chosen for cell in user.cells())
                counts = await read_cells(self._connection.switch, cells)
            if any(count < self._counts.get(cell, count) for cell, count in counts.items()):
                self._counts.clear()
                for user in self._users:
                    user.start_anew()
            self._counts |= counts
            for user in chosen:
                await user.see(counts)

    async def read(self) -> CounterValues:
        """Packets and octets now, by counter and cell name. Cells have the names the contract gives
        them, ports those of the configuration. Raises SwitchAwayError."""
        await self.poll(self)
        return self.last

    def refused(self, vrf: str) -> Refused:
        """What was kept from the controller of a VRF, or of the underlay (""), when it was counted
        last."""
        counts = self.last.get("vrf_refused", {})
        packets, _ = counts.get(_vrf_cell(vrf), (0, 0))
        return Refused(packets, self.read_at)

    def cells(self) -> Iterator[Cell]:
        """Those with names, in the order of the contract."""
        for counter, names in self._names.items():
            yield from ((counter, index) for index in names.values())

    async def see(self, counts: Cells) -> None:
        """Keep them by their names."""
        self.read_at = self._clock.monotonic()
        self.last = {
            counter: {name: counts[counter, index] for name, index in names.items()}
            for counter, names in self._names.items()
        }

    async def of_flows(self, flows: Iterable[Flow]) -> FlowCounts:
        """What was counted for these flows since each was labelled. Raises SwitchAwayError."""
        counts, of_labels = FlowCounts({}, {}), self._provision.flow_by_label
        keys, labels = dict[_Place, FlowKey](), dict[_Place, int]()
        patterns = list[p4r.Entity]()
        for flow in flows:
            key = flow.key
            ends = self._provision.vrf_id(key.vrf), key.src, key.dst, key.dest_qp
            patterns.append(self._provision.flow_table.counted(*ends))
            keys[_place(patterns[-1].table_entry)] = key
            patterns.append(of_labels.counted(flow.label, key.src.version))
            labels[_place(patterns[-1].table_entry)] = flow.label
        pace = Pace()
        # One after the other: a write then waits for one of them, however many ask.
        async with self._reading_flows:
            self._check_up()
            with answering(self._connection.name):
                async for response in read_encoded(self._connection.switch, patterns):
                    for entity in p4r.ReadResponse.FromString(response).entities:
                        await pace.step()
                        entry = entity.table_entry
                        place, data = _place(entry), entry.counter_data
                        if place in keys:
                            counts.flows[keys[place]] = data.packet_count, data.byte_count
                        elif place in labels:
                            counts.notifications[labels[place]] = data.packet_count
        return counts

    def _check_up(self) -> None:
        connection = self._connection
        if not connection.is_up:
            state = connection.status.state
            raise SwitchAwayError(f"{connection.name} is {state}; its counters cannot be read")


_Place = tuple[int, tuple[tuple[int, bytes], ...]]


def _place(entry: p4r.TableEntry) -> _Place:
    """Where an entry is: its table and key, which a switch may pad with zeros."""
    fields = ((part.field_id, part.exact.value.lstrip(b"\0")) for part in entry.match)
    return entry.table_id, tuple(sorted(fields))


def _vrf_cell(vrf: str) -> str:
    """Name of the cell of a VRF, or of the underlay ("")."""
    return f"vrf {vrf}" if vrf else "underlay"


def _members(provision: Provision) -> dict[str, dict[str, int]]:
    """Indexes of the cells of each counter the program has, by cell name."""
    ports = {f"port {port.number}": port.number for port in provision.node.ports}
    vrfs = {_vrf_cell(name): cell_of(provision.vrf_id(name)) for name in provision.node.vrfs}
    names = dict.fromkeys(PORT_COUNTERS, ports)
    names |= dict.fromkeys(VRF_COUNTERS, {_vrf_cell(""): UNDERLAY} | vrfs)
    for counter in COUNTERS:
        names[counter] = {name: index for index, name in named_cells(counter).items()}
    return {counter: names[counter] for counter in names if counter in provision.pipeline.counters}
