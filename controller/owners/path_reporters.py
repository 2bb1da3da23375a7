"""Who may speak of a path, and where: FantelArrival (p4src/fantel/messages/fantel_arrival.p4)."""

from collections.abc import Iterable
from ipaddress import IPv6Address

from fcn.controller.config.reporters import Reporter, node_number
from fcn.controller.owners.owner import Owner


class PathReporters(Owner):
    """Links and nodes whose messages about a path are believed (FAN-4, FAN-8)."""

    def believe(self, number: int, found: Iterable[Reporter]) -> None:
        """Believe these about the path with this ID."""
        for reporter in found:
            self._put(
                "path_reporter",
                {
                    "source": reporter.address,
                    "node": node_number(reporter.node),
                    "link": reporter.port,
                    "path_id": number,
                },
                "set_reporter",
                reporter_cell=reporter.cell,
                bit_of_path=reporter.bit,
            )

    def expect(self, source: IPv6Address, ports: Iterable[int]) -> None:
        """Hear the node with this address by these ports alone."""
        for port in ports:
            self._put("reporter_port", {"source": source, "ingress_port": port}, "comes_this_way")
