"""The counters of one switch, read on demand and kept as last read."""

from collections.abc import Collection, Mapping

import finsy as fy

from fcn.contract.constants import PipelineError
from fcn.contract.pipeline import FLOW_TABLES, Pipeline
from fcn.controller.config.addressing import vrf_names
from fcn.controller.config.model import Node
from fcn.controller.flows.key import FlowKey
from fcn.controller.node.connection import Connection
from fcn.controller.node.provision import Provision
from fcn.controller.node.readback import idle_flow, read

COUNTER_ENUMS = {"drops": "DropReason", "events": "Event", "egress_events": "Event"}
"""Counters indexed by an enum of the program; 0 stands for nothing."""

Count = tuple[int, int]
"""Packets, octets."""

CounterValues = Mapping[str, Mapping[str, Count]]
"""By counter and name."""


class Counters:
    """Reads one switch's counters. `last` is a snapshot: it is replaced, and never changed."""

    def __init__(self, provision: Provision, connection: Connection) -> None:
        self.last: CounterValues = {}
        self._pipeline = provision.pipeline
        self._connection = connection
        self._names = _members(provision.pipeline, provision.node)
        self._vrf_names = vrf_names(provision.config)
        self._is_pe = provision.is_pe

    async def read(self, wanted: Collection[str] | None = None) -> CounterValues:
        """All counters, or the wanted ones.

        Reasons and events have the names of the program's enums, ports those of the configuration.
        Raises P4ClientError, PipelineError.
        """
        connection = self._connection
        if not connection.is_up:
            state = connection.status.state
            raise PipelineError(f"{connection.name} is {state}; its counters cannot be read")
        values: dict[str, dict[str, Count]] = {}
        for counter in self._names.keys() & (wanted or self._names.keys()):
            by_index: dict[int | None, Count] = {}
            for part in self._pipeline.counter_parts(counter):
                async for entry in read(connection.switch, fy.P4CounterEntry(part)):
                    packets, octets = by_index.get(entry.index, (0, 0))
                    by_index[entry.index] = (
                        packets + entry.packet_count,
                        octets + entry.byte_count,
                    )
            values[counter] = {
                name: by_index.get(index, (0, 0)) for name, index in self._names[counter].items()
            }
        self.last = {**self.last, **values}
        return values

    async def of_flows(self) -> dict[FlowKey, Count]:
        """Packets of each labelled flow since it was labelled. Raises P4ClientError."""
        counts: dict[FlowKey, Count] = {}
        for table in FLOW_TABLES.values() if self._is_pe else ():
            pattern = fy.P4TableEntry(table, counter_data=fy.P4CounterData())
            async for entry in read(self._connection.switch, pattern):
                key, data = idle_flow(entry, self._vrf_names), entry.counter_data
                if key is not None and data is not None:
                    counts[key] = (data.packet_count, data.byte_count)
        return counts


def _members(pipeline: Pipeline, node: Node) -> dict[str, dict[str, int]]:
    """Index of everything that each of a program's counters counts, by its name."""
    ports = {f"port {port.number}": port.number for port in node.ports}
    names = {"port_rx": ports, "port_tx": ports}
    for counter, enum in COUNTER_ENUMS.items():
        names[counter] = {name: number for name, number in pipeline.enum(enum).items() if number}
    return {counter: names[counter] for counter in names if counter in pipeline.counters}
