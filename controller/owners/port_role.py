"""PortRole: DC ports with their VRF, and core ports (p4src/forwarding/port_role.p4)."""

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.controller.owners.intent import Intent


class PortRole:
    """Sets the roles of ports; a port without a role drops every packet."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def admit_customer(self, port: int, vlan: int, vrf: int) -> None:
        """Assign untagged (VLAN 0) or tagged frames of a DC port to a VRF."""
        self._admit(port, vlan, P4TableAction("set_dc_port", vrf=vrf))

    def admit_core(self, port: int) -> None:
        """Make the port a core port."""
        self._admit(port, 0, P4TableAction("set_core_port"))

    def _admit(self, port: int, vlan: int, action: P4TableAction) -> None:
        match = P4TableMatch(ingress_port=port, vlan_id=vlan)
        self._intent.put(P4TableEntry("port_role", match=match, action=action))
