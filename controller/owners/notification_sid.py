"""NotificationSid: END.CON SIDs of other nodes (p4src/flow_control/v1model/notification_sid.p4)."""

from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.controller.owners.intent import Intent


class NotificationSid:
    """Where notifications by END.CON are on their way to (SRF-4)."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def expect(self, sid: IPv6Address) -> None:
        """Treat packets to this SID as notifications."""
        action = P4TableAction("on_its_way")
        self._intent.put(
            P4TableEntry("notification_sid", match=P4TableMatch(dst=sid), action=action)
        )
