"""DomainMode: notifications sent and translated by a node (p4src/common/base/domain_mode.p4)."""

from finsy import P4TableAction, P4TableEntry

from fcn.contract.pipeline import Pipeline
from fcn.controller.owners.intent import Intent


class DomainMode:
    """One default entry, read by the other controls (FCN-16)."""

    def __init__(self, intent: Intent, pipeline: Pipeline) -> None:
        self._intent = intent
        self._kinds = pipeline.enum("NotificationKind")

    def set(self, *, congestion_kind: str, translates: bool) -> None:
        """Set the kind of notification sent for a congested queue (member of NotificationKind), and
        whether Fast CNPs for this node become CNPs or are counted only."""
        action = P4TableAction(
            "set_mode",
            congestion_kind=self._kinds[congestion_kind],
            translates=int(translates),
        )
        self._intent.put(P4TableEntry("domain_mode", action=action, is_default_action=True))
