"""PortMac: the MAC addresses a node takes frames for (p4src/forwarding/port_mac.p4)."""

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.controller.owners.intent import Intent


class PortMac:
    """Sets the addresses of ports; frames for other stations are dropped."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def own(self, port: int, mac: int) -> None:
        """Take frames that arrive on the port for this address."""
        match = P4TableMatch(ingress_port=port, dst_mac=mac)
        self._intent.put(
            P4TableEntry("port_mac", match=match, action=P4TableAction("to_this_node"))
        )
