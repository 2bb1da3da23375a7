"""How much is learned of who sends a flow: `make learning` prints the table of docs/learning.md.

Every seed is a network of two hosts under conditions drawn at random, once without any statement
(inference_simulator.py), by port or by PSN, and once with CM, agents or both
(statement_simulator.py). verification_simulator.py watches true statements all the time.
"""

import argparse
import logging
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import inference_simulator as inferred
import statement_simulator as stated
import verification_simulator
from inference_simulator import Conditions
from inference_traffic import Kind
from statement_simulator import Said

WAYS = ("CM", "agent", "CM and agent", "port", "PSN")
DRAWN = {"CM": stated.by_cm, "agent": stated.by_agents, "CM and agent": stated.by_both}
UNSEEN = "without CM"
REUSED = ("by CM", "by CM, half of it seen", UNSEEN)
NEVER_STATED = "without CM, as those before"
REUSED_FOR = {
    "WRITE": Conditions(kind=Kind.WRITE, message=16),
    "READ": Conditions(kind=Kind.READ, message=16),
    "READ of 64 MiB": Conditions(kind=Kind.READ, message=1 << 14, rate=2e5),
    "READ of 1 GiB": Conditions(kind=Kind.READ, message=1 << 18, rate=2e5),
}
"""Packets are of 4 KiB."""
REUSE_SEEDS = 3
"""Of each row about numbers used again."""
REUSE_DRAWN = 200
"""Simulations of numbers used again under conditions drawn at random."""
REUSE_SLOTS = (16, 4, 2)
"""Flows watched at a time to look again in these, of up to 16: the others wait for their turn."""


@dataclass(slots=True)
class Survey:
    """Sums by condition and way; seeds that went wrong."""

    sums: dict[tuple[str, str], dict[str, Counter[str]]] = field(default_factory=dict)
    statements: int = 0
    ended: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, rows: Iterable[tuple[str, str]], way: str, found: Counter[str]) -> None:
        """One simulation more."""
        for row in rows:
            self.sums.setdefault(row, {}).setdefault(way, Counter()).update(found)


def _rows(given: Conditions, lost: float, late: float) -> Iterator[tuple[str, str]]:
    """What a simulation counts for. `lost`: share of messages or reports; `late`: seconds."""
    yield "all", ""
    yield "connections", f"{given.connections}"
    digits = len(str(given.message))
    yield "packets in a message", "1-9" if digits == 1 else f"from 10^{digits - 1}"
    yield "traffic", given.kind
    yield "trouble:", given.trouble
    yield "reports lost", f"{lost:.0%}"
    yield "reports late by up to", f"{late:g} s"
    yield "first PSN", given.psns


def survey(seeds: Iterable[int]) -> Survey:
    """What is learned in simulations of these seeds."""
    found = Survey()
    for seed in seeds:
        given = inferred.conditions(random.Random(seed))
        way = "port" if given.ports == "queue pairs" else "PSN"
        outcome = inferred.simulate(given, seed)
        sums = Counter(right=outcome.right, wrong=outcome.wrong, unknown=outcome.unknown)
        found.add(_rows(given, given.loss, given.report_delay), way, sums)
        if outcome.wrong:
            found.wrong.append(f"seed {seed}: {way}, {given}")
        way = list(DRAWN)[seed % len(DRAWN)]
        said = DRAWN[way](random.Random(seed))
        told = stated.simulate(given, said, seed)
        sums = Counter(right=told.right, wrong=told.wrong, unknown=told.unknown)
        lost, late = (said.loss, said.delay) if said.cm else (said.absent, stated.AGENT_INTERVAL)
        found.add(_rows(given, lost, late), way, sums)
        found.statements += told.statements
        found.ended += told.ended
        if told.wrong:
            found.wrong.append(f"seed {seed}: {way}, {given}, {said}")
    return found


def reused(how: str, traffic: Conditions, ports: str) -> Counter[str]:
    """Numbers of connections that ended unseen, a minute after others took them."""
    sums: Counter[str] = Counter()
    for seed in range(REUSE_SEEDS):
        given = replace(traffic, ports=ports, window=0.02, seconds=30.0)
        told = stated.simulate(given, Said(reuse=how), seed)
        sums.update(right=told.right, wrong=told.wrong, unknown=told.unknown)
    return sums


