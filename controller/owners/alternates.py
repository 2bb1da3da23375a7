"""Alternate: other next hops for packets whose own is dead (p4src/fantel/links/alternate.p4)."""

from ipaddress import IPv6Network

from fcn.controller.owners.owner import Owner
from fcn.controller.owners.underlay import Adjacency


class Alternates(Owner):
    """Where packets go while a link is down (FAN-5)."""

    def repair(self, dead_port: int, prefix: IPv6Network, hop: Adjacency) -> None:
        """Send to this neighbour what is for the prefix and would leave by the dead port. Nobody
        checks that it is free of loops: config/alternates.py computes it."""
        self._put(
            "alternate",
            {"port": dead_port, "dst": prefix},
            "set_alternate",
            port=hop.port,
            src_mac=hop.src_mac,
            dst_mac=hop.dst_mac,
        )
