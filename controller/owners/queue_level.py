"""QueueLevel: congestion levels and what is done at each (p4src/common/queue_level.p4)."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.targets import Target
from fcn.controller.config.model import LEVELS
from fcn.controller.owners.intent import Intent

MAX_DEPTH = (1 << 19) - 1

Thresholds = Mapping[tuple[int, int], Sequence[int]]
"""Depths (packets) at which levels 1, 2, … begin, by (port, queue)."""


class QueueLevel:
    """Levels from queue depth (FCN-10), marking and notifying by level (FCN-11, SRF-3)."""

    def __init__(self, intent: Intent, target: Target) -> None:
        self._intent = intent
        self._target = target

    def set_thresholds(self, thresholds: Thresholds) -> None:
        """Exactly these queues have levels; the others are never congested."""
        self._intent.replace_table("queue_level", list(_ranges(thresholds)))

    def set_policy(self, level: int, *, mark: bool, notify: bool, interval: int) -> None:
        """At `level`: set CE, notify at most every `interval` microseconds per flow."""
        if level not in LEVELS:
            raise ValueError(f"there is no congestion level {level}; levels are 1 to 7")
        ticks = self._target.ticks(interval)
        action = P4TableAction("set_policy", mark=int(mark), notify=int(notify), interval=ticks)
        match = P4TableMatch(level=level)
        self._intent.put(P4TableEntry("level_policy", match=match, action=action))


def _ranges(thresholds: Thresholds) -> Iterable[P4TableEntry]:
    for (port, queue), depths in thresholds.items():
        bounds = [*depths, MAX_DEPTH + 1]
        for level, (low, high) in enumerate(pairwise(bounds), start=1):
            yield P4TableEntry(
                "queue_level",
                match=P4TableMatch(egress_port=port, queue_id=queue, queue_depth=(low, high - 1)),
                action=P4TableAction("set_level", level=level),
                priority=level,
            )
