"""What a sweep runs: every combination of scenarios, modes, values of parameters, and seeds."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress, permutations, product
from math import prod
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BeforeValidator, Field

from fcn.contract.version import fcn_version
from fcn.controller.config.document import (
    DocumentError,
    KeyPath,
    plain_data,
    read_document,
    read_text,
    spell,
)
from fcn.controller.config.types import Items
from fcn.lab.controls import Model
from fcn.lab.modes import Mode
from fcn.lab.scenario.load import Plan, ScenarioError, catalog, parse_scenario
from fcn.topologies.units import Time

EXAMPLE = Path(__file__).parent / "example.yaml"
"""Explains every key."""

MAX_RUNS = 100_000

Seeds = Annotated[
    Items[Annotated[int, Field(ge=0, lt=1 << 63)]],
    BeforeValidator(lambda value: list(range(1, value + 1)) if type(value) is int else value),
    Field(min_length=1, max_length=MAX_RUNS),
]
"""A list of them, or how many, from 1 on."""

Values = Annotated[Items[Any], Field(min_length=1)]

Show = Callable[[int, int], object]
"""Told how many runs are planned now, and of how many."""


class GridError(ScenarioError):
    """A grid that is impossible; the message has a line for each reason, with file and line."""


class Grid(Model):
    """The whole file. `modes`: those of the scenarios where left out. `parameters`: values by their
    place in a scenario, as `hosts.dcqcn.g` or `traffic.0.size`. `cases`: values that belong
    together, by a name. `until`: where runs end early."""

    scenarios: Annotated[Items[str], Field(min_length=1)]
    modes: Items[Mode] = ()
    seeds: Seeds = (1,)
    parameters: dict[str, Values] = Field(default_factory=dict)
    cases: dict[str, dict[str, Any]] = Field(default_factory=dict)
    until: Annotated[Time, Field(ge=1)] | None = None

    @property
    def runs(self) -> int:
        """How many there are."""
        each = len(self.scenarios) * (len(self.modes) or 1) * len(self.seeds)
        return each * prod(map(len, self.parameters.values())) * (len(self.cases) or 1)


@dataclass(frozen=True)
class Point:
    """A run of a sweep. parameters: their values, by name."""

    plan: Plan
    parameters: Mapping[str, str | int | float | bool]
    until_ns: int | None

    @property
    def name(self) -> str:
        given = "".join(f", {key} {value}" for key, value in self.parameters.items())
        scenario = self.plan.scenario
        return f"{self.plan.name}, mode {scenario.mode}{given}, seed {scenario.seed}"

    @property
    def identity(self) -> str:
        """What its result follows from, as a digest: runs of the same identity give the same."""
        plan = self.plan
        scenario = plan.scenario
        parts = (fcn_version(), plan.name, plan.text, repr(plan.topology), scenario.mode)
        whole = "\0".join((*parts, str(scenario.seed), str(self.until_ns)))
        return hashlib.sha256(whole.encode()).hexdigest()


@dataclass(frozen=True)
class Sweep:
    """A grid that was checked: its name, and its runs in their order."""

    name: str
    grid: Grid
    points: tuple[Point, ...]

    @property
    def distinct(self) -> list[Point]:
        """Those to run: values of cases may be the same, or those that a scenario has."""
        return list({point.identity: point for point in self.points}.values())


def load_grid(file: Path, show: Show = lambda planned, of: None) -> Sweep:
    """The sweep that a file describes. Raises GridError with every problem found."""
    try:
        return parse_grid(read_text(file), file, show)
    except OSError as error:
        reason = f"no grid {file}: {error.strerror} (see {EXAMPLE})"
        raise GridError(reason) from None
    except DocumentError as error:
        raise GridError(str(error)) from None


def parse_grid(text: str, file: Path, show: Show = lambda planned, of: None) -> Sweep:
    """The sweep of a grid that is or might be in `file`, beside which the scenarios are that it
    names by a file. Raises GridError with every problem found."""
    points: list[Point] = []

    def check(grid: Grid) -> Iterator[tuple[KeyPath, str]]:
        wrong = [*_counts(grid)]
        yield from wrong
        if wrong:
            return
        planned = 0
        for number, name in enumerate(grid.scenarios):
            try:
                document = _document(name, file.parent)
            except (OSError, ValueError, DocumentError) as error:
                yield ("scenarios", number), f"{name}: {error}"
                continue
            for runs, problems in _combinations(grid, number, document, file.parent):
                points.extend(runs)
                yield from problems
                planned += (len(grid.modes) or 1) * len(grid.seeds)
                show(planned, grid.runs)

    try:
        grid = read_document(text, str(file), Grid, EXAMPLE, check)
    except DocumentError as error:
        raise GridError(str(error)) from None
    return Sweep(file.stem, grid, tuple(points))


def _counts(grid: Grid) -> Iterator[tuple[KeyPath, str]]:
    if grid.runs > MAX_RUNS:
        yield (), f"{grid.runs} runs, of at most {MAX_RUNS}: give fewer values, or several grids"
    lists: list[tuple[KeyPath, list[str]]] = [
        (("scenarios",), [Path(name).stem for name in grid.scenarios]),
        (("modes",), list(grid.modes)),
        (("seeds",), [str(seed) for seed in grid.seeds]),
        *(
            (("parameters", key), [str(_column(values, value)) for value in values])
            for key, values in grid.parameters.items()
        ),
    ]
    for path, values in lists:
        twice = [value for value, times in Counter(values).items() if times > 1][:5]
        if twice:
            yield path, f"{', '.join(twice)}: given twice"
    for key in grid.parameters:
        if key in ("mode", "seed"):
            yield ("parameters", key), f"give {key}s instead"
        if key in RESERVED:
            yield ("parameters", key), f"the table has a column {key} already"
    for outer, inner in _nested(grid.parameters):
        yield ("parameters", outer), f"{inner} is a part of it: give either"
    for case, given in grid.cases.items():
        for key in given:
            if key in ("mode", "seed"):
                yield ("cases", case), f"{key}: give {key}s instead"
            if key in grid.parameters:
                yield ("cases", case), f"{key} is a parameter, whose values would replace this one"
        for outer, inner in _nested({**given, **grid.parameters}):
            yield ("cases", case), f"{inner} is a part of {outer}: give either"


def _nested(keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Places in a scenario, and what is given inside them, too."""
    return (pair for pair in permutations(keys, 2) if pair[1].startswith(f"{pair[0]}."))


