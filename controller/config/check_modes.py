"""Checks that concern the modes of the domain (PEC-6)."""

from collections.abc import Iterator

from fcn.contract.constants import PipelineError
from fcn.contract.depth import DepthError
from fcn.contract.names import EGRESS_PE_TABLES, LIGHT_POLICY
from fcn.contract.pipeline import Pipeline
from fcn.controller.config.addressing import used_tunnels
from fcn.controller.config.document import KeyPath, listed
from fcn.controller.config.model import Config, Node
from fcn.controller.config.modes import FlowControlMode, Notification, Treatment
from fcn.controller.config.notation import format_duration
from fcn.controller.config.programs import program_of
from fcn.controller.config.queue_depths import curve_steps, own_depths, queue_curves, queue_depths
from fcn.controller.config.transport import Finding

LONGEST_BURST = 1000
"""Seconds that a slowed flow's burst takes at its rate, at most: switches count its time in 2^-16
microseconds and 48 bits (p4src/two_threshold/light_policy.p4)."""


def check_modes(config: Config) -> Iterator[Finding]:
    """What does not belong to the domain's mode, or contradicts it."""
    yield from _check_ecn(config)
    if config.notification is Notification.TWO_THRESHOLD:
        yield from _check_two_threshold(config)
        return
    if "two_threshold" in config.model_fields_set:
        yield ("two_threshold",), f"belongs to notification: two-threshold, {_mode(config)}"
    for name, node in config.nodes.items():
        for tunnel_name, tunnel in node.tunnels.items():
            for key in ("light", "next"):
                if key in tunnel.model_fields_set:
                    path: KeyPath = ("nodes", name, "tunnels", tunnel_name, key)
                    yield path, f"belongs to notification: two-threshold, {_mode(config)}"


def mode_warnings(config: Config) -> Iterator[tuple[str, str]]:
    """What does less in the domain's mode than it may seem to: place in the file, and why."""
    if config.flow_control is not FlowControlMode.OFF:
        for name, node in config.nodes.items():
            target = program_of(config, node, binary=False).target
            if target.ports.parking is None:
                yield (
                    f"nodes.{name}",
                    f"the program for {target.name} asks neighbours to hold, but holds nothing",
                )
    for name, node in config.nodes.items():
        to_customers = {port.number for port in node.dc_ports}
        for index, entry in enumerate(node.thresholds):
            if entry.port in to_customers and (why := _tells_no_pe(config, node)):
                yield (
                    f"nodes.{name}.thresholds[{index}]",
                    f"port {entry.port} leads to a data centre and marks CE only: with {why} this "
                    "node tells no other PE of it",
                )


def program_notes(config: Config) -> Iterator[tuple[str, str]]:
    """Programs that no switch can load, because their binary is missing: place, and why."""
    for name, node in config.nodes.items():
        try:
            program_of(config, node)
        except PipelineError as error:
            yield f"nodes.{name}.program", f"{error}: `fcn run` ends without"


def _tells_no_pe(config: Config, node: Node) -> str:
    """Because of what a PE tells no other of its congested ports to data centres (FCN-18)."""
    if config.notification in (Notification.NONE, Notification.FANTEL):
        return f"notification: {config.notification}"
    program = program_of(config, node, binary=False)
    tells = program.has_tables(EGRESS_PE_TABLES)
    return "" if tells else f"its program for {program.target.name}"


def _check_ecn(config: Config) -> Iterator[Finding]:
    """SRF-10: normal mode where congestion control is wanted (draft-hu-rtgwg-rocev2-fcn 4.2.1)."""
    if config.notification is Notification.NONE:
        return
    for name, node in config.nodes.items():
        for tunnel_name, tunnel in node.tunnels.items():
            if tunnel.ecn == "compatibility":
                yield (
                    ("nodes", name, "tunnels", tunnel_name, "ecn"),
                    "in compatibility mode packets are Not-ECT in the domain, so that no congested "
                    "node would mark or tell anything of them (FCN-8), "
                    f"{_mode(config)}; leave it out, or set notification: none",
                )


def _mode(config: Config) -> str:
    return f"and this domain has notification: {config.notification}"


