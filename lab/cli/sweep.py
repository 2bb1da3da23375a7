"""`fcn lab sweep`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from fcn.contract.version import DISTRIBUTION
from fcn.controller.cli.common import EXIT_FAILED, ended_by, err, fail, marked, say, say_error
from fcn.controller.cli.common import out as console
from fcn.lab.cli.stopping import stopped
from fcn.lab.errors import LabError

if TYPE_CHECKING:
    import pandas as pd

EXIT_GRID = 3

SHOWN = (
    "goodput_bps", "jain", "fct_p99_ns", "slowdown_p99", "iteration_mean_ns", "reaction_median_ns",
    "queue_max_packets", "frames_lost",
)  # fmt: skip
"""Measures that are printed; the tables have all."""


def sweep(
    grid: Annotated[Path, typer.Argument(help="YAML file of scenarios, modes, parameters, seeds.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the tables; default: out/lab/NAME. Runs there are kept."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes; default: one a processor.", show_default=False),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask scheduler, tcp://…; its workers run all.", show_default=False
        ),
    ] = None,
) -> None:
    """Run a grid of scenarios, modes, parameters and seeds, and save its tables.

    Each run is kept as it finishes: after Ctrl-C, SIGTERM or a kill the same command goes on with
    what is missing, and ends with the same tables: runs.parquet has a row of each run,
    summary.parquet means over seeds with 95 % confidence intervals.
    """
    from fcn.lab.sweep.grid import GridError, keys_of, load_grid

    try:
        from fcn.lab.sweep import run, tables
    except ImportError as error:
        raise fail(f"{error}: install {DISTRIBUTION}[lab,sweep]") from None
    from fcn.lab.sweep.rows import RowStore, alone_in

    with ended_by(GridError, code=EXIT_GRID):
        plan = load_grid(grid, Planning(grid.stem).show)
    folder = out or Path("out/lab") / plan.name
    failures: dict[str, str] = {}
    with ended_by(LabError), alone_in(folder):
        store = RowStore(folder)
        points = plan.distinct
        missing = store.missing(point.identity for point in points)
        begun = len(points) - len(missing)
        with stopped() as stop, _Display(plan.name, len(points), begun) as display:
            if missing:
                with run.cluster(cluster, workers) as client:
                    for done in run.run_sweep(points, store, client, stop=stop):
                        if done.error:
                            failures[done.point.identity] = done.error
                            say_error(f"{done.point.name}: {done.error}")
                        display.count(done.point.name)
        runs = tables.runs_table(plan, store.rows, failures)
        summary = tables.summary_table(plan, runs)
        tables.save_table(runs, folder / "runs.parquet")
        tables.save_table(summary, folder / "summary.parquet")
    console.print(_shown(summary, keys_of(plan)))
    without = int((runs["error"] != "").sum())
    say(f"{len(runs) - without} of {len(runs)} runs; tables: {folder}")
    if without:
        say_error(f"{without} runs have no result: the same command runs them again")
        raise typer.Exit(EXIT_FAILED)


class Planning:
    """A line each second, of what takes longer than one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told = time.monotonic()

    def show(self, planned: int, of: int) -> None:
        """So many runs are planned."""
        if time.monotonic() - self._told >= 1:
            self._told = time.monotonic()
            say(f"{self._name}: {planned} of {of} runs are planned", err)


class _Display(Progress):
    """Progress with the time left, as a bar on a terminal, otherwise in lines."""

    def __init__(self, name: str, total: int, done: int) -> None:
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=err,
            disable=not err.is_terminal,
        )
        self._name, self._total, self._done, self._before = name, total, done, done
        self._begun = time.monotonic()
        self._shown = self.add_task(marked(name), total=total, completed=done)
        if done:
            self._print(f"{done} of {total} runs are there already")

    def count(self, what: str) -> None:
        """A run has ended."""
        self._done += 1
        self.update(self._shown, completed=self._done)
        took = (time.monotonic() - self._begun) / (self._done - self._before)
        left = round(took * (self._total - self._done))
        self._print(f"{self._done} of {self._total}, {left} s left: {what}")

    def _print(self, text: str) -> None:
        if not err.is_terminal:
            say(f"{self._name}: {text}", err)


def _shown(summary: "pd.DataFrame", keys: list[str]) -> Table:
    """Each measure of SHOWN: its means, and half of their intervals."""
    from fcn.lab.report.amounts import show
    from fcn.lab.sweep.measures import MEASURES

    table = Table("measure", *keys, "runs", "mean", "95 %", box=None)
    before = ""
    for line in summary[summary["measure"].isin(SHOWN)].to_dict("records"):
        name = line["measure"]
        mean, half = (show(each, MEASURES[name]) for each in (line["mean"], line["half"]))
        values = (marked(line[key]) for key in keys)
        table.add_row(name if name != before else "", *values, str(line["runs"]), mean, half)
        before = name
    return table
