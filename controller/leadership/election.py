"""One leader over all switches: which controller that is, as the switches show it.

Every switch tells all controllers who is primary there. The one that is primary on most switches
leads, of equals the one that has the first of them by name, and takes the others. Where nobody is
primary anywhere, whoever sees that bids; likewise where the one that is first cannot have the
others, and does not take them. Controllers named in the configuration (`leadership`) rule only with
more than half of all switches, so that never two do.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fcn.controller.leadership.ids import WEAK, ElectionId


@dataclass(frozen=True, slots=True)
class Seat:
    """What a switch said last: the election ID of the client that is primary, none where nobody is,
    and the highest that it has seen. is_elsewhere: that is a controller of another region."""

    primary: int | None
    highest: int
    is_elsewhere: bool = False

    @property
    def holder(self) -> int | None:
        """The controller that is primary there; none where nobody is, or others are."""
        found = None if self.primary is None else ElectionId.parse(self.primary)
        return found.controller if found and not self.is_elsewhere else None

    @property
    def is_foreign(self) -> bool:
        """Whether others are primary there, and are not to be disturbed."""
        primary = self.primary or 0
        return self.is_elsewhere or (primary > WEAK and ElectionId.parse(primary) is None)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a controller stands. first: whose the others are to be, none where nobody holds any
    switch. held: how many of all `switches` this one is primary on. most: whether that is more than
    half, of an even number half with the first of them. vacant: whether nobody else has so many,
    also of those that are not seen, and this one can have them."""

    first: int | None
    held: int
    switches: int
    most: bool
    vacant: bool


def standing(
    seats: Mapping[str, Seat], order: Sequence[str], me: int, silent: int | None = None
) -> Standing:
    """Of controller `me`, which is told of `seats`. order: of all switches, the same everywhere.
    silent: one that does not answer this one any more, and counts as gone where it is first."""
    holders = [(seats[name].holder if name in seats else None) for name in order]
    counts = Counter(holder for holder in holders if holder is not None)
    first = max(counts, key=lambda each: (counts[each], -holders.index(each)), default=None)

    def are_most(mine: Callable[[str], bool]) -> bool:
        return 2 * sum(map(mine, order)) + any(map(mine, order[:1])) > len(order)

    def may_be_of_first(name: str) -> bool:
        return first != silent and (name not in seats or seats[name].holder == first)

    most = are_most(lambda name: name in seats and seats[name].holder == me)
    can = are_most(lambda name: name in seats and not seats[name].is_foreign)
    vacant = can and first != me and not are_most(may_be_of_first)
    return Standing(first, counts[me], len(order), most, vacant)
