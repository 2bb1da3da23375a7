"""TrustBoundary: accepted sources of notifications (p4src/fast_cnp/trust_boundary.p4)."""

from ipaddress import IPv6Network

from fcn.controller.owners.owner import Owner


class TrustBoundary(Owner):
    """Notifications are accepted from configured prefixes only (FCN-17)."""

    def trust(self, prefix: IPv6Network) -> None:
        """Accept notifications whose source address is in this prefix."""
        self._put("trusted_source", {"src": prefix}, "trust")
