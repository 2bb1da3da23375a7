"""Packet-hops per second of the laboratory, on one core, through the real PE and P programs.

`python -m fcn.bench.laboratory` sends a Poisson stream of RoCEv2 packets of one known flow from a
host through PE, P and PE to a host, with the entries of the controller's own code. A packet-hop is
one packet through one switch, its queue and its link. The processor time of the process counts, so
that what else runs on the machine matters less. It writes the best and the median of several pieces
to bench/results/laboratory.json, and medians to docs/laboratory.md.
"""

import statistics
import time
from collections.abc import Mapping, Sequence

from fcn.bench.harness import LABORATORY, machine, options_of, whole, write_part, write_results
from fcn.bench.laboratory_network import long_path
from fcn.lab.balance import balance
from fcn.lab.core import Simulation

PAYLOADS = (64, 1024, 4096)
DELAYS = (1_000, 1_000_000)
PIECES = 15
LOAD = 0.8
SWITCHES = 3


def measure(payload: int, packets: float, delay_ns: int) -> list[float]:
    """Packet-hops per second of processor time, of each piece of `packets` packets."""
    with Simulation(1) as simulation:
        gap_ns = long_path(simulation, payload=payload, load=LOAD, delay_ns=delay_ns)
        simulation.run_until(3 * delay_ns)
        rates = []
        for _ in range(PIECES):
            before, started = simulation.hops, time.process_time()
            simulation.run_until(simulation.now_ns + round(packets * gap_ns))
            links = SWITCHES + 1
            hops = (simulation.hops - before) * SWITCHES / links
            rates.append(hops / (time.process_time() - started))
        balance(simulation)
        return rates


def main() -> None:
    parser = options_of("laboratory", __doc__, document=LABORATORY)
    parser.add_argument("--packets", type=whole, default=100_000, help="of a piece")
    options = parser.parse_args()
    results = []
    for payload in PAYLOADS:
        for delay_ns in DELAYS:
            rates = measure(payload, options.packets, delay_ns)
            best, median = max(rates), statistics.median(rates)
            results.append(
                {"payload": payload, "delay_ns": delay_ns, "best": best, "median": median}
            )
    write_results(options.results, {"machine": machine(), "results": results})
    part = part_of(results, machine()["commit"])
    print(part)
    write_part(options.document, "laboratory", part)


def part_of(results: Sequence[Mapping[str, float]], commit: str) -> str:
    """The medians as docs/laboratory.md has them."""
    medians = {(each["payload"], each["delay_ns"]): each["median"] for each in results}
    rows = (
        f"| {payload} octets | "
        + " | ".join(f"{medians[payload, delay] / 1e6:.1f} million" for delay in DELAYS)
        + " |\n"
        for payload in PAYLOADS
    )
    head = "| payload | links of 1 µs | links of 1 ms |\n|---|---|---|\n"
    return f"Medians at commit {commit}:\n\n{head}{''.join(rows)}"


if __name__ == "__main__":
    main()
