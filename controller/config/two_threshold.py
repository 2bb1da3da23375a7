"""The configuration's section of the two-threshold mode (PEC-1 to PEC-3)."""

from typing import Annotated

from pydantic import AfterValidator, Field

from fcn.contract.depth import Depth
from fcn.contract.marking import DEFAULT_DEPTHS, check_depths
from fcn.controller.config.base import Model, RateLimit
from fcn.controller.config.modes import Treatment
from fcn.controller.config.types import Duration, Interval, Items, Probability, QueueDepth, within

TreatmentName = Annotated[Treatment, Field(strict=False)]


def _three(depths: tuple[Depth, ...]) -> tuple[Depth, ...]:
    check_depths(depths)
    return depths


class TwoThreshold(Model):
    """The two-threshold mode of the domain (PEC-1 to PEC-3).

    `depths`: T1, T2 and maximum of every core port, queue 0. `light_probability`, that of ECT(1),
    is reached at T2; `heavy_probability`, that of CE, at the maximum, from where on every packet is
    marked (contract/marking.py). The intervals are those between notifications of one flow.

    `treatment` of lightly congested flows; `rate` in packets per second, of each that is slowed
    down. A treatment lasts for `hold` after the last notification, and does not begin again for
    another one. `round_trip`: the longest one between an ingress PE and a node of its paths: a
    shorter hold would end before its effect is seen. The default is that of 1000 km of fibre.
    """

    depths: Annotated[Items[QueueDepth], AfterValidator(_three)] = DEFAULT_DEPTHS
    light_probability: Probability = 0.25
    heavy_probability: Probability = 1.0
    light_interval: Interval = 1_000
    heavy_interval: Interval = 50
    treatment: TreatmentName = Treatment.NONE
    rate: RateLimit = RateLimit(rate=100_000, burst=32)
    hold: Annotated[Duration, within("1us", "1m")] = 20_000
    round_trip: Annotated[Duration, within("1us", "10s")] = 10_000
