"""The controller's configuration for a topology, as the YAML `fcn run` reads."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Network
from typing import Any

import yaml

from fcn.contract.depth import DEFAULT_THRESHOLDS
from fcn.contract.units import format_rate
from fcn.controller.config.holding import Holding
from fcn.controller.config.modes import FlowControlMode, Notification
from fcn.controller.config.notation import DEFAULT_ENDPOINT
from fcn.packets.wire import FAST_CNP_PORT
from fcn.topologies.model import ROOMY_THRESHOLD, Node, Policy, Topology

GRPC_BASE = 20_000
"""Below the ephemeral ports, which any connection of the machine may hold."""

CONFIGURATION = "network.yaml"
"""The file of a network that runs, in its folder."""

VRF_TUNNEL_BASE = 1000

END_CON_PREFIX = 112

ROOMY_CURVE = [ROOMY_THRESHOLD, ROOMY_THRESHOLD * 3 // 2, ROOMY_THRESHOLD * 2]
"""T1, T2 and maximum of queues that are not limited: deeper than they get."""


@dataclass(frozen=True, slots=True)
class Level:
    """Policy of a congestion level: CE marking, Fast CNPs, per-flow interval such as "1ms"."""

    mark: bool
    notify: bool
    interval: str


@dataclass(frozen=True, slots=True)
class FcnSettings:
    """What a run chooses; everything else follows from the topology.

    `thresholds` are queue depths in packets at which levels 1, 2, ... begin on limited queues, with
    two thresholds T1, T2 and maximum; `enabled`: every feature of every node is on, or none
    (FCN-16); `notification` is the configuration's, with `fantel` every tunnel is a path of a
    policy; `cnp_source` is `pe` (the draft) or `peer`; `cnp_interval` is per flow at the PE;
    `udp_source_port` is that of notifications by switches; `sections` are further parts of the
    configuration as they are.
    """

    thresholds: tuple[int, ...] = tuple(depth.amount for depth in DEFAULT_THRESHOLDS)
    levels: tuple[Level, ...] = ()
    enabled: bool = True
    notification: str = "fcn"
    cnp_source: str = "pe"
    cnp_interval: str = "50us"
    udp_source_port: int = 49152
    flow_timeout: str = "60s"
    sections: Mapping[str, Any] = field(default_factory=dict)


def packets_held(settings: FcnSettings) -> int:
    """How many packets a node may hold for its neighbours; 0 without flow control."""
    mode = settings.sections.get("flow_control", FlowControlMode.OFF)
    if mode == FlowControlMode.OFF:
        return 0
    return Holding.model_validate(settings.sections.get("holding", {})).packets


def grpc_endpoint(topology: Topology, node: str) -> str:
    return f"127.0.0.1:{GRPC_BASE + topology.index(node)}"


def end_con_sids(topology: Topology, node: str) -> IPv6Network:
    """The END.CON SIDs of a PE, by number of the VRF."""
    return IPv6Network((topology.locator(node)[0xC0 << 16], END_CON_PREFIX))


def controller_config(
    topology: Topology, settings: FcnSettings, api: str = DEFAULT_ENDPOINT
) -> dict[str, Any]:
    """The configuration as plain data, in the controller's model; `api` is where it listens."""
    return {
        "notification": settings.notification,
        "fast_cnp_port": FAST_CNP_PORT,
        "api": api,
        "flows": {"timeout": settings.flow_timeout},
        "congestion": {} if _two_thresholds(settings) else _congestion(settings),
        "vrfs": {
            name: {
                "id": number,
                "vni": VRF_TUNNEL_BASE + number,
                "gre_key": VRF_TUNNEL_BASE + number,
                "mpls_label": VRF_TUNNEL_BASE + number,
            }
            for name, number in topology.vrfs.items()
        },
        "nodes": {node.name: _node(topology, node, settings) for node in topology.nodes},
        "links": [
            [f"{end}:{topology.port(end, far).number}" for end, far in ((a, b), (b, a))]
            for a, b in ((link.a, link.b) for link in topology.links)
        ],
        **({"failure_detection": topology.detection} if topology.detection else {}),
        **({"load_balancing": topology.balancing} if topology.balancing is not None else {}),
        **_sections(settings),
    }


def controller_yaml(topology: Topology, settings: FcnSettings, api: str = DEFAULT_ENDPOINT) -> str:
    return yaml.safe_dump(controller_config(topology, settings, api), sort_keys=False)


def _notification(settings: FcnSettings) -> Notification:
    return Notification(settings.sections.get("notification", settings.notification))


def _two_thresholds(settings: FcnSettings) -> bool:
    return _notification(settings) is Notification.TWO_THRESHOLD


def _sections(settings: FcnSettings) -> dict[str, Any]:
    """The further parts; queues that are not limited mark nothing in the two-threshold mode."""
    sections = dict(settings.sections)
    if _two_thresholds(settings):
        sections["two_threshold"] = {"depths": ROOMY_CURVE} | sections.get("two_threshold", {})
    return sections


