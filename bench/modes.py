"""The modes of the demo beside each other in the laboratory, at 100 Gb/s over 100 and 1000 km.

`python -m fcn.bench.modes` runs the scenarios `modes-100-km` and `modes-1000-km` in every mode and
shows the demo's table of each. It writes the figures to bench/results/modes.json and a plot of each
scenario beside it. Everything is in virtual time: the numbers are the same on every machine, and
scenarios and modes that are not run keep theirs.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fcn.bench.harness import RESULTS, options_of, table_of, write_results
from fcn.contract.depth import PACKET_SIZE, QueueDepth
from fcn.controller.config.holding import Holding
from fcn.controller.logs import quiet_logs
from fcn.lab.report.amounts import show
from fcn.lab.result import analysis
from fcn.lab.result.model import Result
from fcn.lab.result.reaction import reactions
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan, load_scenario
from fcn.topologies.demo.comparison import (
    Figures,
    Other,
    comparison_rows,
    draw_comparison,
    jain,
    percentile,
)
from fcn.topologies.demo.modes import MODES
from fcn.topologies.demo.scenario import demo_scenario

SCENARIOS = ("modes-100-km", "modes-1000-km")
PLACES = {other.receiver: other.place for other in demo_scenario(1.0).others}
"""Where other traffic meets the congestion, by its receiver."""


def figures(plan: Plan, result: Result) -> Figures:
    """What modes are compared by, of a run. Other traffic is that of hosts that are not-ect."""
    mode = MODES[result.about.mode]
    answered = reactions(result)["reaction_ns"].dropna().astype("float64")
    goodput = _goodput(plan, result)
    dropped = analysis.drops(result)
    counted = analysis.final_counters(result, "event")
    return Figures(
        title=mode.title,
        colour=mode.colour,
        reaction_ns=None if answered.empty else float(answered.median()),
        pause_ns=_pause_ns(plan, result) if mode.holds else None,
        held=int(counted.loc[counted["name"] == "HOLD_PARKED", "value"].sum()),
        peak_queue=float(analysis.queues(result)["max_packets"].max()),
        dropped=int(dropped.loc[dropped["lost"], "frames"].sum()),
        goodput_bps={sender: sum(of_qps) for sender, of_qps in goodput.items()},
        fairness=jain(bps for of_qps in goodput.values() for bps in of_qps),
        others=tuple(_others(plan, result)),
    )


def _pause_ns(plan: Plan, result: Result) -> float | None:
    """From the first sample of a queue at which neighbours are to hold to the first PAUSE frame for
    a host; None without one."""
    holding = Holding.model_validate(plan.scenario.controller.holding)
    depth = QueueDepth().convert(holding.hold_at, PACKET_SIZE)
    queues, pauses = result.queues, result.pauses
    over = queues[(queues["packets"] >= depth) & (queues["time_ns"] >= _overload_ns(plan))]
    if over.empty:
        return None
    onset = over["time_ns"].min()
    of_hosts = pauses[pauses["node"].isin(plan.wiring.hosts) & (pauses["duration_ns"] > 0)]
    after = of_hosts.loc[of_hosts["time_ns"] >= onset, "time_ns"]
    return None if after.empty else float(after.min() - onset)


def _other_senders(plan: Plan) -> set[str]:
    hosts = plan.wiring.hosts.values()
    return {host.name for host in hosts if plan.wiring.settings(host).ecn == "not-ect"}


def _overload_ns(plan: Plan) -> int:
    """When the last pattern begins, and the bottleneck is offered more than it serves."""
    return max(pattern.start for pattern in plan.scenario.traffic)


def _round_trip_ns(plan: Plan, sender: str, receiver: str) -> int:
    """Propagation between two hosts and back."""
    ends = [plan.wiring.hosts[name] for name in (sender, receiver)]
    path = plan.topology.path(plan.wiring.pe_of(ends[0]), plan.wiring.pe_of(ends[1]))
    hops = [(sender, path[0]), *pairwise(path), (path[-1], receiver)]
    wires = [plan.wiring.wire(*hop) for hop in hops]
    return 2 * sum(wire.delay_ns for wire in wires if wire is not None)


def _goodput(plan: Plan, result: Result) -> dict[str, list[float]]:
    """Acknowledged payload, in bit/s, of each sender's connections while all of them send."""
    acknowledged = analysis.over_time(result, "rates", "acknowledged").fillna(0)
    others = _other_senders(plan)
    flows = result.connections[~result.connections["host"].isin(others)]
    found: dict[str, list[float]] = {}
    columns = (flows[name].tolist() for name in ("host", "connection", "remote"))
    for host, number, remote in zip(*columns, strict=True):
        # What is acknowledged by then was sent before all of them did.
        begin = _overload_ns(plan) + _round_trip_ns(plan, host, remote)
        column = acknowledged[host, number]
        packets = column.iloc[-1] - column[column.index <= begin].iloc[-1]
        seconds = (result.about.reached_ns - begin) / analysis.NS_PER_S
        found.setdefault(host, []).append(packets * plan.scenario.hosts.mtu * 8 / seconds)
    return found


