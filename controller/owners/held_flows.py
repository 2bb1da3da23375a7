"""What a switch holds in the tables of flow_tables.py: entries by the hundred thousand, which finsy
takes ten times as long to decode."""

from collections.abc import Callable
from typing import NamedTuple

from finsy import P4Schema
from finsy.proto import p4r

from fcn.contract.names import FLOW_TABLES, LABEL_TABLES
from fcn.controller.config.notation import Address
from fcn.controller.owners.addresses import ipv4, ipv6
from fcn.controller.owners.exact import ExactTable
from fcn.controller.owners.intent import Key, entity_key, entity_value

_ADDRESS: dict[int, Callable[[int], Address]] = {4: ipv4, 6: ipv6}


class KnownSender(NamedTuple):
    """The queue pair that CNPs for a label go to; `note` was stored with the entry."""

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


class HeldFlows:
    """Flows of one switch; `found`: its entries as the intent compares them."""

    def __init__(self, schema: P4Schema) -> None:
        self._tables: dict[int, tuple[ExactTable, int, bool]] = {}
        self.names: list[str] = []
        for tables in (FLOW_TABLES, LABEL_TABLES):
            for version, name in tables.items():
                if (table := schema.tables.get(name)) is not None:
                    has_flows = tables is FLOW_TABLES
                    self._tables[table.id] = ExactTable(schema, name), version, has_flows
                    self.names.append(name)
        self.found: dict[Key, bytes] = {}
        self.flows: list[LabelledFlow] = []
        self.senders: dict[tuple[int, Address], KnownSender] = {}
        """By label, and host: where writing was cut off, a label may be of a later flow already."""

    def add(self, entity: p4r.Entity, *, on_switch: bool = True) -> None:
        """An entry; not `on_switch`: it was there before the switch got this program."""
        entry = entity.table_entry
        if entry.table_id not in self._tables:
            return
        table, version, has_flows = self._tables[entry.table_id]
        decoded = table.decode(entry.SerializeToString())
        if decoded is not None:
            read, encoded, metadata = decoded
        else:
            if entry.is_default_action or entry.is_const:
                return
            other = table.read(entry)
            if other is None:
                if on_switch:
                    self.found[entity_key(entity)] = entity_value(entity)
                return
            read, metadata = other, entry.metadata
            encoded = table.entry(*read, idle_timeout_ns=entry.idle_timeout_ns, metadata=metadata)
        if on_switch:
            self.found[encoded.key] = encoded.value
        address = _ADDRESS[version]
        if has_flows:
            vrf, src, dst, dest_qp = read.match
            ends, (label,) = (address(src), address(dst)), read.arguments
            self.flows.append(
                LabelledFlow(vrf, *ends, dest_qp, label, entry.idle_timeout_ns // 1000)
            )
        elif read.arguments:
            # The CNP goes to the flow's source, which is therefore the action's destination.
            _vrf, _src, dst, source_qp, p_key = read.arguments
            note = metadata.decode(errors="replace")
            sender = KnownSender(source_qp, p_key, note)
            self.senders[read.match[0], address(dst)] = sender
