"""Underlay: the routes of the WAN domain (p4src/forwarding/underlay.p4)."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Network

from finsy import P4IndirectAction, P4TableAction, P4TableEntry, P4TableMatch

from fcn.controller.owners.tables import Tables


@dataclass(frozen=True, slots=True, order=True)
class Adjacency:
    """A neighbour on a core port; MAC addresses are 48-bit numbers."""

    port: int
    src_mac: int
    dst_mac: int


class Underlay(Tables):
    """Longest-prefix routes with equal-cost next hops."""

    def route(self, prefix: IPv6Network, next_hops: Iterable[Adjacency]) -> None:
        """Route the prefix; flows are distributed over the next hops (ECMP)."""
        actions = [
            P4TableAction(
                "set_underlay_nexthop", port=hop.port, src_mac=hop.src_mac, dst_mac=hop.dst_mac
            )
            for hop in sorted(set(next_hops))
        ]
        self._forward(prefix, actions)

    def resolve(self, prefix: IPv6Network) -> None:
        """Punt packets to the prefix, so that the controller resolves the neighbour."""
        self._forward(prefix, [P4TableAction("underlay_glean")])

    def withdraw(self, prefix: IPv6Network) -> None:
        """Remove the route of exactly this prefix."""
        self.intent.drop(P4TableEntry("underlay", match=P4TableMatch(dst=prefix)))

    def _forward(self, prefix: IPv6Network, actions: list[P4TableAction]) -> None:
        action_set = P4IndirectAction(action_set=[(1, action) for action in actions])
        match = P4TableMatch(dst=prefix)
        self.intent.put(P4TableEntry("underlay", match=match, action=action_set))
