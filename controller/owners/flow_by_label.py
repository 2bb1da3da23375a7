"""FlowByLabel: the sender of the flow with a label (p4src/fast_cnp/flow_by_label.p4)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from finsy import P4CounterData, P4TableAction, P4TableEntry

from fcn.contract.names import LABEL_TABLES
from fcn.controller.config.notation import Address
from fcn.controller.owners.exact import ExactTable
from fcn.controller.owners.intent import Intent

_ADDRESS: dict[str, type[IPv4Address] | type[IPv6Address]] = {
    LABEL_TABLES[4]: IPv4Address,
    LABEL_TABLES[6]: IPv6Address,
}


@dataclass(frozen=True, slots=True)
class KnownSender:
    """An entry: the destination of CNPs for a label; `hits`: lookups of the label.

    `note` is what was stored with the entry; `hits` is 0 for entries read without a counter.
    """

    label: int
    sender: Address
    source_qp: int
    p_key: int
    note: str
    hits: int


class FlowByLabel:
    """Maps labels to senders (FCN-13), in one table per IP version of the flow."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent
        # A P node has no such table.
        self._tables = {
            version: ExactTable(intent.schema, table)
            for version, table in LABEL_TABLES.items()
            if intent.schema.tables.get(table) is not None
        }

    def notify_sender(
        self,
        label: int,
        vrf: int,
        src: Address,
        sender: Address,
        source_qp: int,
        p_key: int,
        note: str,
        share: str = "",
    ) -> None:
        """Notifications of `label` become CNPs from `src` to queue pair `source_qp` of `sender`.

        note: stored with the entry for whoever reads it back (TableEntry.metadata). share: the
        tenant, who waits for its own changes only.
        """
        entry = self._tables[sender.version].entry(
            (label,),
            f"cnp_ipv{sender.version}",
            (vrf, int(src), int(sender), source_qp, p_key),
            metadata=note.encode(),
        )
        self._intent.put_encoded(entry, share)

    def source_unknown(self, label: int, ip_version: int, share: str = "") -> None:
        """The label is in use, but the sender is not known: notifications are counted only."""
        entry = self._tables[ip_version].entry((label,), f"source_qp_unknown_ipv{ip_version}")
        self._intent.put_encoded(entry, share)

    def forget(self, label: int, ip_version: int, share: str | None = None) -> None:
        """Remove the entry of a label. share: the tenant who gets its place."""
        self._intent.drop_key(self._tables[ip_version].key((label,)), share)

    @staticmethod
    def senders_in(entries: Iterable[P4TableEntry]) -> Iterator[KnownSender]:
        """Labels with a known sender among entries read from a switch; ignores other tables."""
        for entry in entries:
            address, action = _ADDRESS.get(entry.table_id), entry.action
            if address is None or not entry.match or not isinstance(action, P4TableAction):
                continue
            if "dest_qp" not in action.args:
                continue
            # The CNP goes to the flow's source, which is therefore the action's destination.
            yield KnownSender(
                entry["flow_label"],
                address(action.args["dst"]),
                action.args["dest_qp"],
                action.args["p_key"],
                entry.metadata.decode(errors="replace"),
                entry.counter_data.packet_count if entry.counter_data else 0,
            )

    @staticmethod
    def counted() -> list[P4TableEntry]:
        """Patterns to read every label's entry with its counter."""
        return [
            P4TableEntry(table, counter_data=P4CounterData()) for table in LABEL_TABLES.values()
        ]
