"""What measuring costs in the laboratory: shipped scenarios with samples and digest, and bare.

`python -m fcn.bench.measuring` runs a part of each scenario, in turn as `fcn lab run` does and
without a digest, crossings or samples but those at both ends. Processor time counts from when the
network is ready to when the tables are there, so that what else runs on the machine matters less.
The numbers go to bench/results/measuring.json: medians, and packet-hops per second of a measured
run as a user has it, while hosts send and with the time in which the network gets ready. A
packet-hop is one packet through one switch, its queue and its link. docs/laboratory.md gets them.
"""

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from fcn.bench.harness import LABORATORY, machine, options_of, whole, write_part, write_results
from fcn.lab.core import Simulation
from fcn.lab.run.runner import Progress, run_scenario
from fcn.lab.scenario.load import Plan, load_scenario

MILLISECOND = 1_000_000
UNTIL_MS = {
    "dumbbell": 25,
    "parking-lot": 25,
    "dual-dc": 3,
    "incast": 4,
    "core-failure": 12,
    "failover": 150,
    "load": 80,
    "load-background": 80,
    "demo": 6000,
    "modes-100-km": 60,
    "modes-1000-km": 60,
    "scale": 60,
}
"""Virtual time: a second or so of processor time."""

COLUMNS = ("scenario", "virtual time", "bare", "measured", "ratio", "sending", "in all")

DEFAULT_INTERVAL = "dumbbell, 10 µs"
"""With the interval that a scenario has which does not give one."""


@dataclass(frozen=True, slots=True)
class Run:
    """Processor time while hosts send, of the whole run, and packets through switches."""

    sending: float
    whole: float
    hops: int


def plan_of(name: str) -> Plan:
    plan = load_scenario(name.partition(",")[0])
    if name != DEFAULT_INTERVAL:
        return plan
    scenario = plan.scenario
    measure = scenario.measure.model_copy(update={"interval": 10_000})
    return replace(plan, scenario=scenario.model_copy(update={"measure": measure}))


def bare(plan: Plan) -> Plan:
    """The same, of which nothing is looked at in between."""
    scenario = plan.scenario
    nothing = {"interval": scenario.duration, "queues": (), "crossings": (), "close_time": 0}
    measure = scenario.measure.model_copy(update=nothing)
    return replace(plan, scenario=scenario.model_copy(update={"measure": measure}))


def run(plan: Plan, until_ns: int) -> Run:
    begun = ready = time.process_time()

    def show(progress: Progress) -> None:
        nonlocal ready
        if progress.doing != "hosts send":
            ready = time.process_time()

    result = run_scenario(plan, until_ns=until_ns, show=show)
    ended = time.process_time()
    sources = result.about.balance.sources
    by_hosts = sum(count for name, count in sources.items() if name.endswith(": sent"))
    return Run(ended - ready, ended - begun, result.about.hops - by_hosts)


def compare(name: str, pairs: int) -> dict[str, Any]:
    """Measured and bare runs in turn."""
    until = UNTIL_MS[name.partition(",")[0]] * MILLISECOND
    plan = plan_of(name)
    measured, without = [], []
    for _ in range(pairs):
        with patch.object(Simulation, "keep_digest", lambda _self: None):
            without.append(run(bare(plan), until))
        measured.append(run(plan, until))
    ratios = [a.sending / b.sending for a, b in zip(measured, without, strict=True)]
    return {
        "scenario": name,
        "until_ms": until // MILLISECOND,
        "bare_s": statistics.median(each.sending for each in without),
        "measured_s": statistics.median(each.sending for each in measured),
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "hops_per_s": statistics.median(each.hops / each.sending for each in measured),
        "hops_per_s_whole": statistics.median(each.hops / each.whole for each in measured),
    }


def main() -> None:
    parser = options_of("measuring", __doc__, document=LABORATORY)
    parser.add_argument("--pairs", type=whole, default=5, help="of runs, per scenario")
    parser.add_argument("scenarios", nargs="*", default=[*UNTIL_MS, DEFAULT_INTERVAL])
    options = parser.parse_args()
    for name in options.scenarios:
        if name not in (*UNTIL_MS, DEFAULT_INTERVAL):
            parser.error(
                f"no scenario {name}; there are {', '.join((*UNTIL_MS, DEFAULT_INTERVAL))}"
            )
    results = []
    for name in options.scenarios:
        results.append(compare(name, options.pairs))
        written = {"machine": machine(), "pairs": options.pairs, "results": results}
        write_results(options.results, written)
    print(part := part_of(written))
    write_part(options.document, "measuring", part)


def row_of(result: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        result["scenario"],
        f"{result['until_ms']} ms",
        f"{result['bare_s']:.2f} s",
        f"{result['measured_s']:.2f} s",
        f"{result['ratio']:.2f}",
        f"{result['hops_per_s'] / 1e6:.2f} million",
        f"{result['hops_per_s_whole'] / 1e6:.2f} million",
    )


def part_of(written: Mapping[str, Any]) -> str:
    """The table as docs/laboratory.md has it."""
    of = f"Medians of {written['pairs']} pairs at commit {written['machine']['commit']}:\n\n"
    rows = [COLUMNS, ("---",) * len(COLUMNS), *map(row_of, written["results"])]
    return of + "".join(f"| {' | '.join(row)} |\n" for row in rows)


if __name__ == "__main__":
    main()
