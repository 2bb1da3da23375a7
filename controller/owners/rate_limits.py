"""NotificationLimit and PuntLimit: node-wide meters (p4src/common/base/rate_limits.p4)."""

from finsy import P4MeterConfig, P4MeterEntry

from fcn.controller.config.model import RateLimit
from fcn.controller.owners.intent import Intent


class _Limit:
    meter: str

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def allow(self, limit: RateLimit) -> None:
        """Set rate (packets per second) and burst (packets)."""
        config = P4MeterConfig(
            cir=limit.rate, cburst=limit.burst, pir=limit.rate, pburst=limit.burst
        )
        self._intent.put(P4MeterEntry(self.meter, index=0, config=config))


class NotificationLimit(_Limit):
    """All notifications of the node together (FCN-15)."""

    meter = "notification_meter"


class PuntLimit(_Limit):
    """All packets sent to the controller together."""

    meter = "punt_meter"
