"""Who may speak of a path, and where: FantelArrival (p4src/fantel/messages/fantel_arrival.p4)."""

from collections.abc import Iterable
from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.controller.config.reporters import Reporter, node_number
from fcn.controller.owners.intent import Intent


class PathReporters:
    """Links and nodes whose messages about a path are believed (FAN-4, FAN-8)."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def believe(self, number: int, found: Iterable[Reporter]) -> None:
        """Believe these about the path with this ID."""
        for reporter in found:
            match = P4TableMatch(
                source=reporter.address,
                node=node_number(reporter.node),
                link=reporter.port,
                path_id=number,
            )
            action = P4TableAction(
                "set_reporter", reporter_cell=reporter.cell, bit_of_path=reporter.bit
            )
            self._intent.put(P4TableEntry("path_reporter", match=match, action=action))

    def expect(self, source: IPv6Address, ports: Iterable[int]) -> None:
        """Hear the node with this address by these ports alone."""
        for port in ports:
            match = P4TableMatch(source=source, ingress_port=port)
            action = P4TableAction("comes_this_way")
            self._intent.put(P4TableEntry("reporter_port", match=match, action=action))
