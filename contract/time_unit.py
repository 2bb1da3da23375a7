"""The unit of the programs' time parameters."""

from dataclasses import dataclass

MAX_TICKS = (1 << 32) - 1
"""Time parameters of the programs have 32 bits."""


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """tick: nanoseconds per unit of a time parameter."""

    tick: int = 1000

    def ticks(self, microseconds: int) -> int:
        """A duration in ticks, rounded up, limited to 32 bits."""
        return min(-(-microseconds * 1000 // self.tick), MAX_TICKS)
