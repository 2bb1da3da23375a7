"""BfdSession: with whom a node watches a link (p4src/fantel/links/bfd_session.p4)."""

from ipaddress import IPv6Address

from fcn.controller.owners.clock_slots import discriminator
from fcn.controller.owners.owner import Owner


class BfdSessions(Owner):
    """Neighbours whose BFD packets are believed, each on its own link (FAN-4, FAN-8)."""

    def believe(self, port: int, source: IPv6Address) -> None:
        """Believe this neighbour on this port."""
        self._put(
            "bfd_session",
            {"port": port, "source": source},
            "set_bfd_session",
            discriminator=discriminator(port),
        )
