"""FastCnpProfile: header fields of a node's Fast CNPs (p4src/fast_cnp/fast_cnp_profile.p4)."""

from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry

from fcn.controller.config.model import FastCnpProfile as Profile
from fcn.controller.owners.intent import Intent


class FastCnpProfile:
    """Header fields of Fast CNPs (FCN-9)."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def set(self, src: IPv6Address, udp_dst_port: int, profile: Profile) -> None:
        """Generate Fast CNPs with source address `src` and these fields."""
        action = P4TableAction(
            "set_fast_cnp_profile",
            src=src,
            udp_src_port=profile.udp_source_port,
            udp_dst_port=udp_dst_port,
            traffic_class=profile.traffic_class,
            hop_limit=profile.hop_limit,
            copy_label=int(profile.copy_label),
        )
        self._intent.put(P4TableEntry("fast_cnp_profile", action=action, is_default_action=True))