def _congestion(settings: FcnSettings) -> dict[str, Any]:
    congestion: dict[str, Any] = {"thresholds": [ROOMY_THRESHOLD]}
    if settings.levels:
        congestion["levels"] = {
            number: {"mark": level.mark, "notify": level.notify, "interval": level.interval}
            for number, level in enumerate(settings.levels, 1)
        }
    return congestion


def _node(topology: Topology, node: Node, settings: FcnSettings) -> dict[str, Any]:
    config: dict[str, Any] = {
        "role": node.role,
        "grpc": grpc_endpoint(topology, node.name),
        "device_id": topology.index(node.name),
        "features": "all" if settings.enabled else [],
        "underlay_address": str(topology.underlay_address(node.name)),
        "locator": str(topology.locator(node.name)),
        "end_sids": [str(topology.locator(node.name)[0xE])],
        "ports": _ports(topology, node),
    }
    thresholds = [
        {"port": port.number, "queue": 0, "depths": list(settings.thresholds)}
        for port in topology.ports_of(node.name)
        if topology.queue_of(port)
    ]
    if thresholds:
        config["thresholds"] = thresholds
    if node.role == "p":
        config["fast_cnp"] = {"udp_source_port": settings.udp_source_port}
    else:
        config["cnp"] = {
            "source": settings.cnp_source,
            "min_interval": settings.cnp_interval,
            "udp_source_port": settings.udp_source_port,
        }
        config["tunnels"] = {
            f"to-{far.name}": {"type": topology.tunnel, "to": far.name}
            for far in topology.pes
            if far != node
        }
        # Who has no policy has no paths that he could be told of.
        if _notification(settings) is Notification.FANTEL:
            config["policies"] = {
                name: {"to": tunnel["to"], "paths": [{"tunnel": name}]}
                for name, tunnel in config["tunnels"].items()
            }
        for policy in topology.policies_of(node.name):
            _add_policy(config, policy)
        config["vrfs"] = _vrfs(topology, node, config.get("policies", {}))
    return config


def _add_policy(config: dict[str, Any], policy: Policy) -> None:
    """A policy of a PE, in place of its tunnel to the same PE, and a tunnel for each path."""
    name = f"to-{policy.to}"
    del config["tunnels"][name]
    paths: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    for number, way in enumerate(policy.ways, 1):
        tunnel = f"{name}-{number}"
        config["tunnels"][tunnel] = {"type": "srv6", "to": policy.to, "via": list(way.via)}
        paths[way.is_backup].append({"tunnel": tunnel, "weight": way.weight})
    config["policies"] = config.get("policies", {}) | {
        name: {
            "to": policy.to,
            "paths": paths[False],
            "backup": paths[True],
            **({"hold_down": f"{policy.hold_down_ns // 1000}us"} if policy.hold_down_ns else {}),
        }
    }


def _ports(topology: Topology, node: Node) -> list[dict[str, Any]]:
    vrf_of = {host.name: host.vrf for host in topology.hosts}
    ports: list[dict[str, Any]] = []
    for port in topology.ports_of(node.name):
        entry: dict[str, Any] = {"number": port.number, "name": port.peer, "role": port.role}
        if port.role == "dc":
            addresses = topology.addresses(port.peer)
            entry["vrf"] = vrf_of[port.peer]
            entry["addresses"] = [str(addresses.ipv4_gateway), str(addresses.ipv6_gateway)]
        elif port.rate_bps:
            entry["rate"] = format_rate(port.rate_bps)
        ports.append(entry)
    return ports


def _vrfs(topology: Topology, node: Node, policies: Container[str]) -> dict[str, Any]:
    """Service SID and routes to the other sites' hosts, for each VRF that is used anywhere."""
    vrfs: dict[str, Any] = {}
    for name, number in topology.vrfs.items():
        routes = []
        for host in topology.hosts:
            if host.vrf != name:
                continue
            addresses = topology.addresses(host.name)
            if host.pe != node.name:
                way = f"to-{host.pe}"
                kind = "policy" if way in policies else "tunnel"
                routes += [
                    {"prefix": str(prefix), kind: way}
                    for prefix in (addresses.ipv4.network, addresses.ipv6.network, *host.networks)
                ]
                continue
            gateways = {4: str(addresses.ipv4.ip), 6: str(addresses.ipv6.ip)}
            routes += [
                {"prefix": str(prefix), "via": gateways[prefix.version]} for prefix in host.networks
            ]
        vrfs[name] = {
            "service_sid": str(topology.locator(node.name)[(0xD46 << 16) + number]),
            "end_con_sid": str(end_con_sids(topology, node.name)[number]),
            "routes": routes,
        }
    return vrfs
