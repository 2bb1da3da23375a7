"""Reads what a switch holds, and what its flow tables say about flows."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address
from typing import Any, TypeVar, cast

import finsy as fy
from finsy.grpcutil import GRPCStatusCode
from finsy.p4client import P4ClientError
from finsy.p4entity import P4Entity, P4TableAction

from fcn.contract.pipeline import FLOW_TABLES, LABEL_TABLES, Pipeline
from fcn.controller.flows.flow import Flow, Origin
from fcn.controller.flows.key import FlowKey

_ADDRESS: dict[str, type[IPv4Address] | type[IPv6Address]] = {
    FLOW_TABLES[4]: IPv4Address,
    FLOW_TABLES[6]: IPv6Address,
}


EntityT = TypeVar("EntityT", bound=P4Entity)


def read(switch: fy.Switch, pattern: EntityT) -> AsyncIterator[EntityT]:
    """Entities that match a pattern. (finsy's overloads lose that `read` is an iterator.)"""
    found: AsyncIterator[EntityT] = cast(Any, switch).read(pattern)
    return found


async def read_switch(switch: fy.Switch, pipeline: Pipeline) -> list[P4Entity]:
    """Every entity the controller manages. Constant entries are the program's own.

    Value sets are left out, and so are written anew each time: p4c-barefoot's P4Info does not say
    how their members decode (owners/core_ports.py).
    """
    held: list[P4Entity] = []
    # Table by table: an answer in one message must not exceed gRPC's 4 MiB.
    for name in [table.alias for table in pipeline.schema.tables if not table.is_const]:
        async for entry in read(switch, fy.P4TableEntry(name)):
            if not (entry.is_default_action or entry.is_const):
                held.append(entry)
    for table in pipeline.settable_defaults:
        async for entry in read(switch, fy.P4TableEntry(table, is_default_action=True)):
            entry.is_default_action = True
            held.append(entry)
    if pipeline.target.clone_session:
        held += [session async for session in read(switch, fy.P4CloneSessionEntry())]
    held += [group async for group in read(switch, fy.P4MulticastGroupEntry())]
    for meter in pipeline.schema.meters:
        async for cell in read(switch, fy.P4MeterEntry(meter.alias, index=0)):
            if cell.config is not None:
                held.append(fy.P4MeterEntry(meter.alias, index=0, config=cell.config))
    for digest in pipeline.schema.digests:
        held += await _read_digest(switch, digest.alias)
    return held


async def _read_digest(switch: fy.Switch, name: str) -> list[P4Entity]:
    try:
        found = [entity async for entity in read(switch, fy.P4DigestEntry(name))]
    except P4ClientError as error:
        if error.code == GRPCStatusCode.NOT_FOUND:
            return []
        raise
    return [entity for entity in found if entity.max_list_size or entity.max_timeout_ns]


def held_flows(
    node: str, entries: Iterable[fy.P4TableEntry], vrf_names: Mapping[int, str]
) -> Iterator[Flow]:
    """Flows as the tables have them: flow_ipv4/6 joined with flow_by_label_ipv4/6."""
    entries = list(entries)
    senders: dict[int, tuple[int, int]] = {}
    for entry in entries:
        action = entry.action
        if entry.table_id not in LABEL_TABLES.values() or not isinstance(action, P4TableAction):
            continue
        if "dest_qp" in action.args:
            senders[entry["flow_label"]] = (action.args["dest_qp"], action.args["p_key"])
    for entry in entries:
        key = idle_flow(entry, vrf_names)
        if key is None or not isinstance(entry.action, P4TableAction):
            continue
        label = entry.action.args["flow_label"]
        timeout = entry.idle_timeout_ns // 1000
        if label in senders:
            source_qp, p_key = senders[label]
            yield Flow(key, node, label, timeout, Origin.RESTORED, source_qp, p_key)
        else:
            yield Flow(key, node, label, timeout, Origin.RESTORED)


def idle_flow(entry: fy.P4TableEntry, vrf_names: Mapping[int, str]) -> FlowKey | None:
    """The flow a flow table's entry is about; None for other tables and unknown VRFs."""
    if entry.table_id not in FLOW_TABLES.values():
        return None
    vrf = vrf_names.get(entry["vrf"])
    if vrf is None:
        return None
    address = _ADDRESS[entry.table_id]
    return FlowKey(vrf, address(entry["src"]), address(entry["dst"]), entry["dest_qp"])
