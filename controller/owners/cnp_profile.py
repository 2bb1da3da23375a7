"""CnpProfile: header fields of a PE's CNPs (p4src/fast_cnp/cnp_profile.p4)."""

from fcn.controller.config.model import CnpProfile as Profile
from fcn.controller.owners.owner import Owner


class CnpProfile(Owner):
    """Header fields of CNPs, and the minimum interval per flow (FCN-13, FCN-15)."""

    def set(self, profile: Profile) -> None:
        """Generate CNPs with these fields."""
        self._set(
            "cnp_profile",
            "set_cnp_profile",
            traffic_class=profile.traffic_class,
            ttl=profile.ttl,
            udp_src_port=profile.udp_source_port,
            ipv4_id=profile.ipv4_id,
            min_interval=self._ticks(profile.min_interval),
        )
