"""Every pair of modes, what the check says of it, and runs that together have every accepted one.

    .venv/bin/python tests/lab/modes/mode_pairs.py

writes mode_runs.json and docs/modes.md anew: when a mode is added, or a refusal.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from domain_modes import MODES, Choice, completed, network

from fcn.controller.config import ConfigError, parse_config

Value = tuple[str, str]
"""A key of MODES and one of its values."""
Pair = tuple[Value, Value]

RUNS_FILE = Path(__file__).with_name("mode_runs.json")
HEAD_FILE = Path(__file__).with_name("head.md")
TABLE_FILE = Path(__file__).parents[3] / "docs" / "modes.md"
TEST = "tests/lab/modes/test_modes_beside_modes.py"

VALUES: tuple[Value, ...] = tuple((mode, value) for mode in MODES for value in MODES[mode])
PAIRS: tuple[Pair, ...] = tuple((a, b) for a, b in combinations(VALUES, 2) if a[0] != b[0])


def reason(choice: Choice) -> str | None:
    """Why the check refuses the network with these modes; None when it does not."""
    try:
        # JSON is YAML that is written faster.
        parse_config(json.dumps(network(choice)))
    except ConfigError as error:
        return "; ".join(sorted({problem.message for problem in error.problems}))
    return None


def refused(pairs: Iterable[Pair]) -> Mapping[Pair, str]:
    """Those of the pairs that the check refuses, and why."""
    found = {pair: reason(dict(pair)) for pair in pairs}
    return {pair: why for pair, why in found.items() if why is not None}


@cache
def refusals() -> Mapping[Pair, str]:
    """The pairs that the check refuses, and why; what a committed run has is accepted there."""
    shown = {pair for run in committed_runs() for pair in pairs_of(run)}
    return refused(pair for pair in PAIRS if pair not in shown)


def committed_runs() -> list[dict[str, str]]:
    """The modes of each run, all that it has."""
    found: list[dict[str, str]] = json.loads(RUNS_FILE.read_text())
    return found


def pairs_of(run: Choice) -> Iterator[Pair]:
    """What it has beside each other."""
    values = [(mode, run[mode]) for mode in MODES if mode in run]
    yield from combinations(values, 2)


def with_every_mode(runs: Sequence[Choice]) -> set[int]:
    """Numbers of runs that together have every value of every mode, found greedily."""
    found: set[int] = set()
    left = {value for run in runs for value in run.items()}
    while left:
        best = max(range(len(runs)), key=lambda number: len(left & set(runs[number].items())))
        found.add(best)
        left -= set(runs[best].items())
    return found


def params_of(names: Iterable[str], everyday: Collection[int]) -> list[ParameterSet]:
    """Runs as parameters of a test by their names; what is not of every day is exhaustive."""
    return [
        pytest.param(name, id=name, marks=() if number in everyday else pytest.mark.exhaustive)
        for number, name in enumerate(names)
    ]


def name_of(number: int, run: Choice) -> str:
    """Of a run in the tests: its number, and what differs from the defaults."""
    plain = completed({})
    parts = [value if value not in ("on", "off") else mode for mode, value in run.items()
             if value != plain.get(mode)]  # fmt: skip
    return f"{number}-" + "+".join(parts)


def cover() -> list[dict[str, str]]:
    """Runs that together have every accepted pair, found greedily; always the same."""
    forbidden = set(refused(PAIRS))
    left = [pair for pair in PAIRS if pair not in forbidden]
    runs: list[dict[str, str]] = []
    used: Counter[Value] = Counter()
    while left:
        open_pairs = set(left)
        run = dict(left[0])
        for mode, values in MODES.items():
            treats = run.get("notification") == "two-threshold"
            if mode in run or (mode == "treatment" and not treats):
                continue
            fitting = [
                value
                for value in values
                if not any(_pair((mode, value), each) in forbidden for each in run.items())
                and (mode != "notification" or value == "two-threshold" or "treatment" not in run)
            ]
            run[mode] = max(
                fitting,
                key=lambda value: (
                    sum(_pair((mode, value), each) in open_pairs for each in run.items()),
                    -used[mode, value],
                ),
            )
        run = {mode: run[mode] for mode in MODES if mode in run}
        assert reason(run) is None, (run, reason(run))
        runs.append(run)
        used.update(run.items())
        done = set(pairs_of(run))
        left = [pair for pair in left if pair not in done]
    return runs


def _pair(a: Value, b: Value) -> Pair:
    """In the order of VALUES."""
    return (a, b) if VALUES.index(a) < VALUES.index(b) else (b, a)


SHOWN = 3
"""Runs of a pair that the table names."""


def page() -> str:
    """What docs/modes.md has to be."""
    reasons = {pair: _general(why) for pair, why in refusals().items()}
    letters = {
        why: chr(ord("a") + number) for number, why in enumerate(dict.fromkeys(reasons.values()))
    }
    shown_by: dict[Pair, list[int]] = {pair: [] for pair in PAIRS}
    runs = committed_runs()
    for number, run in enumerate(runs, 1):
        for pair in pairs_of(run):
            shown_by[pair].append(number)
    cells = {
        pair: f"refused: {letters[reasons[pair]]}"
        if pair in reasons
        else ", ".join(map(str, numbers[:SHOWN])) + (", …" if len(numbers) > SHOWN else "")
        for pair, numbers in shown_by.items()
    }
    parts = [HEAD_FILE.read_text()]
    modes = list(MODES)
    for number, mode in enumerate(modes[:-1]):
        parts.append(f"\n## {mode}\n\n")
        parts.append(_row(["beside", *MODES[mode]]) + _row(["---"] * (len(MODES[mode]) + 1)))
        for other in modes[number + 1 :]:
            for value in MODES[other]:
                row = [cells[(mode, own), (other, value)] for own in MODES[mode]]
                parts.append(_row([f"{other} {value}", *row]))
    parts.append("\n## Refused\n\n| | reason |\n|---|---|\n")
    parts += [_row([letter, why]) for why, letter in letters.items()]
    parts.append("\n## Runs\n\n" + _row(["", *modes]) + _row(["---"] * (len(modes) + 1)))
    for number, run in enumerate(runs, 1):
        parts.append(_row([str(number), *(run.get(mode, "") for mode in modes)]))
    return "".join(parts)


def _general(why: str) -> str:
    """The reason whatever the domain's notification is."""
    for notification in MODES["notification"]:
        why = why.replace(f"domain has notification: {notification}", "domain has another")
    return why


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


if __name__ == "__main__":
    RUNS_FILE.write_text(json.dumps(cover(), indent=1) + "\n")
    TABLE_FILE.write_text(page())
