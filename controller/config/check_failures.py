"""Checks of failure detection: what programs have room for, and where it cannot work (FAN-4)."""

from collections.abc import Iterator

from fcn.contract.constants import CORE_PATH_CELLS
from fcn.contract.link_clock import HIGHEST_RATE, most_slots, round_time
from fcn.contract.pipeline import Pipeline
from fcn.controller.config.addressing import own_prefixes, untrusted_nodes
from fcn.controller.config.alternates import alternates
from fcn.controller.config.document import KeyPath
from fcn.controller.config.model import Config
from fcn.controller.config.modes import FantelTransport, Notification
from fcn.controller.config.notation import format_duration
from fcn.controller.config.programs import has_clock, program_of, watches_links
from fcn.controller.config.transport import Finding
from fcn.controller.config.watching import Watching, first_ports

_SECTION: KeyPath = ("failure_detection",)


def check_watching(config: Config, watching: Watching) -> Iterator[Finding]:
    """Where a node's program lacks the room. For a configuration without other problems."""
    prefixes = sum(len(own_prefixes(node)) for node in config.nodes.values())
    for name, node in config.nodes.items():
        if watching.links(name):
            program = program_of(config, node, binary=False)
            for what, needed, room in _needed(config, watching, name, program, prefixes):
                if needed > room:
                    yield _SECTION, f"{name}: {needed} {what}, and its program has room for {room}"


def check_fantel(config: Config, name: str, program: Pipeline) -> Iterator[Finding]:
    """Why a node cannot be in a domain in which nodes tell PEs of congested paths."""
    if config.notification is not Notification.FANTEL:
        return
    for vrf, local in config.nodes[name].vrfs.items():
        for index, route in enumerate(local.routes):
            if route.tunnel is not None:
                yield (
                    ("nodes", name, "vrfs", vrf, "routes", index, "tunnel"),
                    "with notification: fantel nodes tell of the paths of policies, and nobody "
                    "would hear of congestion on this tunnel; name a policy here that has it as a "
                    "path",
                )
    if config.failure_detection is None:
        if name == next(iter(config.nodes)):
            reason = "fantel needs failure_detection, whose clock says when congestion has ended"
            yield ("notification",), f"{reason}; write `failure_detection: {{}}` for its defaults"
    elif config.fantel_transport is FantelTransport.ICMPV6 and not program.target.ports.paces_clock:
        yield (
            ("fantel_transport",),
            f"the program of {name} ({program.target.name}) sends over UDP only; write udp",
        )


def _needed(
    config: Config, watching: Watching, name: str, program: Pipeline, prefixes: int
) -> Iterator[tuple[str, int, int]]:
    paths = watching.paths(name)
    # A round ends at a slot that has no entry.
    slots = program.table_size("clock_slot") - 1
    yield "links and paths are watched", len(watching.slots(name)), slots
    yield "paths leave it", len(paths), CORE_PATH_CELLS
    room = program.table_size("alternate")
    # It takes long to compute them where there are many nodes.
    if prefixes * len(watching.links(name)) > room:
        yield "alternates of routes", sum(1 for _ in alternates(config, name)), room
    if program.name == "p":
        known = {(packets, path.port) for path in paths for packets in path.packets}
        yield "kinds of packets on paths", len(known), program.table_size("core_path")


def failure_warnings(config: Config, watching: Watching) -> Iterator[tuple[str, str]]:
    """Where failures are found late or not at all: place in the file, and why."""
    times = config.failure_detection
    if times is None:
        return
    section = ".".join(map(str, _SECTION))
    if not config.links:
        yield section, "the file has no links to watch"
    yield from _untrusted(config, watching)
    for name, node in config.nodes.items():
        if not has_clock(config, node):
            program = program_of(config, node, binary=False)
            yield (
                f"nodes.{name}",
                f"its program has no clock ({program.target.name}), so its links are not watched",
            )
            continue
        if not watches_links(config, node):
            yield (
                f"nodes.{name}",
                f"its program ({program_of(config, node, binary=False).target.name}) says what is "
                "congested, but watches no links",
            )
        slots = len(watching.slots(name))
        if slots > most_slots(times.interval):
            late = format_duration(round(round_time(slots, times.interval) * 1e6))
            shortest = next(ms for ms in range(1, 10_001) if slots <= most_slots(ms * 1000))
            yield (
                f"{section}.interval",
                f"{name} watches {slots} links and paths, and its clock comes to {HIGHEST_RATE} a "
                f"second, to each of them every {late}; write {shortest}ms",
            )
        for plan in watching.planner.plans(name):
            for path in plan.paths:
                ports = first_ports(name, path)
                if len(ports) != 1:
                    why = "leaves the node by several ports" if ports else "is not shown by links"
                    yield (
                        f"nodes.{name}.policies.{plan.policy}",
                        f"{path.name} {why}, so the node itself does not say that it has failed",
                    )


def _untrusted(config: Config, watching: Watching) -> Iterator[tuple[str, str]]:
    """Nodes that PEs do not believe what they say of paths."""
    silent = [
        f"{address} ({name})"
        for name, address in untrusted_nodes(config).items()
        if any(path.ingress != name for path in watching.paths(name))
    ]
    if silent:
        yield (
            "trusted_prefixes",
            "PEs drop what nodes outside them say of paths (NOTIFICATION_UNTRUSTED); add "
            + ", ".join(silent),
        )
