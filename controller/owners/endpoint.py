"""Endpoint: the underlay addresses and End SIDs of a node (p4src/forwarding/endpoint.p4)."""

from ipaddress import IPv6Address

from fcn.controller.owners.owner import Owner


class Endpoint(Owner):
    """Underlay destinations that belong to this node."""

    def own(self, address: IPv6Address) -> None:
        """Add an address of the node."""
        self._put("endpoint", {"dst": address}, "local_address")

    def end_segment(self, sid: IPv6Address) -> None:
        """Add an End SID: advance packets to the next segment (RFC 8986 section 4.1)."""
        self._put("endpoint", {"dst": sid}, "end")
