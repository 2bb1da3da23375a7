"""Looks at true statements again and again, under any conditions: packets must never disprove one,
and leave few uncertain.

.venv/bin/python tests/controller/flows/verification_simulator.py 10000
"""

import argparse
import random
from collections.abc import Iterable
from dataclasses import replace

from inference_simulator import CONCLUDE_EVERY, conditions, connect, reports

from fcn.controller.flows.inference import Pairing
from fcn.controller.flows.verification import Verification

SLOTS = 1 << 16


def look_again(seed: int) -> tuple[int, int, int]:
    """Watch the connections of a network without a rest, from some time on: how many there are,
    how many were taken for none, and how many for uncertain."""
    rng = random.Random(seed)
    given = conditions(rng)
    given = replace(given, seconds=2 * given.seconds)
    connections = connect(given, rng)
    now = rng.choice([0.0, rng.uniform(0, given.seconds / 2)])
    ended = [0, 0]

    def look() -> None:
        for index, each in enumerate(watched.advance()[1:]):
            ended[index] += len(each)

    watched = Verification(lambda: now, SLOTS)
    for each in connections:
        watched.add(Pairing(*each.flows, stated=True))
    watched.advance()
    next_look = now + CONCLUDE_EVERY
    for when, flow, sample in reports(given, connections, rng):
        while when >= next_look:
            now = next_look
            look()
            next_look += CONCLUDE_EVERY
        if when >= now:
            now = when
            watched.observe(flow, sample)
    for _ in range(12):
        now = next_look
        look()
        next_look += CONCLUDE_EVERY
    return len(connections), ended[0], ended[1]


def total(seeds: Iterable[int]) -> tuple[int, int, int]:
    """Sums over many seeds."""
    statements, disproved, uncertain = zip(*map(look_again, seeds), strict=True)
    return sum(statements), sum(disproved), sum(uncertain)


def main() -> None:
    """Print how many true statements there were, and how many ended."""
    parser = argparse.ArgumentParser(description="Do packets end true statements?")
    parser.add_argument("seeds", type=int, nargs="?", default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    statements, disproved, uncertain = total(range(options.first, options.first + options.seeds))
    print(f"true statements watched: {statements}; disproved: {disproved}; uncertain: {uncertain}")


if __name__ == "__main__":
    main()
