"""What other traffic through a port sees while one flow is held there (SRF-7), in virtual time.

`python -m fcn.bench.holding` sends Poisson streams of tunnelled packets through the real P
program into one port, of OTHER and HELD of the line's rate. With several seeds each, HELD's flow is
absent ("alone"); never held; held from the neighbour's ARN at ARN_AT of the run to its end; and
released at RELEASE_AT of the run. All cases of a seed have the same arrivals of the other flow, and
what it saw counts from RELEASE_AT to the end. Latency is from the last bit into the node to the
last bit out of its port. It writes every run to bench/results/holding.json.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from fcn.bench.harness import options_of, whole, write_results
from fcn.bench.held_traffic import (
    ETHERNET_OCTETS,
    OCTETS_BEFORE_PACKET,
    PORTS,
    SEQUENCE,
    SIZE,
    arn_frame,
    data_frame,
    entries,
    flow_of,
    number_of,
)
from fcn.contract.constants import compiled_programs
from fcn.contract.pipeline import load_pipeline
from fcn.controller.config.holding import Holding
from fcn.lab.core import ETHERNET_OVERHEAD, Link, Simulation
from fcn.lab.entries import write_intent
from fcn.lab.hosts import HostNode
from fcn.packets.arn import ArnType
from fcn.softswitch.engine import load_program

HELD, OTHER = 0.3, 0.6
ARN_AT, RELEASE_AT = 0.1, 0.25
"""Of the time in which packets are sent."""
ARN_TAKES_NS = 10_000
"""More than an ARN needs from the sink to the end of ingress: the hold is in force."""
DRAIN_RUNS = 40
"""How long the held flow may take to drain after the end, in lengths of the run."""
CASES = ("alone", "never held", "held", "released")
LINK_DELAY_NS = 1_000


@dataclass(frozen=True, slots=True)
class Seen:
    """Of the other flow from RELEASE_AT to the end: packets per second, median and 99th percentile
    of its latency in ns. Of the held one: packets that left while it was held (0 where it never
    was) and from RELEASE_AT to the end; those that left at all and whether in order. drained_ns:
    from the release to its last packet, where it was held. lost: packets of either."""

    line_bps: int
    case: str
    seed: int
    packets_per_second: float
    median_ns: float
    p99_ns: float
    left_while_held: int
    left_in_window: int
    left: int
    all_in_order: bool
    drained_ns: int | None
    lost: int


class _Bed:
    """A P between two senders and a sink, on lines of one rate."""

    def __init__(self, simulation: Simulation, line_bps: int, packets: int) -> None:
        self.simulation = simulation
        program = load_program(compiled_programs() / "p.json")
        node = simulation.add_switch("p", program)
        self.hosts: dict[str, HostNode] = {}
        self.links: dict[str, Link] = {}
        for name, port in PORTS.items():
            self.hosts[name] = simulation.add_host(name)
            self.links[name] = simulation.connect(
                self.hosts[name],
                0,
                node,
                port,
                rate_bps=line_bps,
                delay_ns=LINK_DELAY_NS,
                buffer=100_000,
            )
        self.links["other"].tap(0, 1 << 26, snap=OCTETS_BEFORE_PACKET + SEQUENCE)
        self.links["sink"].tap(1, 1 << 26, snap=OCTETS_BEFORE_PACKET + SEQUENCE)
        holding = Holding.model_validate(
            {"packets": packets, "octets": "200MB", "time": "900ms", "longest": "1s"}
        )
        write_intent("p", entries(holding), load_pipeline("p"), node.engine)

    def send(self, flow: str, per_second: float, count: int) -> None:
        frames = [data_frame(flow, PORTS[flow], number) for number in range(count)]
        self.hosts[flow].send_series(frames, per_second=per_second, count=count, poisson=True)


def measure(line_bps: int, case: str, packets: int = 12_000, seed: int = 1) -> Seen:
    """Send `packets` of the other flow; `case` is one of CASES. Raises ValueError for another."""
    if case not in CASES:
        raise ValueError(f"case '{case}': there are {', '.join(CASES)}")
    line_pps = line_bps / (8 * (SIZE + ETHERNET_OCTETS + ETHERNET_OVERHEAD))
    length_ns = round(packets / (OTHER * line_pps) * 1e9)
    held = 0 if case == "alone" else round(packets * HELD / OTHER)
    with Simulation(seed) as simulation:
        bed = _Bed(simulation, line_bps, packets)
        if held:
            bed.send("held", HELD * line_pps, held)
        bed.send("other", OTHER * line_pps, packets)
        started = simulation.now_ns
        arn = started + round(length_ns * ARN_AT)
        window = range(started + round(length_ns * RELEASE_AT), started + length_ns)
        release = {"held": window.stop, "released": window.start}.get(case)
        if release is not None:
            simulation.run_until(arn)
            bed.hosts["sink"].send(arn_frame(ArnType.DETECTED, 900_000))
            simulation.run_until(release)
            bed.hosts["sink"].send(arn_frame(ArnType.ELIMINATED, 0))
        simulation.run_until(window.stop + DRAIN_RUNS * length_ns)
        arrived, latency, left = _records(bed, window)
    times = [time for time, _ in left]
    in_hold = range(0) if release is None else range(arn + ARN_TAKES_NS, release)
    return Seen(
        line_bps=line_bps,
        case=case,
        seed=seed,
        packets_per_second=len(latency) / len(window) * 1e9,
        median_ns=latency[len(latency) // 2],
        p99_ns=latency[len(latency) * 99 // 100],
        left_while_held=sum(time in in_hold for time in times),
        left_in_window=sum(time in window for time in times),
        left=len(left),
        all_in_order=[number for _, number in left] == list(range(held)),
        drained_ns=None if release is None else max(times) - release,
        lost=packets - arrived + held - len(left),
    )


def _records(bed: _Bed, window: range) -> tuple[int, list[int], list[tuple[int, int]]]:
    """How many packets of the other flow arrived; the latencies in ns of those in the window, the
    lowest first; time and number of each packet of the held flow that left."""
    arrived: dict[int, int] = {}
    latency: list[int] = []
    left: list[tuple[int, int]] = []
    total = 0
    for frame in bed.simulation.tapped():
        flow, number = flow_of(frame.data), number_of(frame.data)
        if frame.link == bed.links["other"].number:
            arrived[number] = frame.time_ns
        elif flow == "other":
            total += 1
            if frame.time_ns in window:
                latency.append(frame.time_ns - arrived[number] - LINK_DELAY_NS)
        elif flow == "held":
            left.append((frame.time_ns, number))
    return total, sorted(latency), left


def _range(values: Sequence[float], form: str) -> str:
    low, high = min(values), max(values)
    return f"{low:{form}}" if low == high else f"{low:{form}} to {high:{form}}"


def _table(line_bps: int, runs: dict[str, list[Seen]]) -> Table:
    """The lowest and the highest of all seeds; ratios are of runs with the same seed."""
    table = Table("other flow", *runs, title=f"a flow held in a port of {line_bps // 10**9} Gb/s")

    def add(name: str, value: Callable[[Seen], float | None], form: str = ",") -> None:
        cells = []
        for seen in runs.values():
            values = [each for each in map(value, seen) if each is not None]
            cells.append(_range(values, form) if values else "")
        table.add_row(name, *cells)

    def beside(case: str) -> Callable[[Seen], float]:
        base = {each.seed: each.p99_ns for each in runs[case]}
        return lambda each: each.p99_ns / base[each.seed]

    add("packets/s", lambda each: each.packets_per_second, ",.0f")
    add("median, µs", lambda each: each.median_ns / 1000, ",.2f")
    add("p99, µs", lambda each: each.p99_ns / 1000, ",.2f")
    for case in ("alone", "never held"):
        add(f"p99 / {case}", beside(case), ".2f")
    table.add_section()
    add("held flow: left while held", lambda each: each.left_while_held)
    add("left in window", lambda each: each.left_in_window)
    add("left", lambda each: each.left)
    add("drained after, ms", lambda each: each.drained_ns and each.drained_ns / 1e6, ",.2f")
    add("runs out of order", lambda each: not each.all_in_order, "d")
    add("lost, of both", lambda each: each.lost)
    return table


def main() -> None:
    parser = options_of("holding", __doc__)
    parser.add_argument("--seeds", type=whole, default=5, help="runs of each case (default: 5)")
    options = parser.parse_args()
    results = []
    for line_bps in (10 * 10**9, 100 * 10**9):
        runs = {
            case: [measure(line_bps, case, seed=seed) for seed in range(1, options.seeds + 1)]
            for case in CASES
        }
        for seen in runs.values():
            results += seen
        Console().print(_table(line_bps, runs))
    write_results(options.results, results)


if __name__ == "__main__":
    main()
