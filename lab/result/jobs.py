"""How long jobs took: an iteration is over when every rank has ended it."""

import pandas as pd

from fcn.lab.result.analysis import percentile
from fcn.lab.result.model import Result


def iterations(result: Result) -> pd.DataFrame:
    """The iterations of each job in their order. Columns: job, iteration, compute_ns (of the rank
    that computes longest), begun_ns (the first rank), completed_ns (the last one; missing: some
    rank had not ended it), took_ns: since the iteration before was over, or the first one began.
    """
    rows = []
    for job, data in result.jobs.groupby("job", sort=False):
        since: int | None = None
        for iteration, part in data.groupby("iteration"):
            begun = _known(part["begun_ns"].min())
            done = _known(part["completed_ns"].max(skipna=False))
            if iteration == 0:
                since = begun
            took = None if done is None or since is None else done - since
            rows.append((job, iteration, part["compute_ns"].max(), begun, done, took))
            since = done
    columns = {
        "job": "str", "iteration": "int64", "compute_ns": "int64", "begun_ns": "Int64",
        "completed_ns": "Int64", "took_ns": "Int64",
    }  # fmt: skip
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)


def _known(value: object) -> int | None:
    return None if pd.isna(value) else int(value)  # type: ignore[call-overload]


def jobs(result: Result) -> pd.DataFrame:
    """Of each job. Columns: job, ranks, iterations, completed (iterations), compute_ns (in each),
    mean_ns, median_ns, p99_ns, max_ns (of completed iterations), completion_ns: from its beginning
    until all were completed; missing: they were not."""
    found = iterations(result)
    rows = []
    for job, data in found.groupby("job", sort=False):
        took = data["took_ns"].dropna().astype("float64")
        ranks = result.jobs.loc[result.jobs["job"] == job, "host"].nunique()
        whole = data["completed_ns"].iloc[-1] - data["begun_ns"].iloc[0]
        rows.append(
            {
                "job": job,
                "ranks": ranks,
                "iterations": len(data),
                "completed": len(took),
                "compute_ns": data["compute_ns"].max(),
                "mean_ns": took.mean(),
                "median_ns": took.median(),
                "p99_ns": percentile(took, 0.99),
                "max_ns": took.max(),
                "completion_ns": whole,
            }
        )
    columns = {
        "job": "str", "ranks": "int64", "iterations": "int64", "completed": "int64",
        "compute_ns": "int64", "mean_ns": "float64", "median_ns": "float64", "p99_ns": "float64",
        "max_ns": "float64", "completion_ns": "Int64",
    }  # fmt: skip
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)