CASE = "case"
RESERVED = ("scenario", "identity", "error", "measure", CASE)


def _document(name: str, folder: Path) -> Any:  # noqa: ANN401 - whatever YAML holds
    found = catalog().get(name) or folder / name
    return plain_data(read_text(found))


def _combinations(
    grid: Grid,
    number: int,
    document: object,
    folder: Path,
) -> Iterator[tuple[list[Point], list[tuple[KeyPath, str]]]]:
    """Of a scenario with each combination of values: its runs, or what is wrong with it, unless
    that was told. Networks named by files are beside it."""
    name = grid.scenarios[number]
    beside = (catalog().get(name) or folder / name).parent
    file = beside / f"{Path(name).stem}.yaml"
    keys = tuple(grid.parameters)
    told: set[KeyPath] = set()
    cases = grid.cases or {"": {}}
    for case, *values in product(cases, *grid.parameters.values()):
        given = dict(zip(keys, values, strict=True))
        changes = cases[case] | given
        try:
            plans = _plans(document, changes, file, grid.modes)
        except (ScenarioError, _PlaceError) as error:
            # Lines of a file that the user has not written would mislead.
            reason = re.sub(rf"^{re.escape(str(file))}:\d+: ", "", str(error), flags=re.MULTILINE)
            place: KeyPath = ("cases", case) if grid.cases else ("scenarios", number)
            without = ({each: changes[each] for each in changes if each != key} for key in keys)
            fine = (_fits(document, others, file, grid.modes) for others in without)
            if key := _named(keys, reason) or next(compress(keys, fine), None):
                # That, or the one without whose value nothing would be wrong.
                place = ("parameters", key)
            shown = "".join(f", {key} {_label(value)}" for key, value in given.items())
            shown = f", {CASE} {case}{shown}" if grid.cases else shown
            yield [], [] if place in told else [(place, f"{name}{shown}: {reason}")]
            told.add(place)
            continue
        labels = {key: _column(grid.parameters[key], value) for key, value in given.items()}
        if grid.cases:
            labels = {CASE: case, **labels}
        seeded = (each.using(seed=seed) for each in plans for seed in grid.seeds)
        yield [Point(plan, labels, grid.until) for plan in seeded], []


