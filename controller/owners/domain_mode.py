"""DomainMode: notifications sent and translated by a node (p4src/fast_cnp/domain_mode.p4)."""

from fcn.contract.constants import enum_members
from fcn.controller.owners.owner import Owner


class DomainMode(Owner):
    """One default entry, read by the other controls (FCN-16)."""

    def set(self, *, congestion_kind: str = "NONE", translates: str = "NONE") -> None:
        """Set the kind of notification sent for a congested queue, and the kind that becomes a CNP
        when it is for this node; others are counted only. Members of NotificationKind."""
        kinds = enum_members("NotificationKind")
        sent, translated = kinds[congestion_kind], kinds[translates]
        self._set("domain_mode", "set_mode", congestion_kind=sent, translates=translated)