def _others(plan: Plan, result: Result) -> Iterator[Other]:
    """Delays are of messages of one packet, until they are acknowledged; one that is not yet has
    waited until the end. Those of packets that are lost have the time until they are sent again."""
    flows = result.connections[result.connections["host"].isin(_other_senders(plan))]
    gaps = result.notices[result.notices["what"] == "gap"]
    columns = (flows[name].tolist() for name in ("host", "connection", "remote", "packets"))
    for host, number, remote, packets in zip(*columns, strict=True):
        round_trip = _round_trip_ns(plan, host, remote)
        sent = result.messages
        sent = sent[(sent["host"] == host) & (sent["connection"] == number)]
        last = result.about.reached_ns - round_trip
        sent = sent[sent["start_ns"].between(_overload_ns(plan), last)]
        done = sent["completed_ns"].fillna(result.about.reached_ns).astype("int64")
        delays = (done - sent["start_ns"] - round_trip).astype("float64")
        yield Other(
            place=PLACES[remote],
            sent=packets,
            lost=int(gaps.loc[gaps["host"] == remote, "value"].sum()),
            delay_ns=percentile(delays.tolist()),
        )


def table(name: str, runs: Sequence[Figures]) -> Table:
    made = table_of(name, [""], [run.title for run in runs])
    for row in comparison_rows(runs):
        made.add_row(row.name, *row.values)
    return made


def read(file: Path) -> dict[str, dict[str, Figures]]:
    """What was written, by scenario and mode; nothing where there is no file."""
    if not file.is_file():
        return {}
    return {
        name: {
            mode: Figures(**run | {"others": tuple(Other(**other) for other in run["others"])})
            for mode, run in runs.items()
        }
        for name, runs in json.loads(file.read_text()).items()
    }


@quiet_logs()
def main() -> None:
    parser = options_of("modes", __doc__, results=False)
    every = tuple(MODES)
    parser.add_argument("--scenario", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    parser.add_argument("--mode", nargs="+", choices=every, default=every)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of what is written")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    console = Console()
    file = options.results / "modes.json"
    written = read(file)
    for name in options.scenario:
        plan = load_scenario(name)
        known = written.get(name, {})
        known |= {mode: figures(plan, run_scenario(plan.using(mode=mode))) for mode in options.mode}
        runs = {mode: known[mode] for mode in MODES if mode in known}
        console.print(table(name, list(runs.values())))
        duration = show(plan.scenario.duration, "ns")
        title = f"{plan.scenario.title}, {duration} of each mode"
        draw_comparison(list(runs.values()), title, options.results / f"{name}.png")
        written[name] = runs
        write_results(file, written)
    console.print(f"written: {file}, and a plot of each scenario beside it")


if __name__ == "__main__":
    main()
