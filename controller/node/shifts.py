"""Tells when a PE's switch begins to move flows because of load, and when it has come to rest
(FAN-7)."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from fcn.controller.clock import Clock
from fcn.controller.config.notation import format_duration
from fcn.controller.events import EventBus, Kind

CALM = 60
"""Seconds in which no flow is moved until a policy is at rest, and between two events of it."""


@dataclass(slots=True)
class _Shift:
    """What is known of a policy. last, told: when a flow was moved last, and the last event, in
    seconds; flowlets: moved to each path since it was at rest."""

    last: float = -math.inf
    told: float = -math.inf
    moving: bool = False
    flowlets: Counter[str] = field(default_factory=Counter)


class Shifts:
    """Of the policies of one PE."""

    def __init__(self, node: str, bus: EventBus, clock: Clock) -> None:
        self._node = node
        self._bus = bus
        self._clock = clock
        self._shifts: dict[str, _Shift] = {}

    def see(self, policy: str, moved: Mapping[str, int]) -> None:
        """Take in how many flowlets were moved to each path since the last look."""
        now = self._clock.monotonic()
        shift = self._shifts.setdefault(policy, _Shift())
        if any(moved.values()):
            shift.flowlets.update(moved)
            shift.last = now
        moving = now - shift.last < CALM
        if moving != shift.moving and now - shift.told >= CALM:
            shift.moving, shift.told = moving, now
            self._tell(policy, shift)
            if not moving:
                shift.flowlets.clear()

    def _tell(self, policy: str, shift: _Shift) -> None:
        told = [(path, count) for path, count in shift.flowlets.most_common() if count]
        counts = ", ".join(f"{count} to {path}" for path, count in told)
        name, kind = self._node, Kind.FLOWS_MOVED
        text = f"{name}: flows of policy {policy} are moved because of load; flowlets: {counts}"
        if not shift.moving:
            kind, calm = Kind.FLOWS_AT_REST, format_duration(CALM * 1_000_000)
            text = (
                f"{name}: for {calm} no flow of policy {policy} was moved because of load; "
                f"flowlets before: {counts}"
            )
        total = shift.flowlets.total()
        self._bus.emit(kind, name, text, policy=policy, path=told[0][0], flowlets=total)
