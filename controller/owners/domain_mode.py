"""DomainMode: what a node does about congestion (p4src/common/base/domain_mode.p4)."""

from finsy import P4TableAction, P4TableEntry

from fcn.contract.pipeline import Pipeline
from fcn.controller.owners.intent import Intent


class DomainMode:
    """One entry that the other controls follow (FCN-16)."""

    def __init__(self, intent: Intent, pipeline: Pipeline) -> None:
        self._intent = intent
        self._kinds = pipeline.enum("NotificationKind")

    def set(self, *, congestion_kind: str, translates: bool) -> None:
        """A congested queue sends notifications of this kind (member of NotificationKind, NONE for
        none); Fast CNPs for this node become CNPs, or are counted only."""
        action = P4TableAction(
            "set_mode",
            congestion_kind=self._kinds[congestion_kind],
            translates=int(translates),
        )
        self._intent.put(P4TableEntry("domain_mode", action=action, is_default_action=True))
