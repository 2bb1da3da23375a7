"""DCQCN's published fixed point: the fluid model of its authors beside the laboratory.

`python -m fcn.bench.dcqcn_fixed_point` runs the scenario `dcqcn-fixed-point` with 2 to 16 flows and
several seeds, and compares queue and alpha, once flows have settled, with two closed forms
(bench/results/dcqcn_fixed_point.json and .png): those of `fcn.bench.dcqcn_models`.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml
from matplotlib.figure import Figure
from rich.console import Console

from fcn.bench.dcqcn_models import FixedPoint, Settings, fluid, renewal
from fcn.bench.harness import options_of, table_of, write_results
from fcn.lab.core import ETHERNET_OVERHEAD
from fcn.lab.result import analysis
from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan, load_scenario, make_scenario

HOSTS = 2
PAIRS = (1, 2, 3, 4, 5)
"""Queue pairs of each host; more flows than ten need more than Kmax."""

SEEDS = (1, 2, 3)
IP_HEADERS = 20 + 8 + 12 + 4
"""IPv4, UDP, BTH and ICRC of a packet in the middle of a message."""

TUNNEL = 14 + 40
"""Ethernet and the outer IPv6 header, in the queue."""

EVERY_NS = 10_000


@dataclass(frozen=True, slots=True)
class Measured:
    """Means of one run, in the second half of its time."""

    flows: int
    seed: int
    queue_octets: float
    alpha: float


def plan_of(pairs: int, duration: str | None = None) -> Plan:
    """The scenario with this many queue pairs of each host."""
    found = load_scenario("dcqcn-fixed-point")
    changed = yaml.safe_load(found.text)
    changed["traffic"][0]["qps"] = pairs
    changed["duration"] = duration or changed["duration"]
    return make_scenario(changed, found.name)


def settings_of(plan: Plan) -> Settings:
    """The scenario's bottleneck, hosts and RED."""
    wire = plan.wiring.wire("p1", "p2")
    assert wire is not None
    assert wire.red is not None
    assert wire.rate_bps is not None
    host = next(iter(plan.wiring.hosts.values()))
    settings = plan.wiring.settings(host)
    dcqcn = settings.dcqcn
    packet = settings.mtu + IP_HEADERS
    return Settings(
        capacity=wire.rate_bps / 8 / (packet + TUNNEL + ETHERNET_OVERHEAD),
        additive_increase=dcqcn.additive_increase / 8 / packet,
        byte_counter=dcqcn.byte_counter / packet,
        increase_period=dcqcn.increase_period / 1e9,
        alpha_period=dcqcn.alpha_period / 1e9,
        cnp_interval=settings.cnp_interval / 1e9,
        fast_recovery_steps=dcqcn.fast_recovery_steps,
        kmin=wire.red.kmin,
        kmax=wire.red.kmax,
        pmax=wire.red.pmax,
    )


def measured_in(result: Result) -> Measured:
    """alpha: that by which rates were cut, the mean over all cuts."""
    half = result.about.reached_ns // 2
    depths = analysis.over_time(result, "queues", "octets")["p1", "p2"]
    every = pd.RangeIndex(half, result.about.reached_ns, EVERY_NS)
    notices = result.notices[result.notices["time_ns"] >= half]
    told, cut = (notices[notices["what"] == what] for what in ("cnp", "cut"))
    keys = ["time_ns", "host", "connection"]
    rates = told.merge(cut, on=keys, suffixes=("_before", "_after"))
    alpha = 2 * (1 - rates["value_after"] / rates["value_before"])
    return Measured(
        flows=len(result.connections),
        seed=result.about.seed,
        queue_octets=float(depths.reindex(every, method="ffill").mean()),
        alpha=float(alpha.mean()),
    )


def plot(models: Mapping[str, Sequence[FixedPoint]], runs: Sequence[Measured], path: Path) -> None:
    """Queue and alpha over the number of flows: models as curves, runs as points."""
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    queues, alphas = figure.subplots(1, 2)
    for axes, scale, name in ((queues, 1e-3, "queue_octets"), (alphas, 1, "alpha")):
        for label, found in models.items():
            values = [scale * getattr(each, name) for each in found]
            axes.plot([each.flows for each in found], values, label=label)
        values = [scale * getattr(each, name) for each in runs]
        axes.plot([each.flows for each in runs], values, "x", color="black", label="laboratory")
        axes.set_xlabel("flows")
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
    queues.set_ylabel("queue, kB")
    alphas.set_ylabel("alpha")
    figure.suptitle("DCQCN's fixed point")
    figure.savefig(path, dpi=120)


def main() -> None:
    options = options_of("dcqcn_fixed_point", __doc__).parse_args()
    names = ["flows"]
    for what in ("queue", "alpha"):
        names += [f"{what}: fluid model", "laboratory", "renewal process", "laboratory"]
    table = table_of("DCQCN's fixed point", [], names)
    points: dict[str, list[FixedPoint]] = {"fluid model": [], "renewal process": []}
    runs: list[Measured] = []
    for pairs in PAIRS:
        plan = plan_of(pairs)
        settings = settings_of(plan)
        flows = HOSTS * pairs
        both = fluid(settings, flows), renewal(settings, flows)
        found = [measured_in(run_scenario(plan.using(seed=seed))) for seed in SEEDS]
        queue = statistics.mean(each.queue_octets for each in found)
        alpha = statistics.mean(each.alpha for each in found)
        row = [str(flows)]
        for point in both:
            row += [f"{point.queue_octets / 1e3:.1f} kB", f"{queue / point.queue_octets - 1:+.1%}"]
        for point in both:
            row += [f"{point.alpha:.4f}", f"{alpha / point.alpha - 1:+.1%}"]
        table.add_row(*row)
        for name, point in zip(points, both, strict=True):
            points[name].append(point)
        runs += found
    Console(width=160).print(table)
    write_results(options.results, {**points, "laboratory": runs})
    plot(points, runs, options.results.with_suffix(".png"))


if __name__ == "__main__":
    main()
