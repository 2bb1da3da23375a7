"""Recirculation: the clone sessions whose copies are recirculated."""

from collections.abc import Iterable

from finsy import P4CloneSessionEntry

from fcn.contract.targets import CloneSession
from fcn.controller.owners.intent import Intent


class Recirculation:
    """Recirculates the copies of packets that somebody is to be told of."""

    def __init__(self, intent: Intent, sessions: Iterable[CloneSession]) -> None:
        self._intent = intent
        self._sessions = sessions

    def enable(self) -> None:
        """Set the recirculation port as the replicas of each clone session."""
        for session in self._sessions:
            self._intent.put(P4CloneSessionEntry(session.number, replicas=session.replicas))
