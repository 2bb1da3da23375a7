"""Polls the notification counters, so that `fcn events` shows congestion."""

import asyncio

from fcn.contract.names import COUNTERS
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
    }
)
"""Cells of counters that concern notifications."""


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
            self._bus.emit(Kind.NOTIFICATIONS, name, f"{name}: {text}", **dict(by_member.items()))
