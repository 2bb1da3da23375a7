"""Polls the counters of one switch: in one request, for all who need them."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

from fcn.contract.names import COUNTERS, PORT_COUNTERS, VRF_COUNTERS, named_cells
from fcn.controller.clock import Clock
from fcn.controller.config.addressing import vrf_names
from fcn.controller.flows.key import FlowKey
from fcn.controller.node.connection import Connection
from fcn.controller.node.readback import flow_key, read, read_cells
from fcn.controller.node.session import SwitchAwayError, answering
from fcn.controller.owners.flow_tables import FlowByLabel, FlowTable
from fcn.controller.owners.rate_limits import UNDERLAY, cell_of
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
        self._vrf_names = vrf_names(provision.config)
        self._is_pe = provision.is_pe
        self._users: list[CounterUser] = [self]
        self._counts: dict[Cell, Count] = {}
        self._polling = asyncio.Lock()

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

    async def of_flows(self) -> dict[FlowKey, Count]:
        """(packets, octets) of each labelled flow since it was labelled. Raises SwitchAwayError."""
        self._check_up()
        counts: dict[FlowKey, Count] = {}
        with answering(self._connection.name):
            for pattern in FlowTable.counted() if self._is_pe else ():
                async for entry in read(self._connection.switch, pattern):
                    match, count = FlowTable.count_of(entry) or (None, (0, 0))
                    key = flow_key(match, self._vrf_names)
                    if key is not None:
                        counts[key] = count
        return counts

    async def of_labels(self) -> dict[int, int]:
        """Notifications that came for each label since it is in use. Raises SwitchAwayError."""
        self._check_up()
        hits: dict[int, int] = {}
        with answering(self._connection.name):
            for pattern in FlowByLabel.counted() if self._is_pe else ():
                async for entry in read(self._connection.switch, pattern):
                    hits |= FlowByLabel.hits_of(entry)
        return hits

    def _check_up(self) -> None:
        connection = self._connection
        if not connection.is_up:
            state = connection.status.state
            raise SwitchAwayError(f"{connection.name} is {state}; its counters cannot be read")


def _members(provision: Provision) -> dict[str, dict[str, int]]:
    """Indexes of the cells of each counter the program has, by cell name."""
    ports = {f"port {port.number}": port.number for port in provision.node.ports}
    vrfs = {f"vrf {name}": cell_of(provision.vrf_id(name)) for name in provision.node.vrfs}
    names = dict.fromkeys(PORT_COUNTERS, ports)
    names |= dict.fromkeys(VRF_COUNTERS, {"underlay": UNDERLAY} | vrfs)
    for counter in COUNTERS:
        names[counter] = {name: index for index, name in named_cells(counter).items()}
    return {counter: names[counter] for counter in names if counter in provision.pipeline.counters}
