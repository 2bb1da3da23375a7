"""What each node watches by itself: its links, and the paths that leave it by them (FAN-4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv6Address

from fcn.contract.constants import CORE_PATH_CELLS
from fcn.contract.paths import path_tag
from fcn.controller.config.cells import hashed, spread
from fcn.controller.config.model import Config
from fcn.controller.config.modes import Notification
from fcn.controller.config.paths import Path, Plan, Planner, used_policies
from fcn.controller.config.programs import has_clock, watches_links
from fcn.controller.config.tunnel_ends import has_srh, tunnel_egress, tunnel_sids, tunnel_source

NO_ADDRESS = IPv6Address(0)


@dataclass(frozen=True, slots=True, order=True)
class WatchedLink:
    """A link of a node to another one of the file."""

    port: int
    peer: str
    peer_port: int


@dataclass(frozen=True, slots=True, order=True)
class PathPackets:
    """How a node knows packets of a path: underlay source, and the tag of their SRH, or where that
    is 0 their destination."""

    source: IPv6Address
    tag: int
    dst: IPv6Address


@dataclass(frozen=True, slots=True)
class WatchedPath:
    """A path that leaves a node by a port. number: its ID; cell: its index on the node; ingress:
    the PE that hears of it; packets: where messages about them would reach that PE."""

    port: int
    number: int
    cell: int
    ingress: str
    packets: tuple[PathPackets, ...]


@dataclass(frozen=True, slots=True)
class WatchedQueue:
    """The queue by which a path leaves a node, where nodes tell PEs of congestion (FAN-6)."""

    path: WatchedPath


@dataclass(frozen=True, slots=True)
class WatchedLoad:
    """The load of the link by which a path leaves a node, where PEs balance it (FAN-7)."""

    path: WatchedPath


Slot = WatchedLink | WatchedPath | WatchedQueue | WatchedLoad
"""What the clock of a node looks at."""


class Watching:
    """What the nodes of a valid configuration watch; nothing without `failure_detection`."""

    def __init__(self, config: Config, planner: Planner | None = None) -> None:
        self._config = config
        self.planner = planner or Planner(config)
        self._paths: Mapping[str, Sequence[WatchedPath]] | None = None

    def links(self, name: str) -> list[WatchedLink]:
        """Links of a node, by port: those between two nodes whose programs watch links."""
        return [
            link
            for link in self._ends.get(name, ())
            if self._watchers.issuperset((name, link.peer))
        ]

    def paths(self, name: str) -> list[WatchedPath]:
        """Paths of policies that leave a node by a link between two nodes whose programs have a
        clock: at a P those of all PEs, at a PE its own.

        A PE whose path may leave it by several ports says nothing of it: it has one bit for all of
        them, and the others are its alternates.
        """
        if self._paths is None:
            self._paths = self._found()
        ports = {link.port for link in self._ends.get(name, ())}
        return [path for path in self._paths.get(name, ()) if path.port in ports]

    def slots(self, name: str) -> list[Slot]:
        """In the order in which the clock comes to them: a link, then what leaves by it; of a link
        that is not watched the queues alone."""
        paths, watched = self.paths(name), self.links(name)
        slots: list[Slot] = []
        for link in self._ends.get(name, ()):
            leaving = [path for path in paths if path.port == link.port]
            if link in watched:
                slots += [link, *leaving]
            if self._config.notification is Notification.FANTEL:
                slots += [WatchedQueue(path) for path in leaving]
            slots += [WatchedLoad(path) for path in leaving if path.number in self._balanced]
        return slots

    @cached_property
    def _balanced(self) -> frozenset[int]:
        """IDs of the paths whose loads PEs compare."""
        if self._config.load_balancing is None:
            return frozenset()
        return frozenset(
            plan.paths[slot].number
            for name in self._config.nodes
            for plan in self.planner.plans(name)
            for slot in plan.compared
        )

    @cached_property
    def _watchers(self) -> frozenset[str]:
        """Nodes whose programs watch links."""
        nodes = self._config.nodes.items()
        return frozenset(name for name, node in nodes if watches_links(self._config, node))

    @cached_property
    def _ends(self) -> dict[str, list[WatchedLink]]:
        """Of each node with a clock, its ends of links to others that have one, by port."""
        found: dict[str, list[WatchedLink]] = {}
        if self._config.failure_detection is None:
            return found
        clocked = {
            name for name, node in self._config.nodes.items() if has_clock(self._config, node)
        }
        for link in self._config.link_ends():
            for (near, port), (peer, peer_port) in (link, link[::-1]):
                if near in clocked and peer in clocked:
                    found.setdefault(near, []).append(WatchedLink(port, peer, peer_port))
        for links in found.values():
            links.sort()
        return found

    def _found(self) -> dict[str, list[WatchedPath]]:
        found: dict[str, dict[tuple[int, int], tuple[str, tuple[PathPackets, ...]]]] = {}
        for pe in self._config.nodes:
            for plan in self.planner.plans(pe):
                for slot, path in enumerate(plan.paths):
                    packets = tuple(sorted(set(self._packets(pe, plan, slot, path))))
                    for node, port in self._exits(pe, path):
                        found.setdefault(node, {})[path.number, port] = pe, packets
        cells = {node: _cells(each) for node, each in found.items()}
        return {
            node: [
                WatchedPath(port, number, cells[node][number, port], pe, packets)
                for (number, port), (pe, packets) in sorted(each.items())
            ]
            for node, each in found.items()
        }

    def _exits(self, pe: str, path: Path) -> Iterator[tuple[str, int]]:
        """Ends that a path may leave a node by, of nodes that tell the PE."""
        ports = first_ports(pe, path)
        if len(ports) == 1:
            yield pe, ports[0]
        exits = path.trace.exits if path.trace is not None else ()
        yield from (end for end in exits if self._config.nodes[end[0]].role == "p")

    def _packets(self, pe: str, plan: Plan, slot: int, path: Path) -> Iterator[PathPackets]:
        config, tunnel = self._config, path.tunnel
        # An END.CON SID takes no messages.
        if config.notification is Notification.END_CON:
            return
        node = config.nodes[pe]
        for policy, vrf in sorted(used_policies(node)):
            source = tunnel_source(config, pe, tunnel, vrf)
            if policy != plan.policy or source in node.end_sids:
                continue
            sids = tunnel_sids(config, tunnel, vrf) if tunnel.type == "srv6" else ()
            if has_srh(tunnel, sids):
                yield PathPackets(source, path_tag(plan.cell, slot), NO_ADDRESS)
            else:
                yield PathPackets(source, 0, sids[0] if sids else tunnel_egress(config, tunnel))


def first_ports(pe: str, path: Path) -> list[int]:
    """The ports by which a path may leave its PE; none where links do not show it."""
    return [port for node, port in path.trace.exits if node == pe] if path.trace else []


def congestion_interval(config: Config) -> int | None:
    """How often a path is said to be congested while packets meet that, and how often their senders
    hear of it, in microseconds: as of a queue at the least level that notifies (FAN-6). None where
    nodes say nothing of congested paths."""
    if config.notification is not Notification.FANTEL:
        return None
    levels = config.congestion.levels.values()
    return max((level.interval for level in levels if level.notify), default=None)


def _cells(paths: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """An index for each path and port of a node, a hash: what was said last of it is kept when the
    file changes. That more paths leave a node than it has room for is an error."""
    wanted = [(place, hashed(*place)) for place in sorted(paths)]
    return spread(wanted, max(CORE_PATH_CELLS, len(wanted)))
