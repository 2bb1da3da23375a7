"""PortRole: DC ports with their VRF, and core ports (p4src/forwarding/port_role.p4)."""

from fcn.controller.owners.owner import Owner


class PortRole(Owner):
    """Sets the roles of ports; a port without a role drops every packet."""

    def admit_customer(self, port: int, vlan: int, vrf: int) -> None:
        """Assign untagged (VLAN 0) or tagged frames of a DC port to a VRF."""
        self._put("port_role", {"ingress_port": port, "vlan_id": vlan}, "set_dc_port", vrf=vrf)

    def admit_core(self, port: int) -> None:
        """Make the port a core port."""
        self._put("port_role", {"ingress_port": port, "vlan_id": 0}, "set_core_port")
