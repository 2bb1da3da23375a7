"""Other next hops for packets whose own is dead: loop-free alternates (RFC 5286)."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv6Network

from fcn.controller.config.addressing import (
    Hop,
    distances,
    prefix_owners,
    underlay_links,
    underlay_next_hops,
)
from fcn.controller.config.model import Config


@dataclass(frozen=True, slots=True)
class Alternate:
    """Where packets to a prefix go while the link at `dead_port` is down. protects_node: also when
    the whole neighbour is down."""

    dead_port: int
    prefix: IPv6Network
    hop: Hop
    protects_node: bool


def alternates(config: Config, source: str) -> Iterator[Alternate]:
    """The alternates of a node, for each prefix and each port by which it has a route to it.

    There is none where no neighbour is nearer to the prefix than by way of this node (inequality 1
    of RFC 5286), and none to a prefix for which a node of the file has a route of its own, because
    then nobody knows where the neighbour sends what it gets. One that does without the neighbour
    behind the dead link (inequality 3) is preferred, then the nearest.
    """
    links = underlay_links(config)
    owners = prefix_owners(config, source)
    away = {
        name: distances(links, name) for name in {source, *(peer for _, peer, _ in links[source])}
    }
    explicit = [route.prefix for node in config.nodes.values() for route in node.underlay]
    for prefix, hops in underlay_next_hops(config, source).items():
        if any(route.subnet_of(prefix) for route in explicit):
            continue
        left = {
            name: min(found[owner] for owner in owners[prefix] if owner in found)
            for name, found in away.items()
        }
        for dead in hops:
            best = min(
                (
                    (not _protects(left, away, hop, dead), left[hop[1]], hop)
                    for hop in links[source]
                    if hop != dead and left[hop[1]] < away[hop[1]][source] + left[source]
                ),
                default=None,
            )
            if best is not None:
                yield Alternate(dead[0], prefix, best[2], not best[0])


def _protects(left: dict[str, int], away: dict[str, dict[str, int]], hop: Hop, dead: Hop) -> bool:
    """Whether a shortest path from the neighbour avoids the one behind the dead link."""
    return left[hop[1]] < away[hop[1]][dead[1]] + left[dead[1]]
