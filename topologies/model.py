"""What a network looks like, independent of how it is run: nodes, links, hosts, delays, queues.

Everything else (Mininet, the controller's YAML, the demo) is derived from a `Topology`. Addresses
follow from positions, so two topologies of the same shape are addressed alike:

- node i (counting from 1): underlay address 2001:db8:0:ff::i, locator 2001:db8:0:i::/64
- host on port n of the d-th PE: 10.d.n.10/24 and 2001:db8:d:n::10/64, gateway .1 and ::1
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from itertools import pairwise
from typing import Any, Literal

from fcn.contract.hops import shortest
from fcn.topologies.data_centre import DataCentre

Role = Literal["pe", "p"]
TunnelType = Literal["srv6", "vxlan", "gre", "mpls-udp"]

HOST_PART = 10
GATEWAY_PART = 1

NS_PER_MS = 1_000_000

# Queues no topology limits are deep enough for the bursts a busy machine makes, and congested only
# when they hold more than those.
ROOMY_DEPTH = 4096
ROOMY_THRESHOLD = 2000


class TopologyError(ValueError):
    """The topology contradicts itself; the message says where."""


@dataclass(frozen=True, slots=True)
class Node:
    """A switch: provider edge or transit node."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Link:
    """A core link: propagation delay of one way in nanoseconds, and bits per second of each
    direction (0: not limited)."""

    a: str
    b: str
    delay_ns: int = 0
    rate_bps: int = 0

    @property
    def delay_ms(self) -> float:
        return self.delay_ns / NS_PER_MS


@dataclass(frozen=True, slots=True)
class Host:
    """A RoCEv2 host on a DC port of its own, or a router with more `networks` behind it.

    rate_bps: bits per second of its link, each direction (0: not limited).
    """

    name: str
    pe: str
    vrf: str = "blue"
    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    rate_bps: int = 0


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue of `node` towards its neighbour: packets per second served, packets it holds."""

    node: str
    towards: str
    rate_pps: int
    depth: int


@dataclass(frozen=True, slots=True)
class Way:
    """A path of a policy: the nodes it is led through by their END SIDs."""

    via: tuple[str, ...]
    weight: int = 1
    is_backup: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """Paths of SRv6 from one PE to another; hold_down_ns: 0 is the controller's default."""

    pe: str
    to: str
    ways: tuple[Way, ...]
    hold_down_ns: int = 0


@dataclass(frozen=True, slots=True)
class Port:
    """One port of a node, with `peer` at its other end; delay and rate are those of the link."""

    node: str
    number: int
    peer: str
    role: Literal["dc", "core"]
    delay_ns: int = 0
    rate_bps: int = 0

    @property
    def interface(self) -> str:
        """Name of the port's network interface on this machine."""
        return f"{self.node}-eth{self.number}"


@dataclass(frozen=True, slots=True)
class HostAddresses:
    """Addresses of a host and of its gateway, with prefix lengths."""

    ipv4: IPv4Interface
    ipv6: IPv6Interface
    ipv4_gateway: IPv4Interface
    ipv6_gateway: IPv6Interface


