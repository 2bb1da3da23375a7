"""The numbers of the findings: of each run, kept in a small file of each grid."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, log10
from pathlib import Path
from statistics import fmean

import pandas as pd

from fcn.bench.harness import RESULTS, BenchError
from fcn.lab.report.amounts import show
from fcn.lab.sweep.measures import MEASURES

GRIDS_FOLDER = Path(__file__).parent
GRIDS = (
    "distance", "far", "buffer", "pairs", "rate", "all-reduce", "failure", "senders",
    "selective",
)  # fmt: skip
NUMBERS = RESULTS / "findings"

KEPT = (
    "goodput_bps", "messages", "completed", "fct_mean_ns", "fct_p99_ns", "slowdown_mean",
    "slowdown_p99", "slowdown_small_p99", "slowdown_large_p99", "iteration_mean_ns",
    "iteration_max_ns", "job_max_ns", "queue_mean_packets", "queue_max_octets",
    "reaction_median_ns", "cuts", "frames_lost", "retransmitted", "pauses", "paused_ns", "held",
)  # fmt: skip
"""Measures of the sweeps that are kept."""

HIGHER_IS_BETTER = frozenset({"goodput_bps", "completed"})
NEUTRAL = frozenset({"reaction_median_ns", "cuts", "held"})
"""More of it is neither better nor worse."""

SAME = 0.05
"""Means that differ by less are called equal."""

COLUMNS = ["mode", "case", "measure", "seed", "value"]


@dataclass(frozen=True, slots=True)
class Number:
    """A measure of runs that differ in their seed only: values by seed."""

    measure: str
    values: Mapping[int, float]

    @property
    def mean(self) -> float:
        return fmean(self.values.values())

    def __str__(self) -> str:
        """The mean, and the least and the most where that can be seen."""
        low, high = (_shown(each(self.values.values()), self.measure) for each in (min, max))
        text = _shown(self.mean, self.measure)
        return text if low == high else f"{text} ({low} to {high})"

    def worse_than(self, other: "Number") -> bool:
        """By more than SAME on the average, and with each seed: other traffic is that of the seed,
        whatever the mode."""
        if self.measure in NEUTRAL:
            return False
        sign = -1 if self.measure in HIGHER_IS_BETTER else 1
        apart = [
            sign * (value - other.values[seed])
            for seed, value in self.values.items()
            if seed in other.values
        ]
        return bool(apart) and min(apart) > 0 and fmean(apart) > SAME * abs(other.mean)


class Numbers:
    """Those of one grid."""

    def __init__(self, name: str, data: pd.DataFrame) -> None:
        self.name, self.data = name, data
        found: dict[tuple[str, str, str], dict[int, float]] = {}
        for mode, case, measure, seed, value in data[COLUMNS].itertuples(index=False):
            found.setdefault((mode, case, measure), {})[seed] = value
        self._found = {key: Number(key[2], values) for key, values in found.items()}
        self.modes = tuple(dict.fromkeys(data["mode"]))
        self.cases = tuple(dict.fromkeys(data["case"]))

    def get(self, mode: str, case: str, measure: str) -> Number | None:
        """None where no run has it."""
        return self._found.get((mode, case, measure))

    def need(self, mode: str, case: str, measure: str) -> Number:
        """The same. Raises BenchError where no run has it."""
        found = self.get(mode, case, measure)
        if found is None:
            raise BenchError(f"{self.name} has no {measure} of mode {mode}, case {case}")
        return found


def keep(name: str, runs: Path, folder: Path = NUMBERS) -> None:
    """Write what is kept of the table of a sweep."""
    data = pd.read_parquet(runs)
    kept = [each for each in KEPT if each in data]
    long = data.melt(["mode", "case", "seed"], kept, "measure", "value").dropna(subset="value")
    folder.mkdir(parents=True, exist_ok=True)
    long[COLUMNS].to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")


def read(name: str, folder: Path = NUMBERS) -> Numbers:
    """Raises BenchError where a grid was not run."""
    file = folder / f"{name}.csv"
    try:
        return Numbers(name, pd.read_csv(file, keep_default_na=False))
    except OSError:
        raise BenchError(f"{file} is missing: run `make findings`") from None


def _shown(value: float, measure: str) -> str:
    unit = MEASURES[measure]
    if unit == "ratio":
        return f"{value:.2f}"
    # Three digits are as much as a run of some round trips means.
    digits = max(0, 2 - floor(log10(abs(value)))) if value else 0
    return show(round(value) if unit == "count" else round(value, digits), unit)
