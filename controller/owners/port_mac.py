"""PortMac: the MAC addresses a node takes frames for (p4src/forwarding/port_mac.p4)."""

from fcn.controller.owners.owner import Owner


class PortMac(Owner):
    """Sets the addresses of ports; frames for other stations are dropped."""

    def own(self, port: int, mac: int) -> None:
        """Take frames that arrive on the port for this address."""
        self._put("port_mac", {"ingress_port": port, "dst_mac": mac}, "to_this_node")
