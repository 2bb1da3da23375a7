"""NotificationPort: notification kinds by UDP port (p4src/fast_cnp/notification_port.p4)."""

from fcn.contract.constants import enum_members
from fcn.controller.owners.owner import Owner


class NotificationPort(Owner):
    """Kinds of notifications by UDP port (FCN-9)."""

    def expect(self, kind: str, udp_port: int) -> None:
        """Treat datagrams to this port as notifications of this kind (NotificationKind)."""
        self._put(
            "notification_port",
            {"udp_dst_port": udp_port},
            "set_notification_kind",
            kind=enum_members("NotificationKind")[kind],
        )