class _PlaceError(Exception):
    """A parameter that has no place in a scenario."""


def _fits(document: object, changes: Mapping[str, Any], file: Path, modes: Sequence[Mode]) -> bool:
    with suppress(ScenarioError, _PlaceError):
        return bool(_plans(document, changes, file, modes))
    return False


def _plans(
    document: object, changes: Mapping[str, Any], file: Path, modes: Sequence[Mode]
) -> list[Plan]:
    """A scenario with other values, in each mode. Raises ScenarioError, _PlaceError."""
    changed = json.loads(json.dumps(document))
    for key, value in changes.items():
        _set(changed, key, value)
    text = yaml.dump(changed, Dumper=yaml.CSafeDumper, sort_keys=False)
    plan = parse_scenario(text, file)
    return [plan.using(mode=mode) for mode in modes or (plan.scenario.mode,)]


def _set(document: Any, key: str, value: Any) -> None:  # noqa: ANN401 - whatever YAML holds
    """Put a value where a path says; keys that are missing are made."""
    parts = key.split(".")
    here = document
    for part, after in zip(parts, (*parts[1:], None), strict=True):
        index: Any = part
        if isinstance(here, list):
            if not part.isdecimal() or int(part) >= len(here):
                reason = f"{part} is none of the {len(here)} items there, from 0"
                raise _PlaceError(f"{_spelled(key)}: {reason}")
            index = int(part)
        elif not isinstance(here, dict):
            raise _PlaceError(f"{_spelled(key)}: {part} is in nothing that has keys")
        if after is None:
            here[index] = value
        else:
            here = here[index] if isinstance(here, list) else here.setdefault(index, {})


def _named(keys: Sequence[str], reason: str) -> str | None:
    """The parameter that a reason names, or of which it names what it is in."""
    for parents in (False, True):
        for key in keys:
            shown = _spelled(key.rpartition(".")[0] if parents else key)
            if shown and shown in reason:
                return key
    return None


def _spelled(key: str) -> str:
    """A parameter as messages about scenarios write it."""
    parts = key.split(".")
    return spell(tuple(int(part) if part.isdecimal() else part for part in parts))


def _label(value: Any) -> str:  # noqa: ANN401 - whatever YAML holds
    return value if isinstance(value, str) else json.dumps(value)


def _column(
    values: tuple[Any, ...],
    value: Any,  # noqa: ANN401 - whatever YAML holds
) -> str | int | float | bool:
    """A value of a column: as it is where all are numbers, or truth values; otherwise text."""
    kinds = {type(each) for each in values}
    if kinds == {bool} or kinds == {int}:
        return value  # type: ignore[no-any-return]
    return float(value) if kinds <= {int, float} else _label(value)


def keys_of(sweep: Sweep) -> list[str]:
    """The columns that say what a row is of, but for the seed."""
    return ["scenario", "mode", *([CASE] if sweep.grid.cases else []), *sweep.grid.parameters]
