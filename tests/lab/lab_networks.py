"""Networks the tests of the laboratory share."""

from dataclasses import dataclass
from ipaddress import ip_address

from fcn.contract.constants import FCN_LABEL_BIT, compiled_programs
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.load import parse_config
from fcn.controller.config.model import Config
from fcn.controller.node.provision import Provision
from fcn.lab.core import Link, Node, Simulation
from fcn.lab.entries import provision_of, write_entries
from fcn.lab.hosts import HostNode
from fcn.packets.roce import DEFAULT_P_KEY
from fcn.ptf_tests.lib import packets
from fcn.softswitch.engine import load_program

GIGABIT = 10**9
HOST_MAC = "02:00:00:00:01:{:02x}"
LEFT, RIGHT = "10.1.0.10", "10.2.0.10"
DEST_QP, SOURCE_QP = 0x100, 0x200

CONFIG = f"""
fast_cnp_port: 1021
congestion: {{ thresholds: [8, 16, 24, 32, 40, 48, 56] }}
vrfs: {{ blue: {{ id: 1 }} }}
nodes:
  pe1:
    role: pe
    grpc: 127.0.0.1:50001
    features: all
    underlay_address: 2001:db8:0:ff::1
    locator: 2001:db8:0:1::/64
    end_sids: ["2001:db8:0:1::e"]
    ports:
      - number: 1
        role: dc
        vrf: blue
        addresses: [10.1.0.1/24]
        hosts: {{ {LEFT}: "{HOST_MAC.format(1)}" }}
      - {{ number: 2, role: core }}
    vrfs:
      blue:
        service_sid: 2001:db8:0:1::d46
        routes: [{{ prefix: 10.2.0.0/24, tunnel: to-pe2 }}]
    tunnels: {{ to-pe2: {{ type: srv6, to: pe2 }} }}
  p1:
    role: p
    grpc: 127.0.0.1:50002
    features: all
    underlay_address: 2001:db8:0:ff::11
    ports: [{{ number: 1, role: core }}, {{ number: 2, role: core }}]
  pe2:
    role: pe
    grpc: 127.0.0.1:50003
    features: all
    underlay_address: 2001:db8:0:ff::2
    locator: 2001:db8:0:2::/64
    end_sids: ["2001:db8:0:2::e"]
    ports:
      - number: 1
        role: dc
        vrf: blue
        addresses: [10.2.0.1/24]
        hosts: {{ {RIGHT}: "{HOST_MAC.format(2)}" }}
      - {{ number: 2, role: core }}
    vrfs:
      blue:
        service_sid: 2001:db8:0:2::d46
        routes: [{{ prefix: 10.1.0.0/24, tunnel: to-pe1 }}]
    tunnels: {{ to-pe1: {{ type: srv6, to: pe1 }} }}
links:
  - [pe1:2, p1:1]
  - [p1:2, pe2:2]
"""


@dataclass(frozen=True, slots=True)
class Rates:
    """Rate and propagation delay of the links: host, first and second core link."""

    access: tuple[int | None, int] = (100 * GIGABIT, 500)
    core1: tuple[int | None, int] = (400 * GIGABIT, 500_000)
    core2: tuple[int | None, int] = (40 * GIGABIT, 1_000_000)


@dataclass(frozen=True)
class Wan:
    """left - pe1 - p1 - pe2 - right, with one known flow each way."""

    simulation: Simulation
    config: Config
    left: HostNode
    right: HostNode
    links: tuple[Link, Link, Link, Link]

    def frame(self, payload: int = 1024, *, back: bool = False, psn: int = 1) -> bytes:
        """A RoCEv2 frame of the flow from a host to its gateway."""
        src, dst = (RIGHT, LEFT) if back else (LEFT, RIGHT)
        datagram = packets.roce(src, dst, DEST_QP, payload=bytes(payload), psn=psn)
        return packets.ethernet(datagram, src=HOST_MAC.format(1 + back), dst=self.gateway(back))

    def gateway(self, back: bool) -> str:
        """The MAC address of a host's gateway."""
        name = "pe2" if back else "pe1"
        node = self.config.nodes[name]
        number = port_mac(name, node, node.dc_ports[0])
        return ":".join(f"{number:012x}"[i : i + 2] for i in range(0, 12, 2))


def provision_with_flows(config: Config, name: str) -> Provision:
    """A node's intent; a PE knows the flow of the host behind it, and its sender."""
    provision = provision_of(config, name)
    flows = {"pe1": (LEFT, RIGHT, 1), "pe2": (RIGHT, LEFT, 2)}
    if name in flows:
        src, dst, number = flows[name]
        flow = ip_address(src), ip_address(dst)
        label = FCN_LABEL_BIT | number
        provision.flow_table.label(1, *flow, DEST_QP, label, 0, watched=False)
        provision.flow_by_label.notify_sender(
            label, 1, flow[1], flow[0], SOURCE_QP, DEFAULT_P_KEY, ""
        )
    return provision


def wan(simulation: Simulation, rates: Rates | None = None, buffer: int = 1000) -> Wan:
    """Build it; the switches hold the entries of the controller's own code."""
    rates = rates or Rates()
    config = parse_config(CONFIG, "wan")
    left, right = simulation.add_host("left"), simulation.add_host("right")
    nodes = {}
    for name, node in config.nodes.items():
        program = load_program(compiled_programs() / f"{node.role}.json")
        nodes[name] = simulation.add_switch(name, program)
        write_entries(provision_with_flows(config, name), nodes[name].engine)
    pe1, p1, pe2 = nodes.values()
    ends: tuple[tuple[Node, int, Node, int], ...] = (
        (left, 0, pe1, 1),
        (pe1, 2, p1, 1),
        (p1, 2, pe2, 2),
        (pe2, 1, right, 0),
    )
    kinds = (rates.access, rates.core1, rates.core2, rates.access)
    links = tuple(
        simulation.connect(*end, rate_bps=rate, delay_ns=delay, buffer=buffer)
        for end, (rate, delay) in zip(ends, kinds, strict=True)
    )
    return Wan(simulation, config, left, right, (links[0], links[1], links[2], links[3]))
