"""Reads the entities a switch holds."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, TypeVar, cast

import finsy as fy
from finsy.grpcutil import GRPCStatusCode
from finsy.p4client import P4ClientError
from finsy.p4entity import P4Entity
from finsy.proto import p4r

from fcn.contract.names import FLOW_TABLES, LABEL_TABLES
from fcn.contract.pipeline import Pipeline
from fcn.controller.finsy_adapter import read_encoded
from fcn.controller.flows.key import FlowKey
from fcn.controller.owners.flow_tables import FlowMatch
from fcn.controller.owners.held_flows import HeldFlows
from fcn.controller.owners.rate_limits import MeterCell
from fcn.controller.pace import Pace

EntityT = TypeVar("EntityT", bound=P4Entity)


def read(switch: fy.Switch, pattern: EntityT) -> AsyncIterator[EntityT]:
    """Entities that match a pattern. Raises P4ClientError while iterating.

    The cast is needed because finsy's overloads do not declare `read` as an iterator.
    """
    return _paced(cast(Any, switch).read(pattern))


def read_entries(
    switch: fy.Switch, patterns: Iterable[p4r.Entity | P4Entity]
) -> AsyncIterator[P4Entity]:
    """The same in one request for several patterns, also encoded ones."""
    return _paced(cast(Any, switch).read(patterns))


async def _paced(found: AsyncIterator[EntityT]) -> AsyncIterator[EntityT]:
    """A switch may answer with a whole table in one message, and with what was not asked for."""
    pace = Pace()
    async for each in found:
        yield each
        await pace.step()


async def read_cells(
    switch: fy.Switch, cells: Iterable[tuple[str, int]]
) -> dict[tuple[str, int], tuple[int, int]]:
    """Packets and octets of cells of counters, by counter and index, in one request, in this order.
    Raises P4ClientError."""
    counts = dict.fromkeys(cells, (0, 0))
    patterns = [fy.P4CounterEntry(counter, index=index) for counter, index in counts]
    async for cell in read_entries(switch, patterns):
        if not isinstance(cell, fy.P4CounterEntry) or cell.index is None:
            continue
        if (place := (cell.counter_id, cell.index)) in counts:
            counts[place] = cell.packet_count, cell.byte_count
    return counts


async def read_switch(
    switch: fy.Switch, pipeline: Pipeline, cells: Iterable[MeterCell]
) -> list[P4Entity]:
    """Every entity the controller manages, without constant entries, and those that `read_flows`
    reads; of meters, these `cells`. Raises P4ClientError.

    Value sets are left out, and therefore written on every connection: p4c-barefoot's P4Info does
    not describe the encoding of their members (owners/core_ports.py).
    """
    held: list[P4Entity] = []
    flow_tables = {*FLOW_TABLES.values(), *LABEL_TABLES.values()}
    # Table by table: an answer in one message must not exceed gRPC's 4 MiB.
    for name in [table.alias for table in pipeline.schema.tables if not table.is_const]:
        if name in flow_tables:
            continue
        async for entry in read(switch, fy.P4TableEntry(name)):
            if not (entry.is_default_action or entry.is_const):
                held.append(entry)
    for table in pipeline.settable_defaults:
        async for entry in read(switch, fy.P4TableEntry(table, is_default_action=True)):
            entry.is_default_action = True
            held.append(entry)
    if pipeline.target.clone_sessions:
        held += [session async for session in read(switch, fy.P4CloneSessionEntry())]
    held += [group async for group in read(switch, fy.P4MulticastGroupEntry())]
    for meter, index in cells:
        async for cell in read(switch, fy.P4MeterEntry(meter, index=index)):
            if cell.config is not None:
                held.append(fy.P4MeterEntry(meter, index=index, config=cell.config))
    for digest in pipeline.schema.digests:
        held += await _read_digest(switch, digest.alias)
    return held


async def read_flows(switch: fy.Switch, schema: fy.P4Schema) -> HeldFlows:
    """What the switch holds of flows. Raises P4ClientError."""
    held = HeldFlows(schema)
    for name in held.names:
        async for response in read_encoded(switch, [fy.P4TableEntry(name).encode(schema)]):
            held.add(name, response)
    return held


async def _read_digest(switch: fy.Switch, name: str) -> list[P4Entity]:
    try:
        found = [entity async for entity in read(switch, fy.P4DigestEntry(name))]
    except P4ClientError as error:
        if error.code == GRPCStatusCode.NOT_FOUND:
            return []
        raise
    return [entity for entity in found if entity.max_list_size or entity.max_timeout_ns]


def flow_key(flow: FlowMatch | None, vrf_names: Mapping[int, str]) -> FlowKey | None:
    """The key of a flow; None for no flow, and for a VRF that is not configured."""
    vrf = vrf_names.get(flow.vrf) if flow else None
    if flow is None or vrf is None:
        return None
    return FlowKey(vrf, flow.src, flow.dst, flow.dest_qp)
