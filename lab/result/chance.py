"""What random rate cuts would give for reactions: what measured ones are to be compared with.

A reaction cannot be sooner than propagation allows, so its ratio to that is 1 or more whatever the
cuts are. Here the cuts of a run, each of the same connection and for the same CNP, come at times
drawn at random, equally likely over the run: the same number, and so the same rate.
"""

from dataclasses import dataclass, replace
from operator import attrgetter
from random import Random
from statistics import mean, median

from fcn.lab.result.model import Result
from fcn.lab.result.reaction import Congestions, Signal

DRAWS = 20


@dataclass(frozen=True, slots=True)
class Chance:
    """Of random cuts: the share of congestions with a cut, mean of the draws, and reaction over
    propagation, median of all draws. None where there is no congestion or no cut."""

    answered: float | None
    ratio: float | None


def by_chance(result: Result, draws: int = DRAWS) -> Chance:
    """The same for the same result: the run's seed is that of the draws."""
    congestions = Congestions(result)
    if not len(congestions) or not congestions.cuts:
        return Chance(None, None)
    random = Random(result.about.seed)
    answered, ratios = [], []
    for _ in range(draws):
        found = list(congestions.reactions(_at_random(result, congestions.cuts, random)))
        answered.append(mean(each.cut_ns is not None for each in found))
        ratios += [each.ratio for each in found if each.ratio is not None]
    return Chance(mean(answered), median(ratios) if ratios else None)


def _at_random(result: Result, cuts: list[Signal], random: Random) -> list[Signal]:
    begin, end = result.about.warm_up_ns, result.about.reached_ns
    moved = [replace(each, time_ns=random.randrange(begin, max(end, begin + 1))) for each in cuts]
    return sorted(moved, key=attrgetter("time_ns"))
