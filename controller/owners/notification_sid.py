"""NotificationSid: END.CON SIDs of other nodes (p4src/flow_control/v1model/notification_sid.p4)."""

from ipaddress import IPv6Address

from fcn.controller.owners.owner import Owner


class NotificationSid(Owner):
    """Where notifications by END.CON are on their way to (SRF-4)."""

    def expect(self, sid: IPv6Address) -> None:
        """Treat packets to this SID as notifications."""
        self._put("notification_sid", {"dst": sid}, "on_its_way")
