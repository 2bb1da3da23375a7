"""A node's part of the configuration, and the intent it becomes."""

from dataclasses import dataclass
from ipaddress import IPv6Address

from fcn.contract.names import EGRESS_PE_TABLES
from fcn.contract.pipeline import Pipeline
from fcn.contract.targets import Target
from fcn.controller.config.addressing import link_local, port_mac
from fcn.controller.config.model import Config, Node, Port
from fcn.controller.config.modes import Notification
from fcn.controller.owners.flow_control import HoldNeighbor
from fcn.controller.owners.intent import Intent
from fcn.controller.owners.tables import Tables
from fcn.controller.owners.underlay import Adjacency


@dataclass(frozen=True, slots=True)
class NodeIntent:
    """What each part needs to write its entries."""

    config: Config
    name: str
    pipeline: Pipeline
    tables: Tables

    @property
    def intent(self) -> Intent:
        return self.tables.intent

    @property
    def node(self) -> Node:
        return self.config.nodes[self.name]

    @property
    def target(self) -> Target:
        return self.pipeline.target

    @property
    def is_pe(self) -> bool:
        return self.node.role == "pe"

    @property
    def two_thresholds(self) -> bool:
        return self.config.notification is Notification.TWO_THRESHOLD

    @property
    def tells_ingress_pes(self) -> bool:
        """Whether the node tells ingress PEs of congestion; a PE, of ports to data centres
        (FCN-18)."""
        return self.pipeline.has_tables(EGRESS_PE_TABLES)

    def vrf_id(self, name: str) -> int:
        return self.config.vrfs[name].id

    def mac(self, port: Port) -> int:
        return port_mac(self.name, self.node, port)

    def underlay_addresses(self) -> set[IPv6Address]:
        """Addresses of this node in the underlay, link-local ones included."""
        addresses = {self.node.underlay_address}
        for port in self.node.core_ports:
            addresses.add(link_local(self.mac(port)))
            addresses |= {
                interface.ip
                for interface in port.addresses
                if isinstance(interface.ip, IPv6Address)
            }
        return addresses

    def neighbors(self) -> dict[int, HoldNeighbor]:
        """The nodes on the other side of links, by port."""
        neighbors: dict[int, HoldNeighbor] = {}
        for link in self.config.link_ends():
            for (name, number), (peer, peer_port) in (link, link[::-1]):
                own, far = self.node.port(number), self.config.nodes[peer]
                far_port = far.port(peer_port)
                if name != self.name or own is None or far_port is None:
                    continue
                neighbors[number] = HoldNeighbor(
                    far.underlay_address,
                    port_mac(peer, far, far_port),
                    self.node.underlay_address,
                    self.mac(own),
                )
        return neighbors

    def link_adjacency(self, number: int, peer: str, peer_port: int) -> Adjacency:
        """The port of a node on the other side of a core port."""
        far = self.config.nodes[peer]
        port = far.port(peer_port)
        assert port is not None, "config/check.py saw to it"
        return self.adjacency(number, port_mac(peer, far, port))

    def adjacency(self, number: int, mac: int) -> Adjacency:
        """The neighbour with this MAC on a core port."""
        port = self.node.port(number)
        assert port is not None, "config/check.py saw to it"
        return Adjacency(number, self.mac(port), mac)
