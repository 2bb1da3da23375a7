"""What tenants offer that is not learned: counted per VRF and reason, said once a while."""

from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from math import inf

from fcn.controller.events import EventBus, Kind
from fcn.controller.throttle import Throttle

REPORT_INTERVAL = 60.0
"""Seconds between events about the same PE, VRF and reason."""


class RefusalReason(StrEnum):
    """Why a report of a PE is not used."""

    FOREIGN_SOURCE = "foreign-source"
    """The packet's source address is not behind the port of this PE that it came from."""
    LATE = "late"
    """It had to wait, as while somebody floods the PE: its flow is labelled, no more."""
    NO_ROOM = "no-room"
    """The tables of the PE are full, and the flow's host has the largest share."""
    NO_ROOM_CONNECTIONS = "no-room-connections"
    """Too many connections are remembered, and most of them of this host."""
    NO_ROOM_NEIGHBORS = "no-room-neighbors"
    """Too many hosts are resolved or have a route at the PE, and most of them behind this port."""
    NO_ROOM_WATCHED = "no-room-watched"
    """As many flows of unknown source are watched as may be, and most of them of this host."""
    TOO_MANY_REPORTS = "too-many-reports"
    """More reports than the controller handles, and most of them of this VRF."""
    TOO_MANY_PACKETS = "too-many-packets"
    """More packets for the controller than it handles, and most of them of this VRF."""


class Refusals:
    """Counts refused reports. `clock` returns seconds and never goes back."""

    def __init__(self, bus: EventBus, clock: Callable[[], float]) -> None:
        self._bus = bus
        self.counts: Counter[tuple[str, RefusalReason]] = Counter()
        """By VRF and reason; both are bounded by the configuration."""
        self._throttle: Throttle[tuple[str, str, RefusalReason]] = Throttle(
            clock, 1, REPORT_INTERVAL
        )
        self._clock = clock
        self._last: dict[tuple[str, str, RefusalReason], float] = {}
        self._kept_back: dict[tuple[str, str], float] = {}

    def refuse(self, node: str, vrf: str, reason: RefusalReason, text: Callable[[], str]) -> None:
        """A PE's report about a packet of a VRF is not used; `text` returns what and why."""
        self.counts[vrf, reason] += 1
        self._last[node, vrf, reason] = self._clock()
        unsaid = self._throttle.admit((node, vrf, reason))
        if unsaid is None:
            return
        since = f" (and {unsaid} of this VRF since the last time)" if unsaid else ""
        self._bus.emit(
            Kind.REFUSED,
            node,
            lambda: text() + since,
            vrf=vrf,
            reason=reason.value,
            reports=unsaid + 1,
        )

    def since(self, node: str, vrf: str, reason: RefusalReason) -> float:
        """Seconds since a report of this PE about this VRF was refused so; infinite if none was."""
        return self._clock() - self._last.get((node, vrf, reason), -inf)

    def kept_back(self, node: str, vrf: str) -> None:
        """A PE has kept reports about packets of a VRF back, or may have; it counts them itself."""
        self._kept_back[node, vrf] = self._clock()

    def complete_for(self, node: str, vrf: str) -> float:
        """Seconds since when every report of this PE about this VRF is handled."""
        kept_back = self._clock() - self._kept_back.get((node, vrf), -inf)
        return min(kept_back, self.since(node, vrf, RefusalReason.TOO_MANY_REPORTS))