@dataclass(frozen=True)
class Topology:
    """A WAN with its hosts; data centres (`centres`) are behind hosts named as their gateways.

    detection: `failure_detection` of the controller's configuration, empty without; balancing:
    `load_balancing`, None without.
    """

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    hosts: tuple[Host, ...]
    queues: tuple[Queue, ...] = ()
    vrfs: dict[str, int] = field(default_factory=lambda: {"blue": 1})
    tunnel: TunnelType = "srv6"
    centres: tuple[DataCentre, ...] = ()
    policies: tuple[Policy, ...] = ()
    detection: Mapping[str, Any] = field(default_factory=dict)
    balancing: Mapping[str, Any] | None = None

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        """All switch ports; a node's hosts come first, then its links in their order."""
        counts = {node.name: 0 for node in self.nodes}

        def next_number(node: str) -> int:
            counts[node] += 1
            return counts[node]

        ports = [
            Port(host.pe, next_number(host.pe), host.name, "dc", rate_bps=host.rate_bps)
            for host in self.hosts
        ]
        for link in self.links:
            for near, far in ((link.a, link.b), (link.b, link.a)):
                number = next_number(near)
                ports.append(Port(near, number, far, "core", link.delay_ns, link.rate_bps))
        return tuple(ports)

    def ports_of(self, node: str) -> tuple[Port, ...]:
        return tuple(sorted((p for p in self.ports if p.node == node), key=lambda p: p.number))

    def port(self, node: str, peer: str) -> Port:
        """The port of `node` towards `peer`. Raises TopologyError when they are not adjacent."""
        for port in self.ports:
            if (port.node, port.peer) == (node, peer):
                return port
        raise TopologyError(f"{self.name}: {node} has no port towards {peer}")

    def queue_of(self, port: Port) -> Queue | None:
        """The settings of a port's queue, if it is limited."""
        for queue in self.queues:
            if (queue.node, queue.towards) == (port.node, port.peer):
                return queue
        return None

    @property
    def pes(self) -> tuple[Node, ...]:
        """Provider edges in the topology's order."""
        return tuple(node for node in self.nodes if node.role == "pe")

    def policies_of(self, pe: str) -> tuple[Policy, ...]:
        return tuple(policy for policy in self.policies if policy.pe == pe)

    def index(self, node: str) -> int:
        """Position of a node, counting from 1: its device ID and the last part of its address."""
        return [each.name for each in self.nodes].index(node) + 1

    def underlay_address(self, node: str) -> IPv6Address:
        """Source of a node's tunnels and notifications."""
        return IPv6Address(f"2001:db8:0:ff::{self.index(node):x}")

    def locator(self, node: str) -> IPv6Network:
        """Prefix a node's SIDs are in."""
        return IPv6Network(f"2001:db8:0:{self.index(node):x}::/64")

    def addresses(self, host: str) -> HostAddresses:
        """Addresses of a host, from its PE's and its port's number."""
        port = self._host_port(host)
        site = [pe.name for pe in self.pes].index(port.node) + 1
        ipv4 = f"10.{site}.{port.number}."
        ipv6 = f"2001:db8:{site:x}:{port.number:x}::"
        return HostAddresses(
            IPv4Interface(f"{ipv4}{HOST_PART}/24"),
            IPv6Interface(f"{ipv6}{HOST_PART}/64"),
            IPv4Interface(f"{ipv4}{GATEWAY_PART}/24"),
            IPv6Interface(f"{ipv6}{GATEWAY_PART}/64"),
        )

    def link_rate_bps(self, host: str) -> int:
        """Bits per second of a host's link, each direction (0: not limited)."""
        return self._host_port(host).rate_bps

    def _host_port(self, host: str) -> Port:
        return next(port for port in self.ports if port.peer == host and port.role == "dc")

    def path(self, start: str, end: str) -> tuple[str, ...]:
        """Nodes and hosts on the path with the fewest hops, both ends included."""
        near: dict[str, list[str]] = {}
        for port in self.ports:
            near.setdefault(port.node, []).append(port.peer)
            if port.role == "dc":
                near.setdefault(port.peer, []).append(port.node)
        if route := shortest(start, end, near):
            return route
        raise TopologyError(f"{self.name}: no path from {start} to {end}")

    def delay_ns(self, start: str, end: str) -> int:
        """One-way propagation delay along `path`, in nanoseconds."""
        delays = {(port.node, port.peer): port.delay_ns for port in self.ports}
        return sum(delays.get(hop, 0) for hop in pairwise(self.path(start, end)))

    def delay_ms(self, start: str, end: str) -> float:
        return self.delay_ns(start, end) / NS_PER_MS

    def host_ports(self) -> Iterator[tuple[Host, Port]]:
        """Every host with the switch port it is on."""
        for host in self.hosts:
            yield host, self.port(host.pe, host.name)
