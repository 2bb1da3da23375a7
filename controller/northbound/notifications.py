"""Polls the notification counters, so that `fcn events` shows congestion."""

import asyncio

from fcn.contract.names import COUNTERS
from fcn.contract.parking import bmv2_commands
from fcn.controller.events import EventBus, Kind
from fcn.controller.node.agent import NodeAgent
from fcn.controller.node.session import SwitchAwayError

INTERVAL = 1.0
"""Seconds between reads of a switch's counters."""

WATCHED = frozenset(
    {
        "FAST_CNP_RECEIVED",
        "FAST_CNP_SENT",
        "END_CON_CNP_RECEIVED",
        "END_CON_CNP_SENT",
        "INNER_OPAQUE",
        "OWN_CONGESTION",
        "CNP_SENT",
        "CE_MARKED",
        "NOTIFICATION_ON_DC_PORT",
        "NOTIFICATION_UNTRUSTED",
        "NOTIFICATION_MALFORMED",
        "TRANSLATION_DISABLED",
        "LABEL_UNKNOWN",
        "SOURCE_QP_UNKNOWN",
        "NODE_RATE_LIMIT",
        "ARN_RECEIVED",
        "ARN_SENT",
        "PAUSE_SENT",
        "HOLD_BEGUN",
        "HOLD_PARKED",
        "HOLD_LEFT",
        "HOLD_SKIPPED",
        "HOLD_NO_ROOM",
        "HOLD_NO_CELL",
        "HOLD_LIMIT",
        "ARN_UNSUPPORTED",
        "PATH_UNKNOWN",
        "PATH_NONE_LEFT",
    }
)
"""Cells of counters that concern notifications."""

SKIPPED = "HOLD_SKIPPED"
"""Packets that left because those before them were lost while they waited."""


def parking_too_short(node: str, skipped: int, packets: int) -> str:
    """What an operator is told of that; packets: what the node holds at most."""
    commands = "', '".join(bmv2_commands(packets))
    return (
        f"{node}: held packets were lost ({SKIPPED} +{skipped}): the parking port's queue is "
        f"shorter than holding.packets, {packets}; "
        f"on BMv2 enter '{commands}' in simple_switch_CLI"
    )


class NotificationWatch:
    """Emits an event for each node whose notification counters increased."""

    def __init__(self, agent: NodeAgent, bus: EventBus) -> None:
        self._agent = agent
        self._bus = bus
        self._last: dict[str, int] | None = None

    async def run(self) -> None:
        """Poll the counters until cancelled."""
        while True:
            await asyncio.sleep(INTERVAL)
            if self._agent.is_up:
                await self._look()

    async def _look(self) -> None:
        try:
            counters = await self._agent.counters.read(COUNTERS)
        except SwitchAwayError:
            self._last = None
            return
        now = {
            f"{counter}.{member}": packets
            for counter, members in counters.items()
            for member, (packets, _) in members.items()
            if member in WATCHED
        }
        last, self._last = self._last, now
        if last is None:
            return
        grown = {key: count - last.get(key, 0) for key, count in now.items() if count > last[key]}
        if grown:
            by_member: dict[str, int] = {}
            for key, count in grown.items():
                member = key.partition(".")[2]
                by_member[member] = by_member.get(member, 0) + count
            name = self._agent.name
            text = ", ".join(f"{member} +{count}" for member, count in by_member.items())
            if skipped := by_member.get(SKIPPED):
                packets = self._agent.provision.config.holding.packets
                self._bus.emit(
                    Kind.HELD_LOST, name, parking_too_short(name, skipped, packets), skipped=skipped
                )
            self._bus.emit(Kind.NOTIFICATIONS, name, f"{name}: {text}", **dict(by_member.items()))
