"""FastCnpProfile: whether a P node sends Fast CNPs (p4src/common/fast_cnp.p4)."""

from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry

from fcn.controller.config.model import FastCnpProfile as Profile
from fcn.controller.owners.intent import Intent


class FastCnpProfile:
    """What the node's Fast CNPs look like (FCN-9, FCN-16)."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def enable(self, src: IPv6Address, udp_dst_port: int, profile: Profile) -> None:
        """Send Fast CNPs from `src`."""
        self._set(
            P4TableAction(
                "fast_cnp_enabled",
                src=src,
                udp_src_port=profile.udp_source_port,
                udp_dst_port=udp_dst_port,
                traffic_class=profile.traffic_class,
                hop_limit=profile.hop_limit,
                copy_label=int(profile.copy_label),
            )
        )

    def disable(self) -> None:
        """Send none."""
        self._set(P4TableAction("fast_cnp_disabled"))

    def _set(self, action: P4TableAction) -> None:
        self._intent.put(P4TableEntry("fast_cnp_profile", action=action, is_default_action=True))
