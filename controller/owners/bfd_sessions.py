"""BfdSession: with whom a node watches a link (p4src/fantel/links/bfd_session.p4)."""

from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.controller.owners.clock_slots import discriminator
from fcn.controller.owners.intent import Intent


class BfdSessions:
    """Neighbours whose BFD packets are believed, each on its own link (FAN-4, FAN-8)."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def believe(self, port: int, source: IPv6Address) -> None:
        """Believe this neighbour on this port."""
        match = P4TableMatch(port=port, source=source)
        action = P4TableAction("set_bfd_session", discriminator=discriminator(port))
        self._intent.put(P4TableEntry("bfd_session", match=match, action=action))
