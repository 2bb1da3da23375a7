"""Recirculation: the clone sessions whose copies are recirculated."""

from finsy import P4CloneSessionEntry

from fcn.controller.owners.owner import Owner


class Recirculation(Owner):
    """Recirculates the copies of packets that somebody is to be told of."""

    def enable(self) -> None:
        """Set the recirculation port as the replicas of each clone session."""
        for session in self._target.clone_sessions:
            self._intent.put(P4CloneSessionEntry(session.number, replicas=session.replicas))
