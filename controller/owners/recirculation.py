"""Recirculation: the clone session whose copies are recirculated."""

from finsy import P4CloneSessionEntry

from fcn.contract.targets import CloneSession
from fcn.controller.owners.intent import Intent


class Recirculation:
    """Recirculates the copies of congested packets."""

    def __init__(self, intent: Intent, session: CloneSession) -> None:
        self._intent = intent
        self._session = session

    def enable(self) -> None:
        """Set the recirculation port as the clone session's replica."""
        replica = (self._session.port, self._session.instance)
        self._intent.put(P4CloneSessionEntry(self._session.number, replicas=[replica]))
