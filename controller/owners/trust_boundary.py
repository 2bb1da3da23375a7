"""TrustBoundary: accepted sources of notifications (p4src/fast_cnp/trust_boundary.p4)."""

from ipaddress import IPv6Network

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.controller.owners.intent import Intent


class TrustBoundary:
    """Notifications are accepted from configured prefixes only (FCN-17)."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def trust(self, prefix: IPv6Network) -> None:
        """Accept notifications whose source address is in this prefix."""
        match = P4TableMatch(src=prefix)
        action = P4TableAction("trust")
        self._intent.put(P4TableEntry("trusted_source", match=match, action=action))
