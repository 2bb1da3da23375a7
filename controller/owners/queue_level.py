"""QueueLevel: congestion levels and their policy (p4src/fast_cnp/queue_level.p4)."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from finsy import P4TableEntry

from fcn.contract.depth import LEVELS, Depth
from fcn.contract.ecn import Ecn
from fcn.controller.owners.tables import Tables, entry

Thresholds = Mapping[tuple[int, int], Sequence[Depth]]
"""Depths at which levels 1, 2, … begin, by (port, queue)."""


class QueueLevel(Tables):
    """Levels from queue depth (FCN-10), marking and notifying by level (FCN-11, SRF-3)."""

    def set_thresholds(
        self, thresholds: Thresholds, packet_size: int, levels: Sequence[int] = LEVELS
    ) -> None:
        """Set the thresholds of exactly these queues; all others are never congested.

        levels: those that begin at the depths, in order. packet_size: octets of a packet, to
        convert depths to the target's unit. Raises DepthError when a queue's depths are not
        distinct in that unit, or too large.
        """
        entries: list[P4TableEntry] = []
        for (port, queue), depths in thresholds.items():
            converted = self.target.depth.thresholds(depths, packet_size)
            entries += self._ranges(port, queue, converted, levels)
        self.intent.replace_table("queue_level", entries)

    def set_policy(self, level: int, *, mark: Ecn, notify: bool, interval: int) -> None:
        """At `level`: set this codepoint (NOT_ECT: none) on ECN-capable packets, and notify at most
        every `interval` microseconds per flow. Raises ValueError for a level that does not exist.
        """
        if level not in LEVELS:
            raise ValueError(
                f"there is not a congestion level {level}; levels are {LEVELS[0]} to {LEVELS[-1]}"
            )
        ticks = self.ticks(interval)
        self.put(
            "level_policy",
            {"level": level},
            "set_policy",
            mark=mark,
            notify=int(notify),
            interval=ticks,
        )

    def _ranges(
        self, port: int, queue: int, depths: Sequence[int], levels: Sequence[int]
    ) -> Iterable[P4TableEntry]:
        bounds = [*depths, self.target.depth.maximum + 1]
        for level, (low, high) in zip(levels, pairwise(bounds), strict=False):
            match = {"egress_port": port, "queue_id": queue, "queue_depth": (low, high - 1)}
            yield entry("queue_level", match, "set_level", level, level=level)
