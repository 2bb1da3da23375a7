"""Ports: their roles and MAC addresses."""

from fcn.contract.names import CORE_PORTS
from fcn.controller.owners.core_ports import CorePorts
from fcn.controller.owners.port_mac import PortMac
from fcn.controller.owners.port_role import PortRole
from fcn.controller.provision.node_intent import NodeIntent


def admit_ports(to: NodeIntent) -> None:
    """Take packets from the configured ports."""
    if to.pipeline.has_value_set(CORE_PORTS):
        CorePorts(to.intent).admit(port.number for port in to.node.core_ports)
    macs = PortMac(to.intent)
    # Ports that differ in their VLAN alone share an address.
    for number, mac in sorted({(port.number, to.mac(port)) for port in to.node.ports}):
        macs.own(number, mac)
    roles = PortRole(to.intent)
    for port in to.node.ports:
        if port.role == "core":
            roles.admit_core(port.number)
        elif port.vrf is not None:
            roles.admit_customer(port.number, port.vlan, to.vrf_id(port.vrf))
