"""Sizes of random messages: some with their shares, or a published distribution."""

import random
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol

from fcn.topologies.units import parse_size

DistributionName = Literal["websearch", "hadoop", "storage"]

WHOLE = 10_000
"""Parts of a distribution: its shares are hundredths of a per cent."""

_FINE = 32
"""Bits of a place between two parts."""


class Sizes(Protocol):
    """What sizes messages have."""

    @property
    def mean(self) -> float:
        """Octets of a message on average."""

    def draw(self, rng: random.Random) -> int:
        """Octets of a message."""


@dataclass(frozen=True)
class Shares:
    shares: tuple[tuple[int, float], ...]

    @property
    def mean(self) -> float:
        """Octets of a message on average."""
        whole = sum(share for _, share in self.shares)
        return sum(size * share for size, share in self.shares) / whole

    def draw(self, rng: random.Random) -> int:
        """Octets of a message."""
        (size,) = rng.choices(*zip(*self.shares, strict=True))
        return int(size)


@dataclass(frozen=True)
class Distribution:
    """A published distribution: up to which size so many of WHOLE messages are, from nothing on.

    Between two points it is a straight line, as in HPCC's traffic generator.
    """

    points: tuple[tuple[int, int], ...]

    @property
    def mean(self) -> float:
        """Octets of a message on average."""
        parts = ((after - before) * (low + high) for low, before, high, after in self._steps())
        return sum(parts) / (2 * WHOLE)

    def draw(self, rng: random.Random) -> int:
        """Octets of a message; of whole numbers only, which are the same on every machine."""
        at = rng.randrange(WHOLE << _FINE)
        shares = [share << _FINE for _, share in self.points]
        place = bisect_left(shares, at + 1)
        (low, _), (high, _) = self.points[place - 1], self.points[place]
        before, after = shares[place - 1], shares[place]
        return max(1, low + (high - low) * (at - before) // (after - before))

    def _steps(self) -> list[tuple[int, int, int, int]]:
        return [(*low, *high) for low, high in pairwise(self.points)]


DISTRIBUTIONS: Mapping[DistributionName, Distribution] = {
    "websearch": Distribution(
        (
            (0, 0), (10_000, 1500), (20_000, 2000), (30_000, 3000), (50_000, 4000),
            (80_000, 5300), (200_000, 6000), (1_000_000, 7000), (2_000_000, 8000),
            (5_000_000, 9000), (10_000_000, 9700), (30_000_000, WHOLE),
        )
    ),
    "hadoop": Distribution(
        (
            (0, 0), (100, 100), (200, 200), (300, 500), (350, 1500), (400, 2000), (500, 3000),
            (600, 4000), (700, 5000), (1_000, 6000), (2_000, 6700), (7_000, 7000),
            (30_000, 7200), (50_000, 8200), (80_000, 8700), (120_000, 9000), (300_000, 9500),
            (1_000_000, 9750), (2_000_000, 9900), (10_000_000, WHOLE),
        )
    ),
    "storage": Distribution(
        (
            (0, 0), (4_000, 2293), (8_000, 6921), (16_000, 8061), (32_000, 9047),
            (64_000, 9353), (128_000, 9677), (256_000, 9753), (2_000_000, WHOLE),
        )
    ),
}  # fmt: skip
"""websearch: a cluster for web search (DCTCP, SIGCOMM 2010, figure 4). hadoop: a Hadoop cluster of
Facebook (Roy and others, SIGCOMM 2015, figure 6). storage: Alibaba's distributed storage, 2019. The
numbers are those of HPCC's repository: WebSearch_distribution.txt, FbHdp_distribution.txt (both
used in HPCC, SIGCOMM 2019) and AliStorage2019.txt."""


def sizes_from(written: tuple[tuple[object, ...], ...]) -> Shares:
    """Shares as a scenario writes them: `[[64kB, 0.9], [1MB, 0.1]]`. Raises TypeError, ValueError
    or OverflowError for what is none."""
    return Shares(tuple((parse_size(size), float(share)) for size, share in written))  # type: ignore[arg-type]
