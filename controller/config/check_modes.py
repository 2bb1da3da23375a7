"""Checks that concern the modes of the domain (PEC-6)."""

from collections.abc import Iterator

from fcn.contract.depth import DepthError
from fcn.contract.names import TWO_THRESHOLD_TABLES
from fcn.contract.pipeline import Pipeline
from fcn.controller.config.addressing import tunnel_numbers
from fcn.controller.config.model import Config, Node
from fcn.controller.config.modes import Notification, Treatment
from fcn.controller.config.queue_depths import queue_curves, queue_depths
from fcn.controller.config.transport import Finding, Path


def check_modes(config: Config) -> Iterator[Finding]:
    """What does not belong to the domain's mode, or contradicts it."""
    if config.notification is Notification.TWO_THRESHOLD:
        yield from _check_two_threshold(config)
        return
    if "two_threshold" in config.model_fields_set:
        yield ("two_threshold",), f"belongs to notification: two-threshold, {_mode(config)}"
    for name, node in config.nodes.items():
        for tunnel_name, tunnel in node.tunnels.items():
            for key in ("light", "next"):
                if key in tunnel.model_fields_set:
                    path: Path = ("nodes", name, "tunnels", tunnel_name, key)
                    yield path, f"belongs to notification: two-threshold, {_mode(config)}"


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
    for name, node in config.nodes.items():
        for sub, message in _check_tunnels(config, node):
            yield ("nodes", name, *sub), message


def _check_tunnels(config: Config, node: Node) -> Iterator[Finding]:
    used = {name for name, _ in tunnel_numbers(node)}
    for name, tunnel in node.tunnels.items():
        path: Path = ("tunnels", name)
        if tunnel.ecn == "compatibility":
            yield (
                (*path, "ecn"),
                "in compatibility mode packets are Not-ECT in the domain, so that no threshold "
                "would mark or tell anything of them; leave it out in the two-threshold mode",
            )
        reroutes = (tunnel.light or config.two_threshold.treatment) is Treatment.REROUTE
        if tunnel.next is None:
            if reroutes and name in used and not _is_a_next(node, name):
                yield path, "its flows are rerouted at light congestion: name the next tunnel"
            continue
        after = node.tunnels.get(tunnel.next)
        if after is None:
            yield (*path, "next"), f"the node has no tunnel {tunnel.next}"
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
    path: Path = ("nodes", name)
    if not program.has_tables(TWO_THRESHOLD_TABLES[node.role]):
        yield (
            (*path, "program"),
            f"{program.p4info} has no two-threshold mode, which this domain has",
        )
        return
    own: dict[tuple[int, int], Path] = {
        (entry.port, entry.queue): (*path, "thresholds", index, "depths")
        for index, entry in enumerate(node.thresholds)
    }
    steps = 0
    for queue, depths in queue_depths(config, node).items():
        try:
            curve = queue_curves(config, program.target, depths)
        except DepthError as error:
            where = own.get(queue, ("two_threshold", "depths"))
            yield where, f"{name} port {queue[0]} ({program.target.name}): {error}"
            continue
        steps += len(list(curve.steps(program.target.depth.maximum)))
    size = program.table_size("marking_curve")
    if steps > size:
        yield path, f"the curves of its queues take {steps} steps; its program has room for {size}"
