"""One leader over all switches: which controller that is, as the switches show it.

Every switch tells all controllers who is primary there. The one that is primary on most switches
leads, of equals the one that has the first of them by name, and takes the others.
Where nobody is primary anywhere, whoever sees that bids. Controllers named in the configuration
(`leadership`) rule only with more than half of all switches, so that never two do.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fcn.controller.leadership.ids import WEAK, ElectionId


@dataclass(frozen=True, slots=True)
class Seat:
    """What a switch said last: the election ID of the client that is primary, none where nobody is,
    and the highest that it has seen."""

    primary: int | None
    highest: int

    @property
    def holder(self) -> int | None:
        """The controller that is primary there, none where nobody is or other software."""
        found = None if self.primary is None else ElectionId.parse(self.primary)
        return found.controller if found else None

    @property
    def is_foreign(self) -> bool:
        """Whether other software is primary there, and is not to be disturbed."""
        primary = self.primary or 0
        return primary > WEAK and ElectionId.parse(primary) is None


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a controller stands. first: whose the others are to be, none where nobody holds any
    switch. held: how many of all `switches` this one is primary on. most: whether that is more than
    half, of an even number half with the first of them."""

    first: int | None
    held: int
    switches: int
    most: bool


def standing(seats: Mapping[str, Seat], order: Sequence[str], me: int) -> Standing:
    """Of controller `me`, which is told of `seats`, of the switches in `order`, the same for all."""
    holders = [(seats[name].holder if name in seats else None) for name in order]
    counts = Counter(holder for holder in holders if holder is not None)
    first = max(counts, key=lambda each: (counts[each], -holders.index(each)), default=None)
    most = 2 * counts[me] + (holders[:1] == [me]) > len(order)
    return Standing(first, counts[me], len(order), most)
