"""The configuration's section of load balancing: by what nodes say of the load of paths (FAN-7)."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from fcn.controller.config.base import Model, not_empty
from fcn.controller.config.types import Duration, within

MOST_REFRESH = "1s"
"""PEs no longer count on what was said four times as long ago (p4src/v1model)."""


SETTLING_ROUNDS = 2
"""Of the clock, until what is said of a path shows what has moved: a utilization is that of two."""


class LoadBalancing(Model):
    """PEs move flows between the paths of a policy that are in use, away from the more loaded.

    A node says how loaded a path is, of the link by which that leaves it: when the utilization has
    changed by `change` (permille of the link's rate), or the level of its queue has, and again
    every `refresh`. Paths whose loads differ by less than `margin` (permille) are alike. A flow may
    take another path after a pause of `flowlet`, which has to exceed the difference of the paths'
    delays, so that nothing is overtaken. Times are in microseconds.
    """

    change: Annotated[int, Field(ge=1, le=1000)] = 50
    refresh: Annotated[Duration, within("1ms", MOST_REFRESH)] = 500_000
    margin: Annotated[int, Field(ge=0, le=1000)] = 40
    flowlet: Annotated[Duration, within("100us", "10s")] = 10_000


GivenBalancing = Annotated[LoadBalancing | None, BeforeValidator(not_empty)]
"""As the file has it; None only where the key is left out."""
