"""What a result says of the network it is from."""

from collections.abc import Iterator, Mapping

from fcn.contract.depth import QueueDepth
from fcn.controller.config import Config
from fcn.lab.controls import CONTROLS
from fcn.lab.result.model import (
    DcqcnInfo,
    HostInfo,
    LinkInfo,
    NetworkInfo,
    NodeInfo,
    QueueInfo,
    RedInfo,
)
from fcn.lab.run.build import amounts
from fcn.lab.scenario.load import Plan
from fcn.lab.scenario.model import HostSettings
from fcn.topologies.model import TunnelType

TUNNEL_OCTETS: Mapping[TunnelType, int] = {
    "srv6": 40, "vxlan": 70, "gre": 48, "mpls-udp": 52,
}  # fmt: skip
"""IPv6, and after it UDP, VXLAN and Ethernet; GRE with a key; UDP and a label. Paths of policies
have an SRH, too."""


def network_info(plan: Plan, config: Config) -> NetworkInfo:
    """Nodes, links, hosts and core queues of a scenario's network."""
    wiring, topology = plan.wiring, plan.topology
    nodes = [
        NodeInfo(name=node.name, role=node.role, address=str(topology.underlay_address(node.name)))
        for node in topology.nodes
    ]
    nodes += [NodeInfo(name=gateway.name, role="fabric") for gateway in wiring.gateways]
    return NetworkInfo(
        name=topology.name,
        nodes=tuple(nodes),
        links=tuple(
            LinkInfo(a=wire.a, b=wire.b, delay_ns=wire.delay_ns, rate_bps=wire.rate_bps or 0)
            for wire in wiring.wires
        ),
        hosts=tuple(
            HostInfo(
                name=host.name,
                addresses=(str(host.ipv4), str(host.ipv6)),
                pe=wiring.pe_of(host),
                mtu=wiring.settings(host).mtu,
                ip=wiring.settings(host).ip,
            )
            for host in wiring.hosts.values()
        ),
        dcqcn=tuple(_dcqcn(plan)),
        held_back_ns=_held_back_ns(plan, config),
        tunnel_octets=TUNNEL_OCTETS[topology.tunnel],
        queues=tuple(_queue(plan, config, *ends) for ends in wiring.core_directions),
    )


def _dcqcn(plan: Plan) -> Iterator[DcqcnInfo]:
    alike: dict[tuple[HostSettings, int], list[str]] = {}
    for host in plan.wiring.hosts.values():
        settings = plan.wiring.settings(host)
        kept = {name: getattr(settings, name) for name in ("control", *CONTROLS)}
        alike.setdefault((HostSettings(**kept), settings.cnp_interval), []).append(host.name)
    for (settings, cnp_interval), names in alike.items():
        dcqcn = settings.dcqcn.parameters
        if settings.control != "dcqcn":
            own = getattr(settings, settings.control).model_dump()
            dcqcn = {name: dcqcn[name] for name in ("line_rate", "min_rate")} | own
        yield DcqcnInfo(
            hosts=tuple(names),
            control=settings.control,
            profile=settings.dcqcn.profile,
            parameters=dcqcn,
            cnp_interval_ns=cnp_interval,
        )


def _held_back_ns(plan: Plan, config: Config) -> int:
    switches = [node.cnp.min_interval for node in config.nodes.values()]
    switches += [level.interval for level in config.congestion.levels.values() if level.notify]
    hosts = [plan.wiring.settings(host) for host in plan.wiring.hosts.values()]
    return max(
        *(microseconds * 1000 for microseconds in switches),
        *(host.cnp_interval for host in hosts),
        *(max(host.dcqcn.cut_interval, host.dcqcn.cut_period) for host in hosts),
    )


def _queue(plan: Plan, config: Config, node: str, towards: str) -> QueueInfo:
    port = plan.topology.port(node, towards).number
    own = [each.depths for each in config.nodes[node].thresholds if each.port == port]
    depths = own[0] if own else config.congestion.thresholds
    wire = plan.wiring.wire(node, towards)
    assert wire is not None, "a core link"
    packets, octets = amounts(wire.buffer)
    red = wire.red.model_dump() if wire.red is not None and plan.wiring.has_red else None
    thresholds = QueueDepth().thresholds(depths, config.congestion.packet_size)
    return QueueInfo(
        node=node,
        towards=towards,
        thresholds=() if plan.wiring.has_red else thresholds,
        red=None if red is None else RedInfo(**red),
        packets=packets,
        octets=octets,
    )
