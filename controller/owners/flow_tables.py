"""Both tables of labelled flows, by IP version: FlowTable has the label of each RoCEv2 flow
(p4src/learning/flow_table.p4), FlowByLabel its sender (p4src/fast_cnp/flow_by_label.p4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from finsy import P4Schema, P4TableEntry
from finsy.proto import p4r

from fcn.contract.exact import Encoded, ExactTable
from fcn.contract.names import FLOW_TABLES, LABEL_TABLES
from fcn.controller.config.notation import Address
from fcn.controller.owners.intent import Key

_AddressType = type[IPv4Address] | type[IPv6Address]

_FLOW_ADDRESS: dict[str, _AddressType] = {FLOW_TABLES[4]: IPv4Address, FLOW_TABLES[6]: IPv6Address}


@dataclass(frozen=True, slots=True)
class FlowMatch:
    """The match key of a flow; `vrf` is the VRF ID."""

    vrf: int
    src: Address
    dst: Address
    dest_qp: int


class _Tables:
    """Makes entries of the tables for both IP versions; a P node has none."""

    _NAMES: Mapping[int, str]

    def __init__(self, schema: P4Schema) -> None:
        self._tables = {
            version: ExactTable.of(schema, table)
            for version, table in self._NAMES.items()
            if schema.tables.get(table) is not None
        }


class FlowTable(_Tables):
    """Labels flows {VRF, source, destination, destination QP} (FCN-2)."""

    _NAMES = FLOW_TABLES

    def label(
        self,
        vrf: int,
        src: Address,
        dst: Address,
        dest_qp: int,
        label: int,
        idle_timeout: int,
        *,
        watched: bool,
    ) -> Encoded:
        """Label the flow's packets; the switch reports the flow as idle after `idle_timeout` µs
        without a packet (0: never), and one packet per learning window of a watched flow
        (FCN-3 b)."""
        verb = "set_flow_label_watched" if watched else "set_flow_label"
        return self._tables[src.version].entry(
            (vrf, int(src), int(dst), dest_qp),
            f"{verb}_ipv{src.version}",
            (label,),
            idle_timeout_ns=idle_timeout * 1000,
        )

    def key(self, vrf: int, src: Address, dst: Address, dest_qp: int) -> Key:
        """Of the entry of a flow; without it packets get an entropy label again."""
        return self._tables[src.version].key((vrf, int(src), int(dst), dest_qp))

    @staticmethod
    def flow_of(entry: P4TableEntry) -> FlowMatch | None:
        """The flow of an entry, whatever its action; None for an entry of another table."""
        address = _FLOW_ADDRESS.get(entry.table_id)
        if address is None or not entry.match:
            return None
        return FlowMatch(
            entry["vrf"], address(entry["src"]), address(entry["dst"]), entry["dest_qp"]
        )

    @classmethod
    def count_of(cls, entry: P4TableEntry) -> tuple[FlowMatch, tuple[int, int]] | None:
        """A flow and its (packets, octets); None for entries read without a counter."""
        flow, data = cls.flow_of(entry), entry.counter_data
        if flow is None or data is None:
            return None
        return flow, (data.packet_count, data.byte_count)

    def counted(self, vrf: int, src: Address, dst: Address, dest_qp: int) -> p4r.Entity:
        """What reads a flow's entry with its counter."""
        pattern = self._tables[src.version].pattern((vrf, int(src), int(dst), dest_qp))
        pattern.table_entry.counter_data.SetInParent()
        return pattern

    def timed(self, vrf: int, src: Address, dst: Address, dest_qp: int) -> p4r.Entity:
        """The same with the time since its last packet."""
        pattern = self.counted(vrf, src, dst, dest_qp)
        pattern.table_entry.time_since_last_hit.SetInParent()
        return pattern

    @classmethod
    def overdue(cls, entry: P4TableEntry) -> FlowMatch | None:
        """The flow of an entry idle for twice its timeout: its idle notification was lost."""
        silent, timeout = entry.time_since_last_hit, entry.idle_timeout_ns
        return cls.flow_of(entry) if silent and timeout and silent > 2 * timeout else None


class FlowByLabel(_Tables):
    """Maps labels to senders (FCN-13), in one table per IP version of the flow."""

    _NAMES = LABEL_TABLES

    def notify_sender(
        self,
        label: int,
        vrf: int,
        src: Address,
        sender: Address,
        source_qp: int,
        p_key: int,
        note: str,
    ) -> Encoded:
        """Notifications of `label` become CNPs from `src` to queue pair `source_qp` of `sender`.

        note: stored with the entry for whoever reads it back (TableEntry.metadata).
        """
        return self._tables[sender.version].entry(
            (label,),
            f"cnp_ipv{sender.version}",
            (vrf, int(src), int(sender), source_qp, p_key),
            metadata=note.encode(),
        )

    def source_unknown(self, label: int, ip_version: int) -> Encoded:
        """The label is in use, but the sender is not known: notifications are counted only."""
        return self._tables[ip_version].entry((label,), f"source_qp_unknown_ipv{ip_version}")

    def key(self, label: int, ip_version: int) -> Key:
        return self._tables[ip_version].key((label,))

    def counted(self, label: int, ip_version: int) -> p4r.Entity:
        """What reads a label's entry with its counter."""
        pattern = self._tables[ip_version].pattern((label,))
        pattern.table_entry.counter_data.SetInParent()
        return pattern