def reused_drawn(seeds: Iterable[int]) -> dict[str, dict[int, Counter[str]]]:
    """The same under conditions drawn at random, by how the others were connected and how many
    flows are looked at at a time; and where all was inferred, before as after."""
    sums: dict[str, dict[int, Counter[str]]] = {}
    for seed in seeds:
        given, said = stated.reused_network(seed)
        for how, what in ((said.reuse, said), (NEVER_STATED, Said(cm=False, reuse=UNSEEN))):
            for slots in REUSE_SLOTS:
                told = stated.simulate(given, what, seed, slots)
                found = sums.setdefault(how, {}).setdefault(slots, Counter())
                found.update(right=told.right, unknown=told.unknown, wrong=told.wrong)
    return sums


def _cell(sums: Counter[str] | None) -> str:
    if not sums:
        return ""
    flows = sums["right"] + sums["unknown"] + sums["wrong"]
    return (
        f"{100 * sums['right'] / flows:.1f} / {100 * sums['unknown'] / flows:.1f} / {sums['wrong']}"
    )


def _order(row: tuple[str, str]) -> tuple[str, float, str]:
    number = row[1].rpartition("^")[2].rstrip("% s").partition("-")[0]
    try:
        return row[0], float(number), row[1]
    except ValueError:
        return row[0], 0.0, row[1]


def show(found: Survey) -> None:
    """Print what was learned."""
    print("right % / unknown % / wrong (flows)\n")
    print("| condition |", " | ".join(WAYS), "|")
    print("|---" * (len(WAYS) + 1) + "|")
    for row, ways in sorted(found.sums.items(), key=lambda each: _order(each[0])):
        print(f"| {' '.join(row).strip()} |", " | ".join(_cell(ways.get(way)) for way in WAYS), "|")
    flows = Counter({way: sum(sums.values()) for way, sums in found.sums["all", ""].items()})
    print("| flows |", " | ".join(f"{flows[way]}" for way in WAYS), "|")
    print(f"\n{found.statements} true statements, of which packets ended {found.ended}.")
    for each in found.wrong:
        print(each)


def show_reused() -> None:
    """Print what became of queue pair numbers that were used again."""
    print("\nNumbers used again after a DREQ nobody saw, a minute later:\n")
    print("| connected | ports |", " | ".join(REUSED_FOR), "|")
    print("|---" * (len(REUSED_FOR) + 2) + "|")
    for how in REUSED:
        for ports in ("queue pairs", "per queue pair", "one"):
            cells = [_cell(reused(how, traffic, ports)) for traffic in REUSED_FOR.values()]
            print(f"| {how} | {ports} |", " | ".join(cells), "|")


def show_reused_drawn(seeds: Iterable[int]) -> None:
    """The same under conditions drawn at random."""
    columns = " | ".join(f"{slots} flows looked at at a time" for slots in REUSE_SLOTS)
    print(f"\nThe same under conditions drawn at random:\n\n| connected | {columns} |")
    print("|---" * (len(REUSE_SLOTS) + 1) + "|")
    for how, by_slots in sorted(reused_drawn(seeds).items()):
        print(f"| {how} |", " | ".join(_cell(by_slots[slots]) for slots in REUSE_SLOTS), "|")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="How much is learned, and how.")
    parser.add_argument("seeds", type=int, nargs="?", default=10_000)
    parser.add_argument("--reused", type=int, default=REUSE_DRAWN, help="of numbers used again")
    options = parser.parse_args()
    logging.disable()
    show(survey(range(options.seeds)))
    statements, disproved, uncertain = verification_simulator.total(range(options.seeds))
    print(f"Of {statements} true statements watched all the time packets disproved {disproved}")
    print(f"and left {uncertain} uncertain.")
    show_reused()
    show_reused_drawn(range(options.reused))


if __name__ == "__main__":
    main()
