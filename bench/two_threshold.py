"""Two-threshold ECN in the laboratory: marking over queue depth, and lightly congested flows.

`python -m fcn.bench.two_threshold` measures, in virtual time and with fixed seeds,

- how often a P marks packets at each depth of its queue, beside the configured curves and within
  the binomial test (bench/results/marking.png);
- how often the ingress PE switches the treatment of lightly congested flows on or off, over links
  of 100 and 1000 km, and what the flows get.

Everything is written to bench/results/two_threshold.json.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from rich.console import Console
from scapy.utils import RawPcapReader

from fcn.bench.harness import RESULTS, options_of, table_of, whole, write_results
from fcn.bench.held_traffic import ETHERNET_OCTETS
from fcn.contract.targets import V1MODEL
from fcn.controller.config.queue_depths import queue_curves
from fcn.lab.marking import MarksAtDepth, binomial_error, measure_marks, p_config
from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan, make_scenario
from fcn.ptf_tests.lib.packets import flow_label_of
from fcn.topologies.units import NS_PER_KM

DEPTHS = (16, 48, 128)
LIGHT, HEAVY = 0.25, 1.0
DEEPEST = 140
SEED = 20251020

KILOMETRES = (100, 1000)
TREATMENTS = ("slow", "reroute", "none")
HOLD_ROUND_TRIPS = 2
RATE_BPS = 10**10
MTU = 4096
SAMPLE_NS = 50_000

NETWORK = """
nodes: {pe1: {role: pe}, p1: {role: p}, p2: {role: p}, p3: {role: p}, pe2: {role: pe}}
links:
  - {between: [pe1, p1]}
  - {between: [p1, pe2]}
  - {between: [pe1, p2]}
  - {between: [p2, p3]}
  - {between: [p3, pe2]}
