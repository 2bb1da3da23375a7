"""The network of the laboratory's benchmark: host - PE - P - PE - host, one known flow."""

from ipaddress import ip_address
from pathlib import Path

from fcn.contract.constants import FCN_LABEL_BIT, compiled_programs
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.load import load_config
from fcn.lab.core import ETHERNET_OVERHEAD, Node, Simulation
from fcn.lab.entries import provision_of, write_entries
from fcn.ptf_tests.lib import packets
from fcn.softswitch.engine import load_program

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
