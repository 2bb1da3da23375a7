"""Checks of DC ports whose PAUSE frames are heeded (SRF-9). Yields (path, message)."""

from collections.abc import Iterator

from fcn.controller.config.addressing import used_tunnels
from fcn.controller.config.document import KeyPath, listed
from fcn.controller.config.holding import QUANTUM_BITS
from fcn.controller.config.model import Config, Node, Port
from fcn.controller.config.modes import FlowControlMode
from fcn.controller.config.notation import SECOND, format_duration
from fcn.controller.config.transport import Finding

MOST_REPEAT = SECOND // 2
"""An ARN about a pause says at most 2^20 microseconds (p4src/flow_control/v1model, HoldAsk)."""
_WHY_SHARED = {
    FlowControlMode.PRIORITY: "with flow_control: priority neighbours stop a priority of all "
    "tenants, and one that pauses would stop the others of {}; use service or flow, or one VRF on "
    "this PE",
    FlowControlMode.SERVICE: "with flow_control: service neighbours hold all that is in GRE "
    "between two PEs, and one tenant that pauses would stop the others of {}; use flow, or other "
    "tunnels",
}


def check_pauses(config: Config) -> Iterator[Finding]:
    """Ports that cannot heed PAUSE frames; nodes where a tenant's would stop another's traffic."""
    heeds = any(port.heed_pause for node in config.nodes.values() for port in node.ports)
    if "pause_share" in config.holding.model_fields_set and not heeds:
        yield (
            ("holding", "pause_share"),
            "no port has heed_pause, so nothing waits for a data centre that paused; give a DC "
            "port heed_pause: true and its rate, or leave this out",
        )
    for name, node in config.nodes.items():
        heeding: dict[int, KeyPath] = {}
        for index, port in enumerate(node.ports):
            if not port.heed_pause:
                continue
            path: KeyPath = ("nodes", name, "ports", index, "heed_pause")
            if problem := _problem(config, port):
                yield path, problem
            elif port.number in heeding:
                yield (
                    path,
                    f"PAUSE frames have no VLAN: write it at one entry of port {port.number}",
                )
            else:
                heeding[port.number] = path
        if not heeding:
            continue
        first = next(iter(heeding.values()))
        holding = config.holding
        size = config.congestion.packet_size
        ports = len(heeding)
        if (
            not holding.pause_room(holding.packets, ports)
            or holding.pause_room(holding.octets, ports) < size
        ):
            yield (
                ("holding", "pause_share"),
                f"{name} has {ports} ports with heed_pause, and no packet of "
                "congestion.packet_size has room at each; raise pause_share, packets or octets",
            )
        if holding.pause_share >= holding.pass_off_at:
            yield (
                ("holding", "pause_share"),
                f"{name} has heed_pause, and while one that pauses fills its share no neighbour "
                "would be told to go on, whatever it holds; write less, below pass_off_at",
            )
        if holding.repeat > MOST_REPEAT:
            yield (
                ("holding", "repeat"),
                f"{name} has heed_pause, and tells neighbours of a second of a pause at most; "
                f"write {format_duration(MOST_REPEAT)} at most",
            )
        if tenants := sharing_holds(config, name, node):
            yield first, _WHY_SHARED[config.flow_control].format(listed(tenants))


def _problem(config: Config, port: Port) -> str | None:
    if port.role == "core":
        return "is for DC ports; nodes ask each other by ARN (flow_control)"
    if config.flow_control is FlowControlMode.OFF:
        return "needs flow_control: what data centres pause is asked of neighbours; or leave it out"
    if port.rate is None:
        return (
            "PAUSE frames count in bit times of their link; write its rate here, as in "
            "`rate: 100 Gb/s`"
        )
    longest = config.holding.longest
    if port.rate * longest < QUANTUM_BITS * SECOND:
        return (
            f"at this port's rate the shortest PAUSE takes {QUANTUM_BITS} bit times, more than "
            f"holding.longest ({format_duration(longest)}), so that no pause would have the length "
            "that the data centre asks for; write the rate of its link"
        )
    return None


def sharing_holds(config: Config, name: str, node: Node) -> list[str]:
    """The tenants of this PE for whom neighbours would hold together what one of them asks for."""
    tenants: set[str] = set()
    if config.flow_control is FlowControlMode.PRIORITY:
        tenants = {port.vrf for port in node.dc_ports if port.vrf is not None}
    elif config.flow_control is FlowControlMode.SERVICE:
        tenants = _tenants_over_gre(config, name)
    return sorted(tenants) if len(tenants) > 1 else []


def _tenants_over_gre(config: Config, name: str) -> set[str]:
    """VRFs whose traffic reaches a PE by GRE."""
    return {
        vrf
        for node in config.nodes.values()
        for tunnel_name, vrf in used_tunnels(node)
        if (tunnel := node.tunnels.get(tunnel_name)) is not None
        and tunnel.type == "gre"
        and tunnel.to == name
    }
