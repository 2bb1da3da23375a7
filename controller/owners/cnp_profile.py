"""CnpProfile: header fields of a PE's CNPs (p4src/fast_cnp/cnp_profile.p4)."""

from finsy import P4TableAction, P4TableEntry

from fcn.contract.targets import Target
from fcn.controller.config.model import CnpProfile as Profile
from fcn.controller.owners.intent import Intent


class CnpProfile:
    """Header fields of CNPs, and the minimum interval per flow (FCN-13, FCN-15)."""

    def __init__(self, intent: Intent, target: Target) -> None:
        self._intent = intent
        self._target = target

    def set(self, profile: Profile) -> None:
        """Generate CNPs with these fields."""
        action = P4TableAction(
            "set_cnp_profile",
            traffic_class=profile.traffic_class,
            ttl=profile.ttl,
            udp_src_port=profile.udp_source_port,
            ipv4_id=profile.ipv4_id,
            min_interval=self._target.time_unit.ticks(profile.min_interval),
        )
        self._intent.put(P4TableEntry("cnp_profile", action=action, is_default_action=True))
