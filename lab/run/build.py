"""A scenario's network as a simulation: switches that are off, gateways, links and hosts.

The PEs and P nodes get their programs and entries from the controller, in virtual time.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fcn.contract.depth import Depth, DepthUnit
from fcn.contract.ecn import Ecn
from fcn.contract.targets import V1MODEL
from fcn.controller.config import Config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac
from fcn.lab.core import Link, Node, PortSettings, Simulation, SwitchNode
from fcn.lab.errors import LabError
from fcn.lab.impairment import impair
from fcn.lab.red import Red
from fcn.lab.roce import RoceHost, RoceOptions
from fcn.lab.run.gateway import add_gateway
from fcn.lab.scenario.model import EcnField, HostSettings
from fcn.lab.scenario.traffic import TcpTransfer
from fcn.lab.scenario.wiring import EndHost, Wire, Wiring
from fcn.lab.tcp import TcpFlow, TcpOptions
from fcn.softswitch.api import PortQueue
from fcn.topologies.link_clock import clock_rates

ECN: Mapping[EcnField, Ecn] = {"not-ect": Ecn.NOT_ECT, "ect0": Ecn.ECT0, "ect1": Ecn.ECT1}


@dataclass(frozen=True)
class Built:
    """A network that was built. `links`: by both neighbours; `direction()` says which way."""

    wiring: Wiring
    config: Config
    simulation: Simulation
    links: dict[frozenset[str], Link]
    hosts: dict[str, RoceHost]

    def link(self, node: str, towards: str) -> tuple[Link, int]:
        """The link between two neighbours, and its direction from `node`. Raises LabError."""
        link = self.links.get(frozenset((node, towards)))
        if link is None:
            raise LabError(f"{node} and {towards} are not linked")
        return link, 0 if link.ends[0].node.name == node else 1

    def port(self, node: str, towards: str) -> tuple[SwitchNode, int]:
        """A switch and its port towards a neighbour. Raises LabError."""
        link, direction = self.link(node, towards)
        end = link.ends[direction]
        if not isinstance(end.node, SwitchNode):
            raise LabError(f"{node} is a host and has no queue of a switch")
        return end.node, end.port


def build(wiring: Wiring, config: Config, simulation: Simulation) -> Built:
    """Add everything to an empty simulation."""
    for name in config.nodes:
        simulation.add_switch(name, memory_octets=wiring.memory_of(name))
    for gateway in wiring.gateways:
        memory = wiring.memory_of(gateway.name)
        thresholds = _thresholds(wiring, config)
        add_gateway(simulation, gateway, config, memory, thresholds)
    for host in wiring.hosts.values():
        simulation.add_host(host.name)
    links = {wire.ends: _connect(simulation, wire) for wire in wiring.wires}
    if wiring.has_red:
        for wire in wiring.wires:
            if wire.red is not None:
                links[wire.ends].set_red(Red(**wire.red.model_dump()))
    _limit_packets(wiring, simulation)
    _set_clocks(config, simulation)
    hosts = {}
    for host in wiring.hosts.values():
        hosts[host.name] = RoceHost(
            simulation.hosts[host.name],
            wiring.address(host),
            host.mac,
            _gateway_mac(wiring, config, host),
            roce_options(wiring.settings(host)),
        )
    return Built(wiring, config, simulation, links, hosts)


def start_tcp(built: Built, transfer: TcpTransfer, begun_ns: int) -> TcpFlow:
    """TCP beside RoCEv2; segments, window, least time-out and ECN are the sender's settings."""
    settings = built.wiring.settings(transfer.source)
    options = TcpOptions(
        mss=settings.mtu,
        window=settings.window,
        min_rto=settings.timeout,
        ecn=settings.ecn != "not-ect",
    )
    sender, receiver = built.hosts[transfer.source.name], built.hosts[transfer.target.name]
    return TcpFlow(
        built.simulation, sender, receiver, transfer.size,
        start_ns=begun_ns + transfer.start_ns, options=options,
    )  # fmt: skip


def _thresholds(wiring: Wiring, config: Config) -> tuple[Depth, ...]:
    """Of gateways: those of the core, or in the two-threshold mode, where that has none, those the
    scenario has for the other modes."""
    if wiring.scenario.mode == "two-threshold":
        return wiring.scenario.controller.thresholds
    return config.congestion.thresholds


def _connect(simulation: Simulation, wire: Wire) -> Link:
    nodes: dict[str, Node] = {**simulation.switches, **simulation.hosts}
    packets, octets = amounts(wire.buffer)
    link = simulation.connect(
        nodes[wire.a],
        wire.a_port,
        nodes[wire.b],
        wire.b_port,
        rate_bps=wire.rate_bps,
        delay_ns=wire.delay_ns,
        buffer=packets,
        buffer_octets=octets,
    )
    if wire.impairment is not None:
        impair(simulation, link, wire.impairment)
    if wire.pfc is not None:
        link.set_pfc(wire.pfc.of_port)
    return link


def amounts(buffer: Depth) -> tuple[int | None, int | None]:
    """A buffer in packets and in octets; None where it has no limit of that kind."""
    in_packets = buffer.unit is DepthUnit.PACKETS
    return (buffer.amount, None) if in_packets else (None, buffer.amount)


def _limit_packets(wiring: Wiring, simulation: Simulation) -> None:
    """The network's own limits in packets per second."""
    if not wiring.scenario.links.packet_rates:
        return
    for queue in wiring.topology.queues:
        port = wiring.topology.port(queue.node, queue.towards).number
        wire = wiring.wire(queue.node, queue.towards)
        rate = wire.rate_bps if wire is not None else None
        settings = PortQueue(depth=queue.depth, rate_pps=queue.rate_pps, rate_bps=rate)
        simulation.switches[queue.node].set_port(port, PortSettings(settings))


def _set_clocks(config: Config, simulation: Simulation) -> None:
    """The rate with which each node looks at its links."""
    port = V1MODEL.ports.clock
    for name, rate in clock_rates(config).items():
        simulation.switches[name].set_port(port, PortSettings(PortQueue(rate_pps=rate), overhead=0))


def _gateway_mac(wiring: Wiring, config: Config, host: EndHost) -> str:
    """The MAC address of the router a host sends to."""
    for gateway in wiring.gateways:
        if gateway.name == host.site:
            return gateway.mac
    node = config.nodes[host.site]
    port = node.port(host.port)
    assert port is not None, "the configuration is that of the network"
    return format_mac(port_mac(host.site, node, port))


def roce_options(settings: HostSettings) -> RoceOptions:
    """What a host of a scenario is told."""
    own = {name: value for name, value in settings if name not in ("ip", "ecn", "only")}
    return RoceOptions(ecn=ECN[settings.ecn], **own)
