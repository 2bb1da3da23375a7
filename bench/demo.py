"""The demo in real time and in the laboratory, side by side.

`python -m fcn.bench.demo` (root, Mininet) runs the demo's network and traffic, in one round, twice:
with switches in real time and as the scenario `demo` of the laboratory. It writes the numbers to
bench/results/demo.json. Real time depends on the machine and what else it does.
"""

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import pandas as pd
from rich.console import Console
from rich.table import Table

from fcn.bench.harness import machine, options_of, table_of, write_results
from fcn.controller.logs import quiet_logs
from fcn.lab.modes import Mode
from fcn.lab.result.analysis import NS_PER_S, queues
from fcn.lab.result.model import Result
from fcn.lab.result.reaction import BY_PE, BY_RECEIVER, caused, reactions
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import load_scenario
from fcn.topologies.command import choose_target
from fcn.topologies.demo.__main__ import DEFAULT_SECONDS, run_modes
from fcn.topologies.demo.congestion import CALM_MS
from fcn.topologies.demo.measure import Measurement, measure
from fcn.topologies.demo.modes import modes_named
from fcn.topologies.demo.scenario import continuous
from fcn.topologies.isolation import enter
from fcn.topologies.model import NS_PER_MS

MODULE = "fcn.bench.demo"
MODES: tuple[Mode, ...] = ("ecn", "fcn")


@dataclass(frozen=True, slots=True)
class Figures:
    """What both tell of a run; times in milliseconds, rates in bit/s, queue in packets."""

    reaction_ms: float
    longest_ms: float
    congestions: int
    caused_by_pe: int
    cnps_from_pe: int
    cnps_from_receiver: int
    marked: int
    peak_queue: float
    goodput_bps: float
    lost: int


NAMES = {
    "reaction_ms": "onset to first rate cut, median (ms)",
    "longest_ms": "  longest (ms)",
    "congestions": "congestions",
    "caused_by_pe": "  first cut by the ingress PE's CNP",
    "cnps_from_pe": "CNPs from the ingress PE",
    "cnps_from_receiver": "CNPs from receivers",
    "marked": "packets marked with CE",
    "peak_queue": "most packets in the queue",
    "goodput_bps": "goodput (bit/s)",
    "lost": "packets lost",
}


def of_real_time(measured: Measurement) -> Figures:
    return Figures(
        reaction_ms=median(each.reaction_ms for each in measured.congestions),
        longest_ms=max(each.reaction_ms for each in measured.congestions),
        congestions=len(measured.congestions),
        caused_by_pe=measured.caused_by_pe,
        cnps_from_pe=len(measured.cnps_from_pe),
        cnps_from_receiver=len(measured.cnps_from_receiver),
        marked=measured.ce_seen,
        peak_queue=measured.peak_queue,
        goodput_bps=measured.goodput_bps,
        lost=measured.lost,
    )


def of_laboratory(result: Result) -> Figures:
    """Of a run of the scenario; congestions are as far apart as the demo has them."""
    found = reactions(result, calm_ns=CALM_MS * NS_PER_MS)
    times = found["reaction_ns"].dropna().astype("float64") / NS_PER_MS
    by = caused(result, "cnp")["by"]
    flows = result.connections
    others = {other.sender for other in continuous(DEFAULT_SECONDS).others}
    flows = flows[~flows["host"].isin(others)]
    seconds = result.about.reached_ns / NS_PER_S
    return Figures(
        reaction_ms=float(times.median()),
        longest_ms=float(times.max()),
        congestions=len(found),
        caused_by_pe=int((found["by"] == BY_PE).sum()),
        cnps_from_pe=int((by == BY_PE).sum()),
        cnps_from_receiver=int((by == BY_RECEIVER).sum()),
        marked=int(flows["marked"].sum()),
        peak_queue=float(queues(result)["max_packets"].max()),
        goodput_bps=int(flows["payload"].sum()) * 8 / seconds,
        lost=int(flows["beyond_gap"].sum()),
    )


def table(runs: Mapping[str, Figures]) -> Table:
    data = pd.DataFrame({name: asdict(figures) for name, figures in runs.items()})
    made = table_of("the demo in real time and in the laboratory", ["figure"], list(runs))
    for field, name in NAMES.items():
        made.add_row(name, *(f"{value:,.1f}".removesuffix(".0") for value in data.loc[field]))
    return made


def main() -> None:
    parser = options_of("demo", __doc__)
    parser.add_argument("--target", default="softswitch", help="softswitch or bmv2")
    options = parser.parse_args()
    enter(MODULE, sys.argv[1:])
    seconds = load_scenario("demo").scenario.duration / NS_PER_S
    demo = continuous(seconds)
    with tempfile.TemporaryDirectory() as out:
        modes = modes_named(MODES)
        records = run_modes(demo, modes, choose_target(options.target), Path(out))
        real = {name: of_real_time(measure(demo, record)) for name, record in records.items()}
    runs: dict[str, Figures] = {}
    for mode in MODES:
        runs[f"{mode}, real time"] = real[mode]
        with quiet_logs():
            runs[f"{mode}, laboratory"] = of_laboratory(
                run_scenario(load_scenario("demo").using(mode=mode))
            )
    Console().print(table(runs))
    write_results(options.results, {"machine": machine(), "runs": runs})


if __name__ == "__main__":
    main()
