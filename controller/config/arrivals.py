"""By which ports of a PE the messages of other nodes come (FAN-8)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from fcn.contract.hops import hops_from
from fcn.controller.config.addressing import Hop, distances, own_prefixes, underlay_links
from fcn.controller.config.model import Config


def arrival_ports(config: Config, to: str, sources: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Core ports of a PE by which packets of these nodes may come, by node: those behind which
    they pass no node that is farther away than the one before. So go the shortest paths, all of
    them (ECMP), and the alternates around a dead link (alternates.py).

    Where a node of the file has a route of its own to the PE, nobody knows where its packets go:
    then it is every port.
    """
    node = config.nodes[to]
    own = own_prefixes(node)
    explicit = [route.prefix for each in config.nodes.values() for route in each.underlay]
    if any(route.overlaps(prefix) for route in explicit for prefix in own):
        ports = tuple(sorted(port.number for port in node.core_ports))
        return dict.fromkeys(sources, ports)
    links = underlay_links(config)
    left = distances(links, to)
    found = {}
    for source in sources:
        passed = _passed(links, left, source, to)
        found[source] = tuple(sorted(port for port, peer, _ in links[to] if peer in passed))
    return found


def _passed(
    links: Mapping[str, Sequence[Hop]], left: Mapping[str, int], source: str, to: str
) -> set[str]:
    """Nodes that a packet may pass on its way, without its end."""

    def onward(name: str) -> Iterator[str]:
        return (peer for _, peer, _ in links[name] if peer != to and left[peer] <= left[name])

    return set(hops_from(source, onward)) if source in left else set()
