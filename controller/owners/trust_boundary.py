"""NotificationPort and TrustBoundary: who may notify (p4src/common/trust_boundary.p4)."""

from ipaddress import IPv6Network

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.controller.owners.intent import Intent


class NotificationPort:
    """Which UDP ports carry notifications (FCN-9)."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def expect_fast_cnp(self, udp_port: int) -> None:
        """Datagrams to this port are Fast CNPs."""
        match = P4TableMatch(udp_dst_port=udp_port)
        action = P4TableAction("fast_cnp")
        self._intent.put(P4TableEntry("notification_port", match=match, action=action))


class TrustBoundary:
    """Notifications are believed from the domain only (FCN-17)."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def trust(self, prefix: IPv6Network) -> None:
        """Believe notifications whose source is in this prefix."""
        match = P4TableMatch(src=prefix)
        action = P4TableAction("trust")
        self._intent.put(P4TableEntry("trusted_source", match=match, action=action))
