"""Two disjoint paths under load: how equally they are used, by a hash alone and by load balancing.

`python -m fcn.bench.load` runs the laboratory's scenarios `load` and `load-background` in both ways
with the same seeds. It shows how much the links of the two paths differ in utilization, PSNs out of
order and completion times. Everything is in virtual time, so that the numbers are the same on every
machine. They are written to bench/results/load.json, with a plot.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import mean
from typing import Any

import pandas as pd
import yaml
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from fcn.bench.harness import options_of, table_of, whole, write_results
from fcn.controller.logs import quiet_logs
from fcn.lab.report.amounts import Unit, show
from fcn.lab.result import analysis
from fcn.lab.result.load import Direction, difference, flowlets_moved, utilization
from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan, load_scenario, make_scenario

WAYS = {"hash": "hash alone", "load": "load balancing"}
SCENARIOS = ("load", "load-background")
SEEDS = 3
GOAL = 0.10
"""Of the difference of two equal paths."""

PATHS: tuple[Direction, Direction] = (("r1", "r3"), ("r2", "r4"))
"""The link of each path that carries most."""

WARM_UP_NS = 100_000_000
"""After the last pattern has begun."""

WINDOW_NS = 10_000_000
LAST_NS = 100_000_000
"""Messages that begin so shortly before the end are left out of completion times."""


Row = dict[str, Any]
"""One run, after its warm-up: scenario, by, seed, and what COLUMNS show. Utilizations of the two
paths, in parts of the rate; differences as in `fcn.lab.result.load.Difference`. out_of_order: data
packets that arrived while one before them was missing; dropped: frames that found no room. p50_ns,
p99_ns: of messages of flows with pauses. flowlets: moved because of load; None by a hash alone."""

COLUMNS: Mapping[str, tuple[str, Unit]] = {
    "first": ("path 1", "share"),
    "second": ("path 2", "share"),
    "difference": ("difference", "share"),
    "windows_mean": ("of windows, mean", "share"),
    "windows_p95": ("95th percentile", "share"),
    "packets": ("packets", "count"),
    "out_of_order": ("out of order", "count"),
    "dropped": ("dropped", "count"),
    "p50_ns": ("completion, median", "ns"),
    "p99_ns": ("99th percentile", "ns"),
    "flowlets": ("flowlets moved", "count"),
}


def scenario(name: str, by: str, seed: int) -> Plan:
    data: dict[str, Any] = yaml.safe_load(load_scenario(name).text)
    if by == "hash":
        data["controller"]["configuration"].pop("load_balancing")
    return make_scenario(data | {"seed": seed}, f"{name}-{by}")


def warmed_up(plan: Plan, result: Result) -> Result:
    """The same, of which the beginning is not measured."""
    begin = WARM_UP_NS + max(pattern.start for pattern in plan.scenario.traffic)
    return replace(result, about=result.about.model_copy(update={"warm_up_ns": begin}))


def measured(name: str, by: str, result: Result) -> Row:
    shares = utilization(result, WINDOW_NS)
    unequal = difference(shares, *PATHS)
    times = completion_times(result)
    lost = analysis.drops(result)
    return {
        "scenario": name,
        "by": by,
        "seed": result.about.seed,
        "first": float(shares[PATHS[0]].mean()),
        "second": float(shares[PATHS[1]].mean()),
        "difference": unequal.whole,
        "windows_mean": unequal.mean,
        "windows_p95": unequal.p95,
        "packets": int(result.connections["packets"].sum()),
        "out_of_order": int(result.connections["beyond_gap"].sum()),
        "dropped": int(lost.loc[lost["reason"] == "queue_drops", "frames"].sum()),
        "p50_ns": int(times.quantile(0.5, interpolation="higher")),
        "p99_ns": int(times.quantile(0.99, interpolation="higher")),
        "flowlets": None if by == "hash" else flowlets_moved(result),
    }


def completion_times(result: Result) -> "pd.Series[int]":
    """Of the messages of flows that pause. One that is not complete has the time until the end."""
    sent = analysis.messages(result)
    sent = sent[sent["start_ns"] < result.about.reached_ns - LAST_NS]
    done = sent["completed_ns"].fillna(result.about.reached_ns).astype("int64")
    return done - sent["start_ns"]


def measure(names: Sequence[str], seeds: int) -> Iterator[tuple[Row, pd.DataFrame]]:
    """All runs, each with the utilization of the two paths over the whole time."""
    for name, seed, by in product(names, range(1, seeds + 1), WAYS):
        plan = scenario(name, by, seed)
        result = run_scenario(plan)
        over_time = utilization(result, WINDOW_NS)[list(PATHS)]
        yield measured(name, by, warmed_up(plan, result)), over_time


def table(rows: Sequence[Row]) -> Table:
    title = f"two paths; windows of {show(WINDOW_NS, 'ns')}"
    names = [name for name, _ in COLUMNS.values()]
    made = table_of(title, ("scenario", "seed", "spread by"), names)
    for row in rows:
        texts = (show(row[key], unit) for key, (_, unit) in COLUMNS.items())
        made.add_row(row["scenario"], str(row["seed"]), WAYS[row["by"]], *texts)
    return made


def draw(runs: dict[tuple[str, str], pd.DataFrame]) -> Figure:
    """Utilization over time: a row for each scenario, a column for each way."""
    names = list(dict.fromkeys(name for name, _ in runs))
    figure = Figure(figsize=(9.5, 0.6 + 2.7 * len(names)), layout="constrained")
    grid = figure.subplots(len(names), len(WAYS), sharex=True, sharey=True, squeeze=False)
    for (name, by), shares in runs.items():
        axes = grid[names.index(name)][list(WAYS).index(by)]
        for (node, towards), label in zip(PATHS, ("first path", "second path"), strict=True):
            line = shares[node, towards] * 100
            axes.plot(line.index / 1e6, line, lw=1.2, label=f"{label}, {node}-{towards}")
        axes.set_title(f"{name}: {WAYS[by]}", fontsize=10)
        axes.set_ylim(0, 105)
        axes.grid(alpha=0.25)
    for axes in grid[:, 0]:
        axes.set_ylabel("utilization (%)")
    for axes in grid[-1]:
        axes.set_xlabel("time (ms)")
    grid[0][0].legend(loc="lower right", fontsize=8)
    return figure


@quiet_logs(logging.CRITICAL)
def main() -> None:
    parser = options_of("load", __doc__)
    parser.add_argument("--seeds", type=whole, default=SEEDS, help="runs of each kind")
    parser.add_argument("--scenario", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    options = parser.parse_args()
    rows: list[Row] = []
    drawn: dict[tuple[str, str], pd.DataFrame] = {}
    for row, over_time in measure(options.scenario, options.seeds):
        rows.append(row)
        drawn.setdefault((row["scenario"], row["by"]), over_time)
    console = Console()
    console.print(table(rows))
    for by, text in WAYS.items():
        differences = [row["difference"] for row in rows if row["by"] == by]
        console.print(
            f"{text}: difference {mean(differences):.1%} on average, {max(differences):.1%} at "
            f"most (goal: {GOAL:.0%})"
        )
    write_results(options.results, rows)
    draw(drawn).savefig(options.results.with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
