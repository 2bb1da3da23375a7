"""NotificationPort: notification kinds by UDP port (p4src/fast_cnp/notification_port.p4)."""

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.pipeline import Pipeline
from fcn.controller.owners.intent import Intent


class NotificationPort:
    """Kinds of notifications by UDP port (FCN-9)."""

    def __init__(self, intent: Intent, pipeline: Pipeline) -> None:
        self._intent = intent
        self._kinds = pipeline.enum("NotificationKind")

    def expect(self, kind: str, udp_port: int) -> None:
        """Treat datagrams to this port as notifications of this kind (NotificationKind)."""
        match = P4TableMatch(udp_dst_port=udp_port)
        action = P4TableAction("set_notification_kind", kind=self._kinds[kind])
        self._intent.put(P4TableEntry("notification_port", match=match, action=action))
