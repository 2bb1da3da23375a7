"""What the models of all sections of the configuration are made of."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Model(BaseModel):
    """Unknown keys are errors, types are not coerced, instances are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


def not_empty(value: object) -> object:
    """Validates a section that is on when it is there: without a value YAML has null, which would
    be taken for a key that is left out. Raises ValueError."""
    if value is None:
        raise ValueError("nothing follows; write {} for the defaults, or leave the key out")
    return value


class RateLimit(Model):
    """Rate (per second) and burst; the defaults are those of a node's notifications (FCN-15)."""

    rate: Annotated[int, Field(ge=1, le=10_000_000)] = 20_000
    burst: Annotated[int, Field(ge=1, le=1_000_000)] = 200
