"""Reads the counters of one switch and keeps the values last read."""

from collections.abc import Collection, Mapping

import finsy as fy

from fcn.contract.names import COUNTERS, PORT_COUNTERS, VRF_COUNTERS, named_cells
from fcn.controller.config.addressing import vrf_names
from fcn.controller.flows.key import FlowKey
from fcn.controller.node.connection import Connection
from fcn.controller.node.provision import Provision
from fcn.controller.node.readback import flow_key, read
from fcn.controller.node.session import SwitchAwayError, answering
from fcn.controller.owners.flow_tables import FlowTable
from fcn.controller.owners.rate_limits import UNDERLAY, cell_of

Count = tuple[int, int]
"""Packets, octets."""

CounterValues = Mapping[str, Mapping[str, Count]]
"""By counter and name."""


class Counters:
    """Reads one switch's counters. `last` holds the values last read; it is replaced, never
    modified."""

    def __init__(self, provision: Provision, connection: Connection) -> None:
        self.last: CounterValues = {}
        self._pipeline = provision.pipeline
        self._connection = connection
        self._names = _members(provision)
        self._vrf_names = vrf_names(provision.config)
        self._is_pe = provision.is_pe

    async def read(self, wanted: Collection[str] | None = None) -> CounterValues:
        """Read all counters, or the `wanted` ones: (packets, octets) by counter and cell name.

        Cells have the names the contract gives them, ports those of the configuration.
        Raises SwitchAwayError.
        """
        self._check_up()
        values: dict[str, dict[str, Count]] = {}
        # In the order of the contract: what is recorded must not follow Python's hash seed.
        for counter in self._names:
            if wanted and counter not in wanted:
                continue
            with answering(self._connection.name):
                by_index = {
                    cell.index: (cell.packet_count, cell.byte_count)
                    async for cell in read(self._connection.switch, fy.P4CounterEntry(counter))
                }
            values[counter] = {
                name: by_index.get(index, (0, 0)) for name, index in self._names[counter].items()
            }
        self.last = {**self.last, **values}
        return values

    async def of_flows(self) -> dict[FlowKey, Count]:
        """(packets, octets) of each labelled flow since it was labelled. Raises P4ClientError."""
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
