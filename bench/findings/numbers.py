"""The numbers of the findings: means over seeds, kept in a small file of each grid."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fcn.bench.harness import RESULTS, BenchError
from fcn.lab.report.amounts import show
from fcn.lab.sweep.measures import MEASURES

GRIDS_FOLDER = Path(__file__).parent
GRIDS = (
    "distance", "far", "buffer", "pairs", "rate", "all-reduce", "failure",
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
SAME = 0.05
"""Means that differ by less are called equal."""

KEYS = ["mode", "case", "measure"]


@dataclass(frozen=True, slots=True)
class Number:
    """A mean over so many runs. half: of its 95 % interval, None of one run."""

    measure: str
    runs: int
    mean: float
    half: float | None

    def __str__(self) -> str:
        """As it is shown, with the interval where that can be seen."""
        unit = MEASURES[self.measure]
        text = f"{self.mean:.2f}" if unit == "ratio" else show(_rounded(self.mean, unit), unit)
        if self.half is None or self.half < 0.005 * abs(self.mean):
            return text
        half = f"{self.half:.2f}" if unit == "ratio" else show(_rounded(self.half, unit), unit)
        return f"{text} ± {half}"

    def worse_than(self, other: "Number") -> bool:
        """By more than SAME, with intervals that do not meet."""
        sign = -1 if self.measure in HIGHER_IS_BETTER else 1
        apart = sign * (self.mean - other.mean)
        return apart > SAME * abs(other.mean) and apart > (self.half or 0) + (other.half or 0)


class Numbers:
    """Those of one grid."""

    def __init__(self, name: str, data: pd.DataFrame) -> None:
        self.name, self.data = name, data
        self._found: Mapping[tuple[str, str, str], Number] = {
            (row["mode"], row["case"], row["measure"]): Number(
                row["measure"], row["runs"], row["mean"], None if row["runs"] < 2 else row["half"]
            )
            for row in data.to_dict("records")
        }
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


def keep(name: str, summary: Path, folder: Path = NUMBERS) -> None:
    """Write what is kept of the table of a sweep."""
    data = pd.read_parquet(summary)
    data = data.loc[data["measure"].isin(KEPT), [*KEYS, "runs", "mean", "half"]]
    folder.mkdir(parents=True, exist_ok=True)
    data.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")


def read(name: str, folder: Path = NUMBERS) -> Numbers:
    """Raises BenchError where a grid was not run."""
    file = folder / f"{name}.csv"
    try:
        return Numbers(name, pd.read_csv(file, keep_default_na=False, na_values=[""]))
    except OSError:
        raise BenchError(f"{file} is missing: run `make findings`") from None


def _rounded(value: float, unit: str) -> float:
    return round(value) if unit == "count" else value
