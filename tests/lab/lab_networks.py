"""Networks the tests of the laboratory share."""

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

from fcn.contract.constants import FCN_LABEL_BIT
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.load import parse_config
from fcn.controller.config.model import Config
from fcn.controller.provision.provision import Provision
from fcn.lab.core import Link, Node, Simulation
from fcn.lab.entries import provision_of, write_entries
from fcn.lab.hosts import HostNode
from fcn.lab.roce import RoceHost, RoceOptions
from fcn.packets.roce import DEFAULT_P_KEY
from fcn.ptf_tests.lib import packets
from fcn.softswitch.engine import Program, load_program

GIGABIT = 10**9
CORE_PORT = 2
DEST_QP, SOURCE_QP = 0x800000, 0x100
"""Of the first connection a host accepts, and of the first it opens."""


def address(side: int, number: int = 0) -> IPv4Address:
    """Of a host on the left (1) or right (2)."""
    return IPv4Address(f"10.{side}.{number}.10")


def host_mac(side: int, number: int = 0) -> str:
    """The MAC address of a host."""
    return f"02:00:00:00:{side:02x}:{number + 1:02x}"


def dc_port(number: int) -> int:
    """The port of a PE to which a host is connected."""
    return 1 if number == 0 else CORE_PORT + number


def _pe(side: int, hosts: int, features: str) -> str:
    ports = "\n".join(
        f"""      - number: {dc_port(n)}
        role: dc
        vrf: blue
        addresses: [10.{side}.{n}.1/24]
        hosts: {{ {address(side, n)}: "{host_mac(side, n)}" }}"""
        for n in range(hosts)
    )
    far = 3 - side
    return f"""
  pe{side}:
    role: pe
    grpc: 127.0.0.1:5000{side}
    features: {features}
    underlay_address: 2001:db8:0:ff::{side}
    locator: 2001:db8:0:{side}::/64
    end_sids: ["2001:db8:0:{side}::e"]
    ports:
      - {{ number: {CORE_PORT}, role: core }}
{ports}
    vrfs:
      blue:
        service_sid: 2001:db8:0:{side}::d46
        routes: [{{ prefix: 10.{far}.0.0/16, tunnel: far }}]
    tunnels: {{ far: {{ type: srv6, to: pe{far} }} }}"""


def config_of(hosts: int = 1, features: str = "all", threshold: int | None = None) -> Config:
    """hosts - pe1 - p1 - pe2 - hosts. threshold: packets in a queue from which on all is marked."""
    congestion = "" if threshold is None else f"congestion: {{ thresholds: [{threshold}] }}"
    text = f"""
{congestion}
vrfs: {{ blue: {{ id: 1 }} }}
nodes:{_pe(1, hosts, features)}
  p1:
    role: p
    grpc: 127.0.0.1:50003
    features: {features if features == "all" else "[]"}
    underlay_address: 2001:db8:0:ff::11
    ports: [{{ number: 1, role: core }}, {{ number: 2, role: core }}]{_pe(2, hosts, features)}
links:
  - [pe1:2, p1:1]
  - [p1:2, pe2:2]
"""
    return parse_config(text, "wan")


@dataclass(frozen=True, slots=True)
class Rates:
    """Rate and propagation delay of the links: hosts, first and second core link."""

    access: tuple[int | None, int] = (100 * GIGABIT, 500)
    core1: tuple[int | None, int] = (400 * GIGABIT, 500_000)
    core2: tuple[int | None, int] = (40 * GIGABIT, 1_000_000)


