"""Checks of addresses that two would have, or nobody. Yields (path, message)."""

from collections.abc import Hashable, Iterator
from ipaddress import IPv4Interface, IPv6Interface

from fcn.controller.config.document import KeyPath
from fcn.controller.config.model import Config, Node, Port
from fcn.controller.config.notation import Address, format_mac
from fcn.controller.config.transport import Finding


def mac_owners(config: Config) -> Iterator[tuple[KeyPath, Hashable]]:
    """MAC addresses that the file gives to nodes; ports of one node may have the same."""
    for name, node in config.nodes.items():
        path: KeyPath = ("nodes", name)
        given: dict[int, KeyPath] = {}
        if node.mac is not None:
            given[node.mac] = (*path, "mac")
        for index, port in enumerate(node.ports):
            if port.mac is not None:
                given.setdefault(port.mac, (*path, "ports", index, "mac"))
        yield from ((where, format_mac(mac)) for mac, where in given.items())


def check_hosts(port: Port) -> Iterator[Finding]:
    """Static neighbours of a DC port that are no hosts there."""
    for host in port.hosts:
        subnet = next((own for own in port.addresses if host in own.network), None)
        where: KeyPath = ("hosts", str(host))
        if subnet is None:
            yield where, f"{host} is in no subnet of this port"
        elif problem := _no_neighbor(host, subnet):
            yield where, problem


def check_next_hop(node: Node, vrf: str, hop: Address) -> str | None:
    """Why no router can have this address behind a DC port, or None."""
    connected = [own for port in node.dc_ports if port.vrf == vrf for own in port.addresses]
    subnet = next((own for own in connected if hop in own.network), None)
    if subnet is None:
        return f"{hop} is in no connected subnet of VRF {vrf}"
    return _no_neighbor(hop, subnet)


def _no_neighbor(address: Address, own: IPv4Interface | IPv6Interface) -> str | None:
    subnet = own.network
    if address == own.ip:
        return f"{address} is this node's own address there; write that of the neighbour"
    ends = (subnet.network_address, subnet.broadcast_address)
    if subnet.version == 4 and subnet.prefixlen < 31 and address in ends:
        return f"{address} is the network or broadcast address of {subnet}"
    return None
