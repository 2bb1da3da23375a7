"""Keys that do nothing beside the others of the file: refused where they contradict another, noted
where they wait for another or may be mistyped."""

from collections.abc import Iterator
from itertools import pairwise

from fcn.controller.config.addressing import untrusted_nodes, used_tunnels
from fcn.controller.config.holding import QUANTUM_BITS
from fcn.controller.config.model import Config, Node
from fcn.controller.config.modes import (
    FantelTransport,
    FlowControlMode,
    Notification,
    Relief,
    Treatment,
)
from fcn.controller.config.notation import SECOND, Network, format_duration
from fcn.controller.config.transport import Finding

LONGEST_PAUSE = 65535 * QUANTUM_BITS
"""Bit times that a PAUSE frame stops a host for (IEEE 802.3 annex 31B)."""

Note = tuple[str, str]
"""Place in the file, and why."""


def check_roles(_config: Config, node: Node) -> Iterator[Finding]:
    """What another key of the same node makes meaningless."""
    cnp = node.cnp.model_fields_set
    if node.role == "p" and "cnp" in node.model_fields_set:
        yield ("cnp",), "CNPs for senders are made by PEs; of a P node write fast_cnp"
    elif node.cnp.source == "peer":
        for key in ("ipv4_source", "ipv6_source"):
            if key in cnp:
                why = "with source: peer it is the flow's destination; remove this, or write pe"
                yield ("cnp", key), why


def unused_notes(config: Config) -> Iterator[Note]:
    """What has no effect, or less than it seems to."""
    given = config.model_fields_set
    if config.flow_control is FlowControlMode.OFF and "holding" in given:
        yield "holding", "flow_control is off, so that no node holds anything"
    icmpv6 = config.fantel_transport is FantelTransport.ICMPV6
    if config.failure_detection is None and icmpv6:
        yield "fantel_transport", "without failure_detection no node sends such messages"
    if config.failure_detection is not None:
        relief = "relief" in config.failure_detection.model_fields_set
        if relief and config.notification is not Notification.FANTEL:
            yield (
                "failure_detection.relief",
                f"it is of notification: fantel, and this domain has {config.notification}",
            )
    if "switch_tls" in given and all(node.insecure for node in config.nodes.values()):
        yield "switch_tls", "all nodes are insecure, so that no session uses it"
    yield from _treatment(config)
    yield from _levels(config)
    yield from _untrusted(config)
    yield from _reliefs(config)
    yield from _unnamed(config)
    yield from _hosts_elsewhere(config)


def _treatment(config: Config) -> Iterator[Note]:
    if config.notification is not Notification.TWO_THRESHOLD:
        return
    tunnels = [tunnel for node in config.nodes.values() for tunnel in node.tunnels.values()]
    chosen = {config.two_threshold.treatment, *(tunnel.light for tunnel in tunnels)}
    if "rate" in config.two_threshold.model_fields_set and Treatment.SLOW not in chosen:
        yield "two_threshold.rate", "it is of treatment: slow, which no flow gets"
    if "hold" in config.two_threshold.model_fields_set and not chosen - {Treatment.NONE, None}:
        yield "two_threshold.hold", "no flow is treated, so that nothing lasts for it"


def _levels(config: Config) -> Iterator[Note]:
    """FCN-11: the worse the congestion, the more often it is told."""
    levels = [
        (level, policy)
        for level, policy in sorted(config.congestion.levels.items())
        if policy.notify
    ]
    for (lower, before), (level, policy) in pairwise(levels):
        if policy.interval > before.interval:
            longer, shorter = map(format_duration, (policy.interval, before.interval))
            yield (
                f"congestion.levels.{level}.interval",
                f"{longer} is longer than that of level {lower} ({shorter}), so that worse "
                "congestion is told less often",
            )


def _untrusted(config: Config) -> Iterator[Note]:
    """PEs drop what untrusted nodes tell; with FANTEL check_failures.py has the nodes of paths."""
    if config.notification in (Notification.NONE, Notification.FANTEL):
        return
    silent = [f"{address} ({name})" for name, address in untrusted_nodes(config).items()]
    if silent:
        yield (
            "trusted_prefixes",
            "PEs drop what these nodes tell of congestion (NOTIFICATION_UNTRUSTED); add "
            + ", ".join(silent),
        )


def _reliefs(config: Config) -> Iterator[Note]:
    """A data centre that is stopped by PAUSE frames sends between two that are too far apart."""
    if config.flow_control is FlowControlMode.OFF or config.holding.relief is not Relief.PFC:
        return
    repeat = config.holding.relief_repeat
    for name, node in config.nodes.items():
        for index, port in enumerate(node.ports):
            if port.role != "dc" or port.rate is None:
                continue
            longest = LONGEST_PAUSE * SECOND // port.rate
            if repeat >= longest:
                yield (
                    f"nodes.{name}.ports[{index}].rate",
                    f"a PAUSE frame stops this link for {format_duration(longest)}, and "
                    f"holding.relief_repeat is {format_duration(repeat)}: hosts send between two; "
                    "write a shorter one",
                )


def _unnamed(config: Config) -> Iterator[Note]:
    """What nobody names, as when a name is mistyped where it should be used."""
    used = {vrf for node in config.nodes.values() for vrf in node.vrfs}
    for vrf in config.vrfs:
        if vrf not in used:
            yield f"vrfs.{vrf}", "no node has it"
    for name, node in config.nodes.items():
        policies = {route.policy for vrf in node.vrfs.values() for route in vrf.routes}
        for policy in node.policies:
            if policy not in policies:
                yield f"nodes.{name}.policies.{policy}", "no route names it"
        tunnels = {tunnel for tunnel, _ in used_tunnels(node)}
        tunnels |= {tunnel.next for tunnel in node.tunnels.values() if tunnel.next is not None}
        tunnels |= {path.tunnel for each in node.policies.values() for path in each.paths}
        tunnels |= {path.tunnel for each in node.policies.values() for path in each.backup or ()}
        for tunnel in node.tunnels:
            if tunnel not in tunnels:
                yield f"nodes.{name}.tunnels.{tunnel}", "no route or policy names it"


def _hosts_elsewhere(config: Config) -> Iterator[Note]:
    """Addresses whose host agent has nothing to report of."""
    behind: dict[str, set[Network]] = {vrf: set() for vrf in config.vrfs}
    for node in config.nodes.values():
        for port in node.dc_ports:
            behind.setdefault(port.vrf or "", set()).update(own.network for own in port.addresses)
        for vrf, local in node.vrfs.items():
            behind[vrf].update(route.prefix for route in local.routes if route.via is not None)
    for name, host in (config.host_agents.hosts if config.host_agents else {}).items():
        for index, address in enumerate(host.addresses):
            if not any(address in network for network in behind[host.vrf]):
                yield (
                    f"host_agents.hosts.{name}.addresses[{index}]",
                    f"no DC port of VRF {host.vrf} leads to {address}, so that it sends no flow",
                )
