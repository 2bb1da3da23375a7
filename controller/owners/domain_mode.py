"""DomainMode: notifications sent and translated by a node (p4src/fast_cnp/domain_mode.p4)."""

from finsy import P4TableAction, P4TableEntry

from fcn.contract.pipeline import Pipeline
from fcn.controller.owners.intent import Intent


class DomainMode:
    """One default entry, read by the other controls (FCN-16)."""

    def __init__(self, intent: Intent, pipeline: Pipeline) -> None:
        self._intent = intent
        self._kinds = pipeline.enum("NotificationKind")

    def set(self, *, congestion_kind: str = "NONE", translates: str = "NONE") -> None:
        """Set the kind of notification sent for a congested queue, and the kind that becomes a CNP
        when it is for this node; others are counted only. Members of NotificationKind."""
        action = P4TableAction(
            "set_mode",
            congestion_kind=self._kinds[congestion_kind],
            translates=self._kinds[translates],
        )
        self._intent.put(P4TableEntry("domain_mode", action=action, is_default_action=True))
