"""LightCongestion and LightPolicy: lightly congested flows at the ingress PE (PEC-3;
p4src/two_threshold/light_congestion.p4, light_policy.p4)."""

from fcn.controller.config.base import RateLimit
from fcn.controller.owners.owner import Owner

MICROSECOND = 1 << 16
"""In the unit of intervals between packets of a flow."""

SECOND = 1_000_000 * MICROSECOND


class LightCongestion(Owner):
    """How long a flow is treated, and how, by tunnel."""

    def treat_for(self, hold: int) -> None:
        """Treat flows for `hold` microseconds after the last notification of light congestion; 0:
        their senders are told of it as of any other."""
        self._set("light_congestion", "set_hold", hold=self._ticks(hold))

    def slow(self, tunnel: int, limit: RateLimit) -> None:
        """Slow each flow of a tunnel down to a rate (packets per second) and burst (packets)."""
        interval = round(SECOND / limit.rate)
        tolerance = interval * (limit.burst - 1)
        match = {"tunnel": tunnel}
        self._put("light_policy", match, "slow", interval=interval, tolerance=tolerance)

    def reroute(self, tunnel: int, next_tunnel: int) -> None:
        """Send flows of a tunnel through another."""
        self._put("light_policy", {"tunnel": tunnel}, "reroute", next_tunnel=next_tunnel)
