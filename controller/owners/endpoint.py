"""Endpoint: the underlay addresses and End SIDs of a node (p4src/forwarding/endpoint.p4)."""

from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.controller.owners.intent import Intent


class Endpoint:
    """Underlay destinations that belong to this node."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def own(self, address: IPv6Address) -> None:
        """Add an address of the node."""
        self._put(address, "local_address")

    def end_segment(self, sid: IPv6Address) -> None:
        """Add an End SID: advance packets to the next segment (RFC 8986 section 4.1)."""
        self._put(sid, "end")

    def _put(self, dst: IPv6Address, action: str) -> None:
        match = P4TableMatch(dst=dst)
        self._intent.put(P4TableEntry("endpoint", match=match, action=P4TableAction(action)))
