"""The configuration's section of failures that nodes find in the data plane (FAN-4, FAN-5)."""

from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from fcn.controller.config.base import Model, not_empty
from fcn.controller.config.types import Duration, within


class FailureDetection(Model):
    """Each link between two nodes of the file is watched by both.

    A link on which a node has nothing to send carries a BFD packet (RFC 5880) every `interval`; one
    from which nothing comes for `multiplier` times that long is down. A node says of each path that
    leaves it by a link whether it has failed: three times when that changes, an `interval` apart,
    and again every `refresh`. With `notification: fantel` it says of the queue there, too, whether
    it is congested: until `relief` after the last packet that met a level with `notify`. Times are
    in microseconds.
    """

    interval: Annotated[Duration, within("1ms", "10s")] = 100_000
    multiplier: Annotated[int, Field(ge=2, le=50)] = 3
    refresh: Annotated[Duration, within("1ms", "1h")] = 10_000_000

    relief: Annotated[Duration, within("1ms", "1h")] = 100_000

    @model_validator(mode="after")
    def _refreshed_later(self) -> "FailureDetection":
        if self.refresh < self.interval:
            raise ValueError("refresh is shorter than interval; write a longer one, such as 10s")
        return self

    @property
    def detection_time(self) -> int:
        """How long a link is silent until it is down, in microseconds."""
        return self.interval * self.multiplier


GivenDetection = Annotated[FailureDetection | None, BeforeValidator(not_empty)]
"""As the file has it; None only where the key is left out."""
