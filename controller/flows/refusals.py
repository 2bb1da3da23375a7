"""What tenants offer that is not learned: counted per VRF and reason, said once a while."""

from collections import Counter
from collections.abc import Callable
from enum import StrEnum

from fcn.controller.events import EventBus, Kind

REPORT_INTERVAL = 60.0
"""Seconds between events about the same PE, VRF and reason."""


class Reason(StrEnum):
    """Why a report of a PE is not used."""

    FOREIGN_SOURCE = "foreign-source"
    """The packet's source address is not behind this PE."""
    NO_ROOM = "no-room"
    """The tables of the PE are full, and the flow's host has the largest share."""
    NO_ROOM_CONNECTIONS = "no-room-connections"
    """Too many connections are remembered, and most of them of this host."""
    TOO_MANY_REPORTS = "too-many-reports"
    """More reports than the controller handles, and most of them of this VRF."""
    TOO_MANY_PACKETS = "too-many-packets"
    """More packets for the controller than it handles, and most of them of this VRF."""


class Refusals:
    """Counts refused reports. `clock` returns seconds and never goes back."""

    def __init__(self, bus: EventBus, clock: Callable[[], float]) -> None:
        self._bus = bus
        self._clock = clock
        self.counts: Counter[tuple[str, Reason]] = Counter()
        """By VRF and reason; both are bounded by the configuration."""
        self._said: dict[tuple[str, str, Reason], tuple[float, int]] = {}
        """When the next event is due, and the reports since the last."""

    def refuse(self, node: str, vrf: str, reason: Reason, text: str) -> None:
        """A PE's report about a packet of a VRF is not used; `text` says what and why."""
        self.counts[vrf, reason] += 1
        now = self._clock()
        due, unsaid = self._said.get((node, vrf, reason), (now, 0))
        if now < due:
            self._said[node, vrf, reason] = (due, unsaid + 1)
            return
        self._said[node, vrf, reason] = (now + REPORT_INTERVAL, 0)
        since = f" (and {unsaid} of this VRF since the last time)" if unsaid else ""
        self._bus.emit(
            Kind.REFUSED, node, f"{text}{since}", vrf=vrf, reason=reason.value, reports=unsaid + 1
        )
