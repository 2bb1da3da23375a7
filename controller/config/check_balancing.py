"""Checks of load balancing: what it needs, and where it has nothing to do (FAN-7)."""

from collections.abc import Iterator

from fcn.contract.link_clock import shortest_round
from fcn.contract.pipeline import Pipeline
from fcn.contract.units import format_rate
from fcn.controller.config.balancing import MOST_REFRESH
from fcn.controller.config.document import KeyPath
from fcn.controller.config.model import Config
from fcn.controller.config.modes import FlowControlMode
from fcn.controller.config.notation import SECOND, format_duration, parse_duration
from fcn.controller.config.paths import used_policies
from fcn.controller.config.transport import Finding
from fcn.controller.config.watching import Watching

MOST_BITS = 8 << 31
"""From one look at a link to the next: half of the octets that the programs count in 32 bits, as a
look may be late (p4src/fantel/v1model/link_load.p4)."""

MS = 1000
"""Microseconds."""

_SECTION: KeyPath = ("load_balancing",)


def check_balancing(config: Config) -> Iterator[Finding]:
    """What it needs of other sections."""
    if config.load_balancing is None:
        return
    times = config.failure_detection
    if times is None:
        reason = "it needs failure_detection, whose clock measures the links"
        yield _SECTION, f"{reason}; write `failure_detection: {{}}` for its defaults"
    elif times.interval > parse_duration(MOST_REFRESH):
        shown = format_duration(times.interval)
        yield (
            ("failure_detection", "interval"),
            f"load_balancing measures links once per interval, and {shown} is too seldom; write "
            f"{MOST_REFRESH} or less",
        )


def check_balancing_node(config: Config, name: str, program: Pipeline) -> Iterator[Finding]:
    """Why a node cannot be in a domain with load balancing."""
    if config.load_balancing is not None and not program.has_action("watch_path_load"):
        yield (
            ("nodes", name),
            f"{program.p4info} does not measure links ({program.target.name}); leave "
            "load_balancing out, or take the program that is part of fcn",
        )


def check_rates(config: Config, watching: Watching) -> Iterator[Finding]:
    """Which watched ports lack their rate, or have one at which the interval is too long, or the
    clock's shortest round. For a configuration without other problems."""
    times = config.failure_detection
    if config.load_balancing is None or times is None:
        return
    for name, node in config.nodes.items():
        peers = {link.port: link.peer for link in watching.links(name)}
        slots = len(watching.slots(name))
        shortest = round(shortest_round(slots) * SECOND)
        for index, port in enumerate(node.ports):
            if port.number not in peers:
                continue
            place: KeyPath = ("nodes", name, "ports", index)
            if port.rate is None:
                yield (
                    place,
                    f"load_balancing needs the rate of the link to {peers[port.number]}; write it "
                    "here, as in `rate: 10 Gb/s`",
                )
                continue
            longest = MOST_BITS * SECOND // port.rate
            if shortest > longest:
                yield (
                    (*place, "rate"),
                    f"at this rate a link sends more than switches count for load_balancing while "
                    f"the clock of {name} comes round its {slots} links and paths, in "
                    f"{format_duration(shortest)}; let fewer policies have paths there, or leave "
                    "load_balancing out",
                )
            elif times.interval > longest:
                yield (
                    (*place, "rate"),
                    f"at this rate a link sends more in {format_duration(times.interval)} than "
                    "switches count for load_balancing; write a failure_detection.interval of "
                    f"{format_duration(longest // MS * MS)} or less",
                )


def balancing_warnings(config: Config, watching: Watching) -> Iterator[tuple[str, str]]:
    """Where rates contradict each other, and where it has nothing to do or cannot do it as the file
    says: place in the file, and why."""
    yield from _unequal_rates(config)
    balancing, times = config.load_balancing, config.failure_detection
    if balancing is None or times is None:
        return
    section = ".".join(map(str, _SECTION))
    if not any(
        plan.compared
        for name, node in config.nodes.items()
        for plan in watching.planner.plans(name)
        if plan.policy in {policy for policy, _ in used_policies(node)}
    ):
        yield (
            section,
            "no policy that a route names has two paths that are in use together, so no flow is "
            "moved; give one of them another under `paths`",
        )
    if balancing.refresh < times.interval:
        shown = format_duration(times.interval)
        yield (
            f"{section}.refresh",
            f"{format_duration(balancing.refresh)} is shorter than failure_detection.interval, so "
            f"loads are said again every {shown}; write {shown}, or a shorter interval",
        )
    longest = config.holding.longest
    if config.flow_control is not FlowControlMode.OFF and balancing.flowlet <= longest:
        yield (
            f"{section}.flowlet",
            f"with flow_control a flow's packets may wait for {format_duration(longest)} and more "
            "(holding.longest) while it pauses, and be overtaken on another path; write a longer "
            "time than neighbours hold traffic for",
        )


def _unequal_rates(config: Config) -> Iterator[tuple[str, str]]:
    """Links whose ends have different rates, of which one is mistyped where the link has one."""
    rates = {
        (name, port.number): (f"nodes.{name}.ports[{index}].rate", port.rate)
        for name, node in config.nodes.items()
        for index, port in enumerate(node.ports)
        if port.rate is not None
    }
    for near, far in config.link_ends():
        if near in rates and far in rates and rates[near][1] != rates[far][1]:
            place, rate = rates[near]
            yield (
                place,
                f"the other end of this link, {far[0]}:{far[1]}, has {format_rate(rates[far][1])} "
                f"and not {format_rate(rate)}; write the same unless the directions differ",
            )
