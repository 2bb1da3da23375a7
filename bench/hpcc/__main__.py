"""DCQCN in HPCC's simulator (ns-3) and in the laboratory: the same hosts, switch and flows.

`python -m fcn.bench.hpcc` runs bench/hpcc/incast.yaml with two flows and with eight, and compares
queue and rates with those of the simulator (bench/results/hpcc.json and .png).

Those are in bench/hpcc/ns3.json: https://github.com/alibaba-edu/High-Precision-Congestion-Control,
commit 9f4be2a, compiled by g++ 12, with mix/config.txt as `run.py --cc dcqcn --bw 100` writes it
and without its packet trace. Lines added to `monitor_buffer` of scratch/third.cc print each port's
`egress_bytes` and each queue pair's `m_rate` every 10 us.
"""

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml
from matplotlib.figure import Figure
from rich.console import Console

from fcn.bench.harness import options_of, table_of, write_results
from fcn.lab.core import ETHERNET_OVERHEAD
from fcn.lab.result import analysis
from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan, make_scenario

FOLDER = Path(__file__).parent
SEEDS = (1, 2, 3)
SIZES = {2: "200MB", 8: "40MB"}
"""Of each flow, by their number."""

EVERY_NS, SAMPLE_NS = 100_000, 10_000
"""Means of a curve, and of what."""

SETTLED_NS = 5_000_000, 25_000_000
"""All flows send, in every run."""

IP_PACKET = 1000 + 20 + 8 + 12 + 4
LINK_BPS = 100e9


@dataclass(frozen=True, slots=True)
class Curves:
    """A run of so many flows, every EVERY_NS: octets in the queue, and the sum of all rates as
    parts of the link, with all headers of each. seed: None of the simulator."""

    flows: int
    seed: int | None
    peak_octets: int
    queue_octets: Sequence[float]
    rates: Sequence[float]

    def settled(self, what: str) -> float:
        """The mean of queue_octets or rates, once flows have settled."""
        begin, end = (time // EVERY_NS for time in SETTLED_NS)
        curve: Sequence[float] = getattr(self, what)
        return statistics.mean(curve[begin:end])


def of_simulator() -> list[Curves]:
    return [Curves(**each) for each in json.loads((FOLDER / "ns3.json").read_text())]


def plan_of(flows: int) -> Plan:
    scenario = yaml.safe_load((FOLDER / "incast.yaml").read_text())
    senders = [f"h{number}" for number in range(2, 2 + flows)]
    scenario["traffic"][0] |= {"from": senders, "size": SIZES[flows]}
    return make_scenario(scenario, "hpcc-incast", FOLDER)


def curves_of(result: Result) -> Curves:
    times = pd.RangeIndex(0, result.about.reached_ns, SAMPLE_NS)
    queue = analysis.over_time(result, "queues", "octets")["s0", "h1"]
    rates = result.rates.pivot_table(index="time_ns", columns="host", values="rate_bps").ffill()
    wire = (IP_PACKET + 14 + ETHERNET_OVERHEAD) / IP_PACKET
    return Curves(
        flows=len(result.connections),
        seed=result.about.seed,
        peak_octets=int(queue.max()),
        queue_octets=means(queue.reindex(times, method="ffill")),
        rates=means(rates.sum(axis=1).reindex(times, method="ffill") * wire / LINK_BPS),
    )


def means(samples: "pd.Series[float]") -> list[float]:
    """Of each EVERY_NS."""
    groups = samples.groupby(samples.index // EVERY_NS)
    return [round(float(value), 4) for value in groups.mean()]


def plot(simulator: Sequence[Curves], runs: Sequence[Curves], path: Path) -> None:
    """Queue and rates over time, a column for each number of flows."""
    figure = Figure(figsize=(12, 6), layout="constrained")
    axes = figure.subplots(2, len(simulator), sharex=True)
    for column, theirs in enumerate(simulator):
        ours = next(run for run in runs if run.flows == theirs.flows)
        for curves, label in ((theirs, "HPCC's ns-3"), (ours, "laboratory, seed 1")):
            at = [place * EVERY_NS / 1e6 for place in range(len(curves.rates))]
            axes[0][column].plot(at, [each / 1e3 for each in curves.queue_octets], label=label)
            axes[1][column].plot(at, curves.rates, label=label)
        axes[0][column].set_title(f"{theirs.flows} flows")
        axes[1][column].set_xlabel("ms")
    axes[0][0].set_ylabel("queue, kB")
    axes[1][0].set_ylabel("sum of rates ÷ link")
    axes[0][0].legend()
    figure.savefig(path, dpi=110)


def main() -> None:
    options = options_of("hpcc", __doc__).parse_args()
    names = ["flows", "of", "peak queue", "mean queue", "sum of rates ÷ link"]
    table = table_of("5 to 25 ms", [], names)
    simulator, runs = of_simulator(), []
    for theirs in simulator:
        plan = plan_of(theirs.flows)
        runs += [curves_of(run_scenario(plan.using(seed=seed))) for seed in SEEDS]
        for each in (theirs, *runs[-len(SEEDS) :]):
            table.add_row(
                str(each.flows),
                "HPCC's ns-3" if each.seed is None else f"laboratory, seed {each.seed}",
                f"{each.peak_octets / 1e3:.0f} kB",
                f"{each.settled('queue_octets') / 1e3:.0f} kB",
                f"{each.settled('rates'):.3f}",
            )
    Console(width=120).print(table)
    write_results(options.results, runs)
    plot(simulator, runs, options.results.with_suffix(".png"))


if __name__ == "__main__":
    main()
