"""The tables of a sweep: a row of each run, and means over seeds with confidence intervals."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from scipy.special import stdtrit

from fcn.hosts.scratch import replacing
from fcn.lab.errors import LabError
from fcn.lab.sweep.grid import Sweep, keys_of
from fcn.lab.sweep.measures import MEASURES
from fcn.lab.sweep.rows import Row

CONFIDENCE = 0.95


def runs_table(sweep: Sweep, rows: Mapping[str, Row], failures: Mapping[str, str]) -> pd.DataFrame:
    """A row of each run of the grid, in its order. Columns: scenario, mode, each parameter, seed,
    each of MEASURES, digest of the frames, and error: why there is no result, otherwise empty."""
    data = []
    for point in sweep.points:
        scenario = point.plan.scenario
        row = rows.get(point.identity)
        data.append(
            {
                "scenario": point.plan.name,
                "mode": scenario.mode,
                **point.parameters,
                "seed": scenario.seed,
                **{name: row.measures.get(name) if row else None for name in MEASURES},
                "digest": row.digest if row else "",
                "error": "" if row else failures.get(point.identity, "not run"),
            }
        )
    found = pd.DataFrame(data, columns=[*keys_of(sweep), "seed", *MEASURES, "digest", "error"])
    return found.astype(dict.fromkeys(MEASURES, "float64"))


def summary_table(sweep: Sweep, runs: pd.DataFrame) -> pd.DataFrame:
    """A row of each measure of each scenario, mode and parameters: runs that have it, their mean
    over seeds, half of its interval of CONFIDENCE by Student's t, and the ends of that. Of one run
    there is no interval. Runs are taken as independent draws of a normal distribution."""
    keys = keys_of(sweep)
    long = runs.melt(keys, list(MEASURES), "measure", "value").dropna(subset="value")
    groups = long.groupby([*keys, "measure"], sort=False)["value"]
    found = groups.agg(runs="count", mean="mean", deviation="std").reset_index()
    spread = found["deviation"] / found["runs"] ** 0.5
    half = spread * stdtrit(found["runs"] - 1, (1 + CONFIDENCE) / 2)
    ends = {"half": half, "low": found["mean"] - half, "high": found["mean"] + half}
    return found.assign(**ends).drop(columns="deviation")


def save_table(table: pd.DataFrame, file: Path) -> None:
    """Write a table as Parquet, whole or not at all. Raises LabError."""
    try:
        with replacing(file) as new:
            table.to_parquet(new, index=False)
    except OSError as error:
        raise LabError(f"{file}: cannot be written: {error.strerror}") from None
