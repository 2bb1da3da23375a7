"""Queue depth: how a target counts it, and thresholds converted to that unit.

A threshold is given in packets or in octets. BMv2 and softswitch count packets, a Tofino counts the
buffer cells packets occupy, so that 8 packets are not 8 cells. Between packets and octets the
conversion assumes packets of one size, `congestion.packet_size` of the configuration.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

LEVELS = range(1, 8)
"""Congestion levels (FCN-10); level 0 means no congestion."""

PACKET_SIZE = 1500
"""Assumed octets of a packet in a queue where the configuration has no `packet_size`."""


class DepthUnit(StrEnum):
    """Unit in which a threshold is configured."""

    PACKETS = "packets"
    OCTETS = "octets"


@dataclass(frozen=True, slots=True)
class Depth:
    """A queue depth as configured."""

    amount: int
    unit: DepthUnit = DepthUnit.PACKETS

    def __str__(self) -> str:
        return f"{self.amount} {self.unit}"


DEFAULT_THRESHOLDS = tuple(Depth(packets) for packets in range(8, 57, 8))


class DepthError(ValueError):
    """These depths cannot be the thresholds of a queue; the message says which level and why."""


def check_thresholds(depths: Sequence[Depth]) -> None:
    """The rules for depths at which levels 1, 2, … begin, in any unit. Raises DepthError."""
    if len(depths) > len(LEVELS):
        raise DepthError(
            f"{len(depths)} depths, but there are {len(LEVELS)} levels; write {len(LEVELS)} at most"
        )
    check_amounts(depths)
    for low, high in pairwise(depths):
        if low.amount >= high.amount:
            raise DepthError(
                f"queue depths must rise from level to level, but {high} follows {low}; "
                "write the smallest first, each once"
            )


def check_amounts(depths: Sequence[Depth]) -> None:
    """The rules for all depths of a queue, in any order. Raises DepthError."""
    if any(depth.amount < 1 for depth in depths):
        raise DepthError("queue depths are at least 1; write a larger one")
    if len({depth.unit for depth in depths}) > 1:
        raise DepthError("queue depths are all in packets or all in octets; give them one unit")


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """The queue depth of a target: packets, or buffer cells of `cell` octets, in `bits` bits."""

    cell: int | None = None
    bits: int = 19

    @property
    def unit(self) -> str:
        return "packets" if self.cell is None else f"cells of {self.cell} octets"

    @property
    def maximum(self) -> int:
        """The largest depth the target reports, in its unit."""
        return (1 << self.bits) - 1

    def convert(self, depth: Depth, packet_size: int) -> int:
        """`depth` in the target's unit, rounded up; `packet_size` in octets.

        A packet occupies whole cells.
        """
        if self.cell is None:
            in_packets = depth.unit is DepthUnit.PACKETS
            return depth.amount if in_packets else -(-depth.amount // packet_size)
        if depth.unit is DepthUnit.PACKETS:
            return depth.amount * -(-packet_size // self.cell)
        return -(-depth.amount // self.cell)

    def thresholds(self, depths: Sequence[Depth], packet_size: int) -> tuple[int, ...]:
        """Depths of levels 1, 2, … in the target's unit, strictly increasing. Raises DepthError."""
        check_thresholds(depths)
        converted = tuple(self.convert(depth, packet_size) for depth in depths)
        for level, (depth, value) in enumerate(zip(depths, converted, strict=True), start=1):
            if value > self.maximum:
                raise DepthError(
                    f"level {level} at {depth} is {value} {self.unit}; "
                    f"the target reports {self.maximum} at most; write a smaller depth"
                )
        for level, (low, high) in enumerate(pairwise(converted), start=1):
            if low == high:
                raise DepthError(
                    f"levels {level} and {level + 1} at {depths[level - 1]} and {depths[level]} "
                    f"are both {low} {self.unit}; set them further apart"
                )
        return converted
