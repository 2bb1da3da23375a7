"""Marking curves of the two-threshold mode (PEC-1), and the steps they are compiled to.

    probability
    1 |                              +-------  CE
      |                            ..:  heavy_probability
      |               light_     ..  :
      |          ..: probability     :
      |       ..   :  ..             :
    0 +------+-----+-----------------+-------  queue depth
             T1    T2             maximum
        ECT(1) from T1     CE from T2

From T1 the probability of ECT(1) rises linearly from 0, towards `light_probability` at T2. From T2
that of CE rises as in RED (Floyd and Jacobson 1993): linearly from 0 towards `heavy_probability` at
the maximum, from where on every packet is marked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from fcn.contract.depth import Depth, DepthError, QueueDepth, check_amounts
from fcn.contract.ecn import Ecn

MAX_ERROR = 1 / 64
"""How far the probability of a step is from the curve, at most: a linear curve that rises by r has
at most ceil(32 r) steps."""

SCALE = 1 << 16
"""Probabilities in the switch: n stands for (n + 1) / SCALE."""

NAMES = ("T1", "T2", "maximum")

DEFAULT_DEPTHS = (Depth(16), Depth(48), Depth(128))


@dataclass(frozen=True, slots=True)
class Step:
    """At depths `low` to `high`, both inclusive and in the target's unit, a packet is marked with
    `codepoint` when a random number of 16 bits is not above `threshold`."""

    low: int
    high: int
    codepoint: Ecn
    threshold: int

    @property
    def probability(self) -> float:
        return (self.threshold + 1) / SCALE


@dataclass(frozen=True, slots=True)
class MarkingCurves:
    """The curves of one queue; depths in the target's unit."""

    light: int
    heavy: int
    maximum: int
    light_probability: float
    heavy_probability: float

    def at(self, depth: int) -> tuple[Ecn, float]:
        """Codepoint and probability at a depth, as configured; Not-ECT and 0 below T1."""
        if depth < self.light:
            return Ecn.NOT_ECT, 0.0
        if depth < self.heavy:
            share = (depth - self.light) / (self.heavy - self.light)
            return Ecn.ECT1, share * self.light_probability
        if depth < self.maximum:
            share = (depth - self.heavy) / (self.maximum - self.heavy)
            return Ecn.CE, share * self.heavy_probability
        return Ecn.CE, 1.0

    def steps(self, deepest: int) -> Iterator[Step]:
        """Steps within MAX_ERROR of the curves (and half of 1 / SCALE for rounding), up to the
        largest depth of the target. Depths in no step are those where no packet is marked."""
        for low, end, rise in (
            (self.light, self.heavy, self.light_probability),
            (self.heavy, self.maximum, self.heavy_probability),
        ):
            depths = end - low
            number = min(max(ceil(rise / (2 * MAX_ERROR)), 1), depths)
            for index in range(number):
                first = low + index * depths // number
                last = low + (index + 1) * depths // number - 1
                middle = (self.at(first)[1] + self.at(last)[1]) / 2
                threshold = round(middle * SCALE) - 1
                if threshold >= 0:
                    yield Step(first, last, self.at(first)[0], threshold)
        yield Step(self.maximum, deepest, Ecn.CE, SCALE - 1)


def check_depths(depths: Sequence[Depth]) -> None:
    """The rules for T1, T2 and the maximum of a queue, in any unit. Raises DepthError."""
    if len(depths) != len(NAMES):
        raise DepthError(
            f"{len(depths)} depths; a queue in the two-threshold mode has three: "
            f"{', '.join(NAMES)}; write them as 16, 48, 128"
        )
    check_amounts(depths)
    for (name, low), (above, high) in pairwise(zip(NAMES, depths, strict=True)):
        if low.amount >= high.amount:
            raise DepthError(
                f"{name} ({low}) is not below {above} ({high}); "
                f"write {', '.join(NAMES)} in this order, each larger"
            )


def curves(
    depths: Sequence[Depth],
    unit: QueueDepth,
    packet_size: int,
    *,
    light_probability: float,
    heavy_probability: float,
) -> MarkingCurves:
    """The curves of a queue in the unit of its target; `packet_size`: octets. Raises DepthError."""
    check_depths(depths)
    light, heavy, maximum = (unit.convert(depth, packet_size) for depth in depths)
    for name, value, depth in zip(NAMES, (light, heavy, maximum), depths, strict=True):
        if value > unit.maximum:
            raise DepthError(
                f"{name} of {depth} is {value} {unit.unit}; the target reports {unit.maximum} "
                "at most; write a smaller depth"
            )
    if light == heavy or heavy == maximum:
        both = NAMES[:2] if light == heavy else NAMES[1:]
        raise DepthError(
            f"{both[0]} and {both[1]} are both {heavy} {unit.unit}; set them further apart"
        )
    return MarkingCurves(light, heavy, maximum, light_probability, heavy_probability)
