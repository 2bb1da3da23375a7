"""Checks of precise flow control (SRF-5 to SRF-8). Yields (path, message)."""

from collections.abc import Iterator

from fcn.contract.depth import Depth, DepthError
from fcn.contract.pipeline import Pipeline
from fcn.controller.config.document import KeyPath
from fcn.controller.config.holding import Holding
from fcn.controller.config.model import Config, Node
from fcn.controller.config.modes import FlowControlMode
from fcn.controller.config.notation import SECOND, format_duration
from fcn.controller.config.transport import Finding

_SECTION: KeyPath = ("holding",)


def check_holding(config: Config) -> Iterator[Finding]:
    """What contradicts itself in the domain's section."""
    holding = config.holding
    if holding.udp_port == config.fast_cnp_port:
        yield (*_SECTION, "udp_port"), f"{holding.udp_port} is fast_cnp_port; choose another"
    for key, reason in (*_check_depths(holding), *_check_times(holding)):
        yield (*_SECTION, key), reason
    size = config.congestion.packet_size
    if holding.octets < size:
        yield (
            (*_SECTION, "octets"),
            f"no packet of congestion.packet_size ({size}B) has room, and all would be dropped; "
            "write at least that",
        )
    if holding.pass_off_at >= holding.pass_on_at:
        yield (*_SECTION, "pass_off_at"), "must be below pass_on_at, both in percent"
    if config.flow_control is not FlowControlMode.OFF and not config.links:
        yield ("flow_control",), "neighbours are known from links; there are none"


def _check_depths(holding: Holding) -> Iterator[tuple[str, str]]:
    """Key and message of each."""
    if holding.hold_at.unit is not holding.release_at.unit:
        yield "release_at", "give release_at in the unit of hold_at"
    elif holding.release_at.amount >= holding.hold_at.amount:
        yield (
            "release_at",
            f"{holding.release_at} is not below hold_at, {holding.hold_at}: lower release_at, or "
            "raise hold_at",
        )


def _check_times(holding: Holding) -> Iterator[tuple[str, str]]:
    """Key and message of each."""
    if holding.time > holding.longest:
        yield (
            "time",
            "an ARN asks for more time than longest, which neighbours allow: shorten time, or "
            "lengthen longest",
        )
    if holding.repeat >= holding.time:
        yield (
            "repeat",
            "a hold would end before it is prolonged: repeat must be shorter than time",
        )
    if holding.drain_every >= holding.longest:
        yield (
            "drain_every",
            "what waits would be taken for lost: drain_every must be shorter than longest",
        )
    if (most := holding.holds_at_once * SECOND) < holding.longest:
        yield (
            "longest",
            f"a neighbour would begin more than holds_per_port; {format_duration(most)} at most, "
            "or raise holds_per_port",
        )


def check_holding_node(
    config: Config, name: str, node: Node, program: Pipeline
) -> Iterator[Finding]:
    """Why a node cannot be in the domain."""
    if config.flow_control is FlowControlMode.OFF:
        return
    path: KeyPath = ("nodes", name)
    target = program.target
    if target.ports.parking is None and config.flow_control is not FlowControlMode.SERVICE:
        yield path, f"the program for {target.name} names services only; write service, or off"
    size = config.congestion.packet_size
    try:
        low = _convert(program, config.holding.release_at, size)
        high = _convert(program, config.holding.hold_at, size)
    except DepthError as error:
        yield (*_SECTION, "hold_at"), f"{name} ({target.name}): {error}"
        return
    release, hold = config.holding.release_at, config.holding.hold_at
    if low >= high and release.unit is hold.unit and release.amount < hold.amount:
        reason = f"release_at and hold_at are both {high} {target.depth.unit} on {name}"
        yield (*_SECTION, "release_at"), reason
    try:
        _convert(program, config.holding.drain_below, size)
    except DepthError as error:
        yield (*_SECTION, "drain_below"), f"{name} ({target.name}): {error}"
    for port in node.core_ports:
        linked = any((name, port.number) in link for link in config.link_ends())
        if not linked:
            reason = f"flow_control: port {port.number} has no link, so its neighbour is unknown"
            yield path, reason


def _convert(program: Pipeline, configured: Depth, packet_size: int) -> int:
    """In the target's unit. Raises DepthError when no queue there is as deep."""
    depth = program.target.depth
    converted = depth.convert(configured, packet_size)
    if converted > depth.maximum:
        raise DepthError(
            f"{configured} is {converted} {depth.unit}; it reports {depth.maximum} at most; "
            "write a smaller depth"
        )
    return converted
