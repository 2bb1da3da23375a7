"""FastCnpProfile: header fields of a node's Fast CNPs (p4src/fast_cnp/fast_cnp_profile.p4)."""

from ipaddress import IPv6Address

from fcn.controller.config.model import FastCnpProfile as Profile
from fcn.controller.owners.owner import Owner


class FastCnpProfile(Owner):
    """Header fields of Fast CNPs (FCN-9)."""

    def set(self, src: IPv6Address, udp_dst_port: int, profile: Profile) -> None:
        """Generate Fast CNPs with source address `src` and these fields."""
        self._set(
            "fast_cnp_profile",
            "set_fast_cnp_profile",
            src=src,
            udp_src_port=profile.udp_source_port,
            udp_dst_port=udp_dst_port,
            traffic_class=profile.traffic_class,
            hop_limit=profile.hop_limit,
            copy_label=int(profile.copy_label),
        )
