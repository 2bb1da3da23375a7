"""A link dies under RDMA traffic: how soon traffic takes another path, and what is lost.

`python -m fcn.bench.failover` runs the laboratory's scenario `failover` in four ways: by the data
plane, with and without a way round the link meanwhile, the controller being away the whole time; by
the controller alone, which reads the nodes' counters; and by routing as a link-state protocol does
it. The bound is detection and propagation from the node at the link to the PE. Everything is in
virtual time, so that the numbers are the same on every machine. They are written to
bench/results/failover.json, with a plot.
"""

import json
import logging
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd
import yaml
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from fcn.bench.harness import BenchError, options_of, table_of, whole, write_results
from fcn.controller.logs import quiet_logs
from fcn.lab.report.amounts import Unit, show
from fcn.lab.result.failover import arrivals, failovers
from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan, load_scenario, make_scenario
from fcn.topologies.catalog import network
from fcn.topologies.units import parse_time

SCENARIO = "failover"
WAYS = {
    "data-plane": "data plane",
    "messages": "data plane, no way round",
    "controller": "controller alone",
    "igp": "link-state routing",
}
INTERVALS = ("10ms", "1ms")
"""Of hellos; a link is dead after three without a packet."""

SCALES = (1, 10)
"""Lengths of all core links, over those of the network: 400 and 4,000 km from PE to PE."""

SEEDS = 3
GOAL = 1.1
FAILS_NS = 100_000_000
LASTS_NS = 700_000_000
SIZE = "50MB"
BIN_NS = 2_000_000


KEPT: Mapping[str, tuple[Unit, str]] = {
    "detected_ns": ("ns", "median"),
    "bound_ns": ("ns", "median"),
    "moved_ns": ("ns", "median"),
    "ratio": ("ratio", "max"),
    "silent_ns": ("ns", "median"),
    "lost": ("count", "median"),
}
"""Of `fcn.lab.result.failover.Failover`, since the failure: unit, and what is shown of seeds."""

Row = dict[str, Any]
"""One run: by, interval, scale, seed, and what is kept."""


def scenario(by: str, interval: str, scale: int, seed: int) -> Plan:
    """The scenario, recovering in this way; when the link fails in the round of the clocks follows
    from the seed."""
    data: dict[str, Any] = yaml.safe_load(load_scenario(SCENARIO).text)
    hello_ns = parse_time(interval)
    fails = FAILS_NS + random.Random(seed).randrange(hello_ns)
    data |= {"duration": f"{LASTS_NS}ns", "seed": seed, "recovery": {"by": by}}
    data["traffic"][0]["size"] = SIZE
    data["controller"]["configuration"]["failure_detection"]["interval"] = interval
    data["links"]["only"] = [
        {"between": [link.a, link.b], "delay": f"{link.delay_ns * scale}ns"}
        for link in network(data["network"]).links
    ]
    events = [{"at": f"{fails}ns", "link": ["r1", "r3"], "state": "down"}]
    if by in ("data-plane", "messages"):
        events.insert(0, {"at": "50ms", "controller": "away"})
    return make_scenario(data | {"events": events}, f"failover-{by}-{interval}-{scale}")


def measured(plan: Plan, by: str, interval: str, scale: int, result: Result) -> Row:
    """The failure of a run. Raises BenchError when it cannot be measured."""
    found = failovers(result)
    if len(found) != 1 or found[["detected_ns", "silent_ns", "lost"]].isna().any(axis=None):
        raise BenchError(f"{result.about.label}: not detected, or messages are not complete")
    seed = plan.scenario.seed
    (row,) = json.loads(found[[*KEPT]].to_json(orient="records", double_precision=15))
    return {"by": by, "interval": interval, "scale": scale, "seed": seed, **row}


def measure(
    intervals: Sequence[str], scales: Sequence[int], seeds: int
) -> Iterator[tuple[Row, "pd.Series[int]"]]:
    """All runs, each with what had arrived by when, the failure being at 0."""
    for interval, scale, by in product(intervals, scales, WAYS):
        for seed in range(1, seeds + 1):
            plan = scenario(by, interval, scale, seed)
            result = run_scenario(plan)
            series = arrivals(result, "pe1")
            series.index -= int(failovers(result)["failed_ns"].iloc[0])
            yield measured(plan, by, interval, scale, result), series


def table(rows: Sequence[Row]) -> Table:
    made = table_of(
        "a link dies: medians, and the greatest ratio",
        ("hellos", "lengths", "recovery by"),
        (
            "detection",
            "and propagation",
            "other path",
            "ratio, greatest",
            "nothing arrived",
            "lost",
        ),
    )
    groups = pd.DataFrame(rows).groupby(["interval", "scale", "by"], sort=False)
    for (interval, scale, by), same in groups:
        shown = same[[*KEPT]].astype("float64").agg({name: of for name, (_, of) in KEPT.items()})
        texts = (show(shown[name], unit) for name, (unit, _) in KEPT.items())
        made.add_row(str(interval), f"x {scale}", WAYS[str(by)], *texts)
    return made


def draw(arrived: dict[str, "pd.Series[int]"], title: str) -> Figure:
    """What arrives over time, of one run in each way."""
    figure = Figure(figsize=(9.5, 4.2), layout="constrained")
    axes = figure.subplots()
    for name, series in arrived.items():
        times = pd.Index(range(-20 * BIN_NS, 100 * BIN_NS, BIN_NS))
        both = series.astype("float64").reindex(series.index.union(times))
        counts = both.interpolate(method="index").loc[times]
        axes.step(times / 1e6, counts.diff() * 1e9 / BIN_NS / 1000, where="pre", lw=1.4, label=name)
    axes.axvline(0, color="0.35", ls=":", lw=1.2, label="the link fails")
    axes.set_xlabel("time since the failure (ms)")
    axes.set_ylabel("packets arriving (1,000/s)")
    axes.set_title(title, fontsize=11)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
    axes.legend(loc="lower right", fontsize=8)
    return figure


@quiet_logs(logging.CRITICAL)
def main() -> None:
    parser = options_of("failover", __doc__)
    parser.add_argument("--seeds", type=whole, default=SEEDS, help="runs of each kind")
    parser.add_argument("--intervals", nargs="+", default=INTERVALS, help="between hellos")
    parser.add_argument("--scales", type=whole, nargs="+", default=SCALES, help="of lengths")
    options = parser.parse_args()
    rows: list[Row] = []
    arrived: dict[str, pd.Series[int]] = {}
    for row, series in measure(options.intervals, options.scales, options.seeds):
        rows.append(row)
        if (row["interval"], row["scale"]) == (options.intervals[0], options.scales[0]):
            arrived.setdefault(WAYS[row["by"]], series)
    console = Console()
    console.print(table(rows))
    worst = max(row["ratio"] for row in rows if row["by"] == "data-plane" and row["ratio"])
    console.print(f"greatest ratio by the data plane: {worst:.5f} (goal: at most {GOAL})")
    write_results(options.results, rows)
    title = f"A link dies; hellos every {options.intervals[0]}"
    draw(arrived, title).savefig(options.results.with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
