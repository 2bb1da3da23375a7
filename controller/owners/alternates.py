"""Alternate: other next hops for packets whose own is dead (p4src/fantel/links/alternate.p4)."""

from ipaddress import IPv6Network

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.controller.owners.intent import Intent
from fcn.controller.owners.underlay import Adjacency


class Alternates:
    """Where packets go while a link is down (FAN-5)."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def repair(self, dead_port: int, prefix: IPv6Network, hop: Adjacency) -> None:
        """Send to this neighbour what is for the prefix and would leave by the dead port. Nobody
        checks that it is free of loops: config/alternates.py computes it."""
        match = P4TableMatch(port=dead_port, dst=prefix)
        action = P4TableAction(
            "set_alternate", port=hop.port, src_mac=hop.src_mac, dst_mac=hop.dst_mac
        )
        self._intent.put(P4TableEntry("alternate", match=match, action=action))
