"""Recirculation: the clone session that gives a packet's copy its second pass."""

from finsy import P4CloneSessionEntry

from fcn.contract.targets import CloneSession
from fcn.controller.owners.intent import Intent


class Recirculation:
    """Copies of congested packets go back to ingress."""

    def __init__(self, intent: Intent, session: CloneSession) -> None:
        self._intent = intent
        self._session = session

    def enable(self) -> None:
        """Point the clone session at the recirculation port."""
        replica = (self._session.port, self._session.instance)
        self._intent.put(P4CloneSessionEntry(self._session.number, replicas=[replica]))
