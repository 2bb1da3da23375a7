"""FlowTable: the flow label of each RoCEv2 flow (p4src/common/flow_table.p4)."""

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.pipeline import FLOW_TABLES
from fcn.contract.targets import Target
from fcn.controller.config.types import Address
from fcn.controller.owners.intent import Intent


class FlowTable:
    """Labels flows {VRF, source, destination, destination QP} (FCN-2)."""

    def __init__(self, intent: Intent, target: Target) -> None:
        self._intent = intent
        self._target = target

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
    ) -> None:
        """Packets of the flow carry `label`; the switch reports `idle_timeout` µs of silence
        (0: never), and of a watched flow one packet per learning window (FCN-3 b)."""
        table = FLOW_TABLES[src.version]
        action = self._target.action(
            table, "set_flow_label_watched" if watched else "set_flow_label"
        )
        self._intent.put(
            P4TableEntry(
                table,
                match=self._match(vrf, src, dst, dest_qp),
                action=P4TableAction(action, flow_label=label),
                idle_timeout_ns=idle_timeout * 1000,
            )
        )

    def unlabel(self, vrf: int, src: Address, dst: Address, dest_qp: int) -> None:
        """Packets of the flow carry an entropy label again."""
        match = self._match(vrf, src, dst, dest_qp)
        self._intent.drop(P4TableEntry(FLOW_TABLES[src.version], match=match))

    @staticmethod
    def _match(vrf: int, src: Address, dst: Address, dest_qp: int) -> P4TableMatch:
        return P4TableMatch(vrf=vrf, src=src, dst=dst, dest_qp=dest_qp)
