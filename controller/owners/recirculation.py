"""Recirculation: the clone session that gives a packet's copy its second pass."""

from finsy import P4CloneSessionEntry

from fcn.contract.constants import RECIRC_PORT, RECIRC_SESSION
from fcn.controller.owners.intent import Intent


class Recirculation:
    """Copies of congested packets go back to ingress."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def enable(self) -> None:
        """Point the clone session at the recirculation port."""
        self._intent.put(P4CloneSessionEntry(RECIRC_SESSION, replicas=[(RECIRC_PORT, 1)]))
