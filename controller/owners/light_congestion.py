"""LightCongestion and LightPolicy: lightly congested flows at the ingress PE (PEC-3;
p4src/two_threshold/light_congestion.p4, light_policy.p4)."""

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.targets import Target
from fcn.controller.config.base import RateLimit
from fcn.controller.owners.intent import Intent

MICROSECOND = 1 << 16
"""In the unit of intervals between packets of a flow."""

SECOND = 1_000_000 * MICROSECOND


class LightCongestion:
    """How long a flow is treated, and how, by tunnel."""

    def __init__(self, intent: Intent, target: Target) -> None:
        self._intent = intent
        self._target = target

    def treat_for(self, hold: int) -> None:
        """Treat flows for `hold` microseconds after the last notification of light congestion; 0:
        their senders are told of it as of any other."""
        action = P4TableAction("set_hold", hold=self._target.time_unit.ticks(hold))
        self._intent.put(P4TableEntry("light_congestion", action=action, is_default_action=True))

    def slow(self, tunnel: int, limit: RateLimit) -> None:
        """Slow each flow of a tunnel down to a rate (packets per second) and burst (packets)."""
        interval = round(SECOND / limit.rate)
        action = P4TableAction("slow", interval=interval, tolerance=interval * (limit.burst - 1))
        self._put(tunnel, action)

    def reroute(self, tunnel: int, next_tunnel: int) -> None:
        """Send flows of a tunnel through another."""
        self._put(tunnel, P4TableAction("reroute", next_tunnel=next_tunnel))

    def _put(self, tunnel: int, action: P4TableAction) -> None:
        match = P4TableMatch(tunnel=tunnel)
        self._intent.put(P4TableEntry("light_policy", match=match, action=action))