def _check_two_threshold(config: Config) -> Iterator[Finding]:
    for key in ("thresholds", "levels"):
        if key in config.congestion.model_fields_set:
            yield (
                ("congestion", key),
                "belongs to notification: fcn; in the two-threshold mode two_threshold has depths, "
                "probabilities and intervals",
            )
    if "treatment" not in config.two_threshold.model_fields_set:
        yield (
            ("two_threshold",),
            "say what is done with lightly congested flows: treatment: slow, reroute or none",
        )
    rate = config.two_threshold.rate
    if rate.burst > rate.rate * LONGEST_BURST:
        yield (
            ("two_threshold", "rate", "burst" if "burst" in rate.model_fields_set else "rate"),
            f"a burst of {rate.burst} packets takes more than {LONGEST_BURST} s at {rate.rate} "
            f"packets/s; write at most {rate.rate * LONGEST_BURST}",
        )
    for key, message in _check_times(config):
        yield ("two_threshold", key), message
    for name, node in config.nodes.items():
        for sub, message in _check_tunnels(config, node):
            yield ("nodes", name, *sub), message


def _check_times(config: Config) -> Iterator[tuple[str, str]]:
    """What is wrong between two times, with the key of one that the file has."""
    mode = config.two_threshold

    def given(key: str, other: str) -> str:
        return key if key in mode.model_fields_set else other

    hold, light = map(format_duration, (mode.hold, mode.light_interval))
    if mode.hold < mode.round_trip:
        yield (
            given("hold", "round_trip"),
            f"hold ({hold}) is shorter than round_trip ({format_duration(mode.round_trip)}): the "
            "treatment of a flow would be switched on and off before its effect is seen; make hold "
            "at least as long",
        )
    if mode.heavy_interval > mode.light_interval:
        yield (
            given("heavy_interval", "light_interval"),
            f"heavy_interval ({format_duration(mode.heavy_interval)}) is longer than "
            f"light_interval ({light}): heavy congestion would be told less often than light; make "
            "heavy_interval at most as long",
        )
    if mode.light_interval >= mode.hold and _treats(config):
        yield (
            given("light_interval", "hold"),
            f"light_interval ({light}) is not shorter than hold ({hold}): a treatment would end "
            "before the next notification; shorten light_interval or lengthen hold",
        )


def _treats(config: Config) -> bool:
    """Whether an ingress PE does anything with lightly congested flows."""
    tunnels = (tunnel for node in config.nodes.values() for tunnel in node.tunnels.values())
    chosen = {config.two_threshold.treatment, *(tunnel.light for tunnel in tunnels)}
    return bool(chosen - {Treatment.NONE, None})


def _check_tunnels(config: Config, node: Node) -> Iterator[Finding]:
    used = {name for name, _ in used_tunnels(node)}
    for name, tunnel in node.tunnels.items():
        path: KeyPath = ("tunnels", name)
        reroutes = (tunnel.light or config.two_threshold.treatment) is Treatment.REROUTE
        if tunnel.next is None:
            if reroutes and name in used and not _is_a_next(node, name):
                yield path, "its flows are rerouted at light congestion: name the next tunnel"
            continue
        after = node.tunnels.get(tunnel.next)
        if after is None:
            known = listed(each for each in node.tunnels if each != name)
            yield (*path, "next"), f"the node has no tunnel {tunnel.next}; others are: {known}"
        elif tunnel.next == name:
            yield (*path, "next"), "a flow cannot be rerouted to the tunnel it is in"
        elif not reroutes:
            yield (*path, "next"), "its flows are not rerouted; set light: reroute, or leave it out"
        elif tunnel.to != after.to:
            ends = " and ".join(each.to or "elsewhere" for each in (tunnel, after))
            yield (*path, "next"), f"the tunnels end at different nodes: {ends}"


def _is_a_next(node: Node, name: str) -> bool:
    """Whether flows come to this tunnel because they were rerouted: it may be the last one."""
    return any(tunnel.next == name for tunnel in node.tunnels.values())


def check_curves(config: Config, name: str, node: Node, program: Pipeline) -> Iterator[Finding]:
    """Limits of a node's program in the two-threshold mode, in which the domain is."""
    path: KeyPath = ("nodes", name)
    if node.role == "pe" and not program.has_tables({LIGHT_POLICY}):
        for tunnel, each in node.tunnels.items():
            if (each.light or config.two_threshold.treatment) is not Treatment.NONE:
                yield (
                    (*path, "tunnels", tunnel, "light"),
                    f"the program for {program.target.name} treats no flows: write light: none, "
                    "and notifications of light congestion end at this node (docs/tofino.md)",
                )
    own = own_depths(name, node)
    curves = []
    for queue, depths in queue_depths(config, node).items():
        try:
            curves.append(queue_curves(config, program.target, depths))
        except DepthError as error:
            where = own.get(queue, ("two_threshold", "depths"))
            yield where, f"{name} port {queue[0]} ({program.target.name}): {error}"
    steps = curve_steps(curves, program.target)
    size = program.table_size("marking_curve")
    if steps > size:
        yield path, f"the curves of its queues take {steps} steps; its program has room for {size}"