hosts: {h1: {pe: pe1}, h2: {pe: pe1}, h3: {pe: pe2}, h4: {pe: pe2}}
"""
"""Two paths; the way round has a link more, so that only flows that are rerouted take it."""


@dataclass(frozen=True, slots=True)
class Treated:
    """One run: of all flows, how often the treatment was switched on or off and the shortest time
    between two switches of a flow (None: fewer than two), in ns."""

    kilometres: int
    treatment: str
    round_trip_ns: int
    hold_ns: int
    switches: int
    shortest_ns: int | None
    acknowledged: int
    cnps: int
    policed: int
    queue_drops: int


def round_trip_ns(kilometres: int) -> int:
    """Between the ingress PE and the congested node, by propagation."""
    return 2 * kilometres * NS_PER_KM


def light_scenario(
    kilometres: int, treatment: str, folder: Path, mode: str = "two-threshold"
) -> Plan:
    """Two hosts (one, when it is slowed, so that its samples are those of a flow) of 10 Gb/s send
    through a link of 8 Gb/s that is this far away from their PE, for twelve holds. `folder`: where
    the network's file is written."""
    (folder / "two-paths.yaml").write_text(NETWORK)
    hold = HOLD_ROUND_TRIPS * round_trip_ns(kilometres)
    long = [["pe1", "p1"], ["pe1", "p2"]]
    senders = 2 if treatment == "reroute" else 1
    rate = f"{RATE_BPS // 10**9} Gb/s"
    return make_scenario(
        {
            "network": "two-paths.yaml",
            "mode": mode,
            "seed": SEED,
            "duration": f"{12 * hold} ns",
            "links": {
                "core": {"rate": rate, "buffer": 20_000},
                "hosts": {"rate": rate, "delay": "500 ns", "buffer": 20_000},
                "only": [
                    {"between": ends, "delay": f"{kilometres} km", "rate": "100 Gb/s"}
                    for ends in long
                ]
                + [{"between": ["p1", "pe2"], "rate": "8 Gb/s"}],
            },
            "hosts": {"mtu": MTU},
            "controller": {
                "two_threshold": {
                    "depths": [16, 256, 1024],
                    "treatment": treatment,
                    "rate": {"rate": RATE_BPS // (4 * 8 * MTU), "burst": 32},
                    "hold": f"{hold // 1000}us",
                    "round_trip": f"{round_trip_ns(kilometres) // 1000}us",
                },
                "two_threshold_nodes": _around() if treatment == "reroute" else {},
            },
            "traffic": [
                {
                    "pattern": "messages",
                    "from": ["h1", "h2"][:senders],
                    "to": ["h3", "h4"][:senders],
                    "size": "1GB",
                }
            ],
            "measure": {"interval": f"{SAMPLE_NS} ns", "pcap": long, "snap": 64},
        },
        f"light-{kilometres}-km-{treatment}",
        folder,
    )


def _around() -> Mapping[str, Any]:
    tunnels: dict[str, Any] = {
        "to-pe2": {"next": "around"},
        "around": {"type": "srv6", "to": "pe2", "via": ["p2"]},
    }
    return {
        "pe1": {"tunnels": tunnels},
        # ACKs are not congested.
        "pe2": {"tunnels": {"to-pe1": {"light": "none"}}},
    }


def switch_times(result: Result, treatment: str) -> list[list[int]]:
    """When the treatment was switched on or off, by flow: from the path of every packet, or of the
    one flow that is slowed from samples of the PE's counters. A sample in which the flow's packets
    were counted as slowed is one of treatment, one in which packets were sent and none was slowed
    is not; others say nothing."""
    if treatment == "reroute":
        return _path_changes(result.captures)
    counters, links = result.counters, result.links
    slowed = counters[(counters["node"] == "pe1") & (counters["name"] == "SLOWED")]
    treated = set(slowed["time_ns"].astype(int))
    sent = links[(links["node"] == "pe1") & (links["towards"] == "p1")]
    times, before = [], False
    for earlier, later in pairwise(zip(sent["time_ns"], sent["frames"], strict=True)):
        now = int(later[0])
        if now in treated or later[1] - earlier[1] > 1:
            if (now in treated) != before:
                times.append(now)
            before = now in treated
    return [times]


def _path_changes(captures: Mapping[str, bytes]) -> list[list[int]]:
    packets: list[tuple[int, int, str]] = []
    for path, data in captures.items():
        packets += [(time, label, path) for time, label in _labels(data)]
    packets.sort()
    taken: dict[int, str] = {}
    changes: dict[int, list[int]] = {}
    for time, label, path in packets:
        changes.setdefault(label, [])
        if taken.setdefault(label, path) != path:
            taken[label] = path
            changes[label].append(time)
    return list(changes.values())


def _labels(data: bytes) -> Iterator[tuple[int, int]]:
    """Time in ns and flow label of each frame of a capture."""
    for frame, when in RawPcapReader(BytesIO(data)):
        yield when.sec * 10**9 + when.usec, flow_label_of(frame[ETHERNET_OCTETS:])


def measure_treatment(kilometres: int, treatment: str, folder: Path) -> Treated:
    result = run_scenario(light_scenario(kilometres, treatment, folder))
    changes = switch_times(result, treatment)
    apart = [later - earlier for times in changes for earlier, later in pairwise(times)]
    counters = result.counters

    def last(name: str) -> int:
        found = counters[counters["name"] == name]
        return int(found.groupby("node")["value"].max().sum()) if len(found) else 0

    sent = result.connections
    acknowledged = result.rates.groupby(["host", "connection"])["acknowledged"].max()
    return Treated(
        kilometres=kilometres,
        treatment=treatment,
        round_trip_ns=round_trip_ns(kilometres),
        hold_ns=HOLD_ROUND_TRIPS * round_trip_ns(kilometres),
        switches=sum(map(len, changes)),
        shortest_ns=min(apart) if apart else None,
        acknowledged=int(acknowledged.sum()),
        cnps=int(sent["cnps"].sum()),
        policed=last("LIGHT_CONGESTION_RATE"),
        queue_drops=last("QUEUE_FULL"),
    )


def marking_rows(measured: list[MarksAtDepth]) -> Iterator[dict[str, Any]]:
    """Beside the curve and the step, for each depth."""
    config = p_config(DEPTHS, LIGHT, HEAVY)
    curve = queue_curves(config, V1MODEL, config.two_threshold.depths)
    steps = list(curve.steps(V1MODEL.depth.maximum))
    for at in measured:
        codepoint, configured = curve.at(at.depth)
        step = next((each for each in steps if each.low <= at.depth <= each.high), None)
        compiled = step.probability if step else 0.0
        marked = at.codepoints[codepoint] if codepoint else 0
        yield {
            "depth": at.depth,
            "codepoint": codepoint.name,
            "packets": at.packets,
            "marked": marked,
            "configured": configured,
            "compiled": compiled,
            "binomial": binomial_error(at.packets, marked, compiled),
        }


def plot_marking(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Plot the share of marked packets over queue depth, beside the configured curves. rows: depth,
    codepoint, packets, marked, configured."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for codepoint, colour in (("ECT1", "#2166ac"), ("CE", "#b2182b")):
        found = [row for row in rows if row["codepoint"] == codepoint]
        depths = [row["depth"] for row in found]
        shares = [row["marked"] / row["packets"] for row in found]
        axes.plot(depths, [row["configured"] for row in found], color=colour, label=codepoint)
        axes.plot(depths, shares, ".", color=colour, label=f"{codepoint}, measured")
    axes.set_xlabel("queue depth, packets")
    axes.set_ylabel("share of packets marked")
    axes.set_title("Marking curves of the two-threshold mode")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = options_of("two_threshold", __doc__, results=False)
    parser.add_argument("--packets", type=whole, default=10_000, help="at each depth")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--scratch", type=Path, default=Path())
    options = parser.parse_args()
    console = Console()
    config = p_config(DEPTHS, LIGHT, HEAVY)
    measured = measure_marks(config, deepest=DEEPEST, bursts=options.packets, seed=SEED)
    rows = list(marking_rows(measured))
    plot_marking(rows, options.results / "marking.png")
    smallest = min(row["binomial"] for row in rows)
    console.print(
        f"{len(rows)} depths, {options.packets} packets each: the least likely is {smallest:.2g} "
        f"({1e-3 / len(rows):.2g} would be an error of 1e-3 over all depths)"
    )
    columns = "km", "treatment", "round trip", "hold", "switches", "shortest", "CNPs", "policed"
    table = table_of("lightly congested flows", (), columns)
    runs = []
    for kilometres in KILOMETRES:
        for treatment in TREATMENTS:
            run = measure_treatment(kilometres, treatment, options.scratch)
            runs.append(run)
            table.add_row(
                str(kilometres),
                treatment,
                *(f"{ns / 1e6:g} ms" for ns in (run.round_trip_ns, run.hold_ns)),
                str(run.switches),
                "-" if run.shortest_ns is None else f"{run.shortest_ns / 1e6:.3f} ms",
                str(run.cnps),
                str(run.policed),
            )
    console.print(table)
    document = {"seed": SEED, "marking": rows, "light": runs}
    write_results(options.results / "two_threshold.json", document)


if __name__ == "__main__":
    main()
