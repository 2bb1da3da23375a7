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
from ipaddress import ip_address
from pathlib import Path

from fcn.bench.harness import LABORATORY, machine, options_of, whole, write_part, write_results
from fcn.contract.constants import FCN_LABEL_BIT, compiled_programs
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.load import load_config
from fcn.lab.balance import balance
from fcn.lab.core import ETHERNET_OVERHEAD, Node, Simulation
from fcn.lab.entries import provision_of, write_entries
from fcn.ptf_tests.lib import packets
from fcn.softswitch.engine import load_program

PAYLOADS = (64, 1024, 4096)
DELAYS = (1_000, 1_000_000)
PIECES = 15
LOAD = 0.8
SWITCHES = 3
RATE = 100 * 10**9
CONFIG = Path(__file__).with_name("laboratory.yaml")
SOURCE, DESTINATION = "10.1.0.10", "10.2.0.10"
SOURCE_MAC = "02:00:00:00:01:01"
DEST_QP = 0x100
TUNNEL = 40
"""Octets of the outer header."""


def long_path(simulation: Simulation, *, payload: int, load: float, delay_ns: int) -> float:
    """Build it and send; load: share of the core links' rate. Returns the mean time between
    packets in nanoseconds."""
    config = load_config(CONFIG)
    source, destination = simulation.add_host("source"), simulation.add_host("destination")
    switches = []
    for name, node in config.nodes.items():
        program = load_program(compiled_programs() / f"{node.role}.json")
        switches.append(simulation.add_switch(name, program))
        provision = provision_of(config, name)
        if node.role == "pe":
            flow = ip_address(SOURCE), ip_address(DESTINATION)
            provision.intent.put_encoded(
                provision.flow_table.label(1, *flow, DEST_QP, FCN_LABEL_BIT | 1, 0, watched=False)
            )
        write_entries(provision, switches[-1].engine)
    pe1, p1, pe2 = switches
    ends: tuple[tuple[Node, int, Node, int, int], ...] = (
        (source, 0, pe1, 1, 500),
        (pe1, 2, p1, 1, delay_ns),
        (p1, 2, pe2, 2, delay_ns),
        (pe2, 1, destination, 0, 500),
    )
    for a, a_port, b, b_port, delay in ends:
        simulation.connect(a, a_port, b, b_port, rate_bps=RATE, delay_ns=delay, buffer=100_000)
    datagram = packets.roce(SOURCE, DESTINATION, DEST_QP, payload=bytes(payload))
    node = config.nodes["pe1"]
    gateway = f"{port_mac('pe1', node, node.dc_ports[0]):012x}"
    frame = packets.ethernet(
        datagram, src=SOURCE_MAC, dst=":".join(gateway[i : i + 2] for i in range(0, 12, 2))
    )
    bits = (len(frame) + TUNNEL + ETHERNET_OVERHEAD) * 8
    per_second = load * RATE / bits
    source.send_series([frame], per_second=per_second, poisson=True)
    return 1e9 / per_second


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