@dataclass(frozen=True)
class Wan:
    """links: left host to pe1, pe1 to p1, p1 to pe2, pe2 to right host; then further hosts."""

    simulation: Simulation
    config: Config
    lefts: tuple[HostNode, ...]
    rights: tuple[HostNode, ...]
    links: tuple[Link, ...]

    @property
    def left(self) -> HostNode:
        """The first host on the left."""
        return self.lefts[0]

    @property
    def right(self) -> HostNode:
        """The first host on the right."""
        return self.rights[0]

    def frame(self, payload: int = 1024, *, back: bool = False, psn: int = 1) -> bytes:
        """A RoCEv2 frame of the flow from a host to its gateway."""
        side = 1 + back
        datagram = packets.roce(
            str(address(side)), str(address(3 - side)), DEST_QP, payload=bytes(payload), psn=psn
        )
        return packets.ethernet(datagram, src=host_mac(side), dst=self.gateway(side))

    def gateway(self, side: int, number: int = 0) -> str:
        """The MAC address of a host's gateway."""
        name = f"pe{side}"
        node = self.config.nodes[name]
        port = node.port(dc_port(number))
        assert port is not None
        digits = f"{port_mac(name, node, port):012x}"
        return ":".join(digits[i : i + 2] for i in range(0, 12, 2))

    def roce(self, side: int, number: int = 0, options: RoceOptions | None = None) -> RoceHost:
        """Make a host a RoCEv2 host."""
        host = (self.lefts if side == 1 else self.rights)[number]
        return RoceHost(
            host, address(side, number), host_mac(side, number), self.gateway(side, number), options
        )


def provision_with_flows(config: Config, name: str) -> Provision:
    """A node's intent; a PE knows the first flow of each host behind it, and its sender."""
    provision = provision_of(config, name)
    if config.nodes[name].role != "pe":
        return provision
    side = int(name[-1])
    for number in range(len(list(config.nodes[name].dc_ports))):
        flow = address(side, number), address(3 - side, number)
        label = FCN_LABEL_BIT | (side << 8 | number)
        provision.intent.put_encoded(
            provision.flow_table.label(1, *flow, DEST_QP, label, 0, watched=False)
        )
        provision.intent.put_encoded(
            provision.flow_by_label.notify_sender(
                label, 1, flow[1], flow[0], SOURCE_QP, DEFAULT_P_KEY, ""
            )
        )
    return provision


def wan(
    simulation: Simulation,
    rates: Rates | None = None,
    buffer: int | None = 1000,
    *,
    buffer_octets: int | None = None,
    hosts: int = 1,
    features: str = "all",
    threshold: int | None = None,
    memory: int | None = None,
    load: Callable[[Path], Program] = load_program,
) -> Wan:
    """Build it; the switches hold the entries of the controller's own code. memory: of each."""
    rates = rates or Rates()
    config = config_of(hosts, features, threshold)
    lefts = tuple(simulation.add_host(f"left{n or ''}") for n in range(hosts))
    rights = tuple(simulation.add_host(f"right{n or ''}") for n in range(hosts))
    nodes = {}
    for name in config.nodes:
        provision = provision_with_flows(config, name)
        assert provision.pipeline.blob is not None
        program = load(provision.pipeline.blob)
        nodes[name] = simulation.add_switch(name, program, memory_octets=memory)
        write_entries(provision, nodes[name].engine)
    pe1, p1, pe2 = nodes["pe1"], nodes["p1"], nodes["pe2"]
    ends: list[tuple[Node, int, Node, int, tuple[int | None, int]]] = [
        (lefts[0], 0, pe1, 1, rates.access),
        (pe1, 2, p1, 1, rates.core1),
        (p1, 2, pe2, 2, rates.core2),
        (pe2, 1, rights[0], 0, rates.access),
    ]
    for n in range(1, hosts):
        ends.append((lefts[n], 0, pe1, dc_port(n), rates.access))
        ends.append((rights[n], 0, pe2, dc_port(n), rates.access))
    links = tuple(
        simulation.connect(
            *end[:4],
            rate_bps=end[4][0],
            delay_ns=end[4][1],
            buffer=buffer,
            buffer_octets=buffer_octets,
        )
        for end in ends
    )
    return Wan(simulation, config, lefts, rights, links)
