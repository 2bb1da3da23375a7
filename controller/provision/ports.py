"""Ports: their roles and MAC addresses."""

from finsy.p4entity import P4ValueSetMember

from fcn.contract.names import CORE_PORTS
from fcn.controller.owners.core_ports import PortSet
from fcn.controller.owners.tables import Tables
from fcn.controller.provision.node_intent import NodeIntent


def admit_ports(to: NodeIntent) -> None:
    if to.pipeline.has_value_set(CORE_PORTS):
        # The parser cannot look up table port_role (p4src/tna/pe/parser.p4).
        members = [P4ValueSetMember(port.number) for port in to.node.core_ports]
        to.intent.put(PortSet(CORE_PORTS, members=members))
    # Ports that differ in their VLAN alone share an address.
    for number, mac in sorted({(port.number, to.mac(port)) for port in to.node.ports}):
        take_frames(to.tables, number, mac)
    for port in to.node.ports:
        if port.role == "core":
            admit_core(to.tables, port.number)
        elif port.vrf is not None:
            admit_customer(to.tables, port.number, port.vlan, to.vrf_id(port.vrf))


def take_frames(tables: Tables, port: int, mac: int) -> None:
    """Take frames that arrive on the port for this address; those for others are dropped."""
    tables.put("port_mac", {"ingress_port": port, "dst_mac": mac}, "to_this_node")


def admit_customer(tables: Tables, port: int, vlan: int, vrf: int) -> None:
    """Assign untagged (VLAN 0) or tagged frames of a DC port to a VRF."""
    tables.put("port_role", {"ingress_port": port, "vlan_id": vlan}, "set_dc_port", vrf=vrf)


def admit_core(tables: Tables, port: int) -> None:
    tables.put("port_role", {"ingress_port": port, "vlan_id": 0}, "set_core_port")
