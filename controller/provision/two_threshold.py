"""The two-threshold mode: marking curves, and what is done at light congestion (PEC-1 to PEC-5)."""

from collections.abc import Iterable, Mapping

from fcn.contract.constants import LIGHT_CONGESTION_LEVEL
from fcn.contract.depth import LEVELS, DepthError
from fcn.contract.ecn import Ecn
from fcn.contract.marking import MarkingCurves
from fcn.contract.profiles import Mode
from fcn.controller.config.model import Config, LevelPolicy
from fcn.controller.config.modes import Treatment
from fcn.controller.config.notation import SECOND, format_duration
from fcn.controller.config.paths import NumberedTunnel
from fcn.controller.config.queue_depths import curve_steps, queue_curves
from fcn.controller.owners.queue_level import QueueLevel, Thresholds
from fcn.controller.owners.tables import entry
from fcn.controller.provision.node_intent import NodeIntent

HEAVY_CONGESTION_LEVEL = LEVELS[-1]
"""The level of a Fast CNP that says heavy congestion (PEC-2)."""

MICROSECOND = 1 << 16
"""In the unit of intervals between packets of a flow."""

TWO_LEVELS = (LIGHT_CONGESTION_LEVEL, HEAVY_CONGESTION_LEVEL)


def two_level_policies(config: Config) -> dict[int, LevelPolicy]:
    """What is done at both levels: they only notify, marking has curves."""
    mode = config.two_threshold
    intervals = (mode.light_interval, mode.heavy_interval)
    return {
        level: LevelPolicy.model_validate({"mark": False, "interval": format_duration(interval)})
        for level, interval in zip(TWO_LEVELS, intervals, strict=True)
    }


def set_curves(to: NodeIntent, thresholds: Thresholds) -> None:
    """Mark and notify from T1 and T2 on. Raises DepthError, and changes nothing, when the target
    cannot represent a depth."""
    curves = {
        queue: queue_curves(to.config, to.target, tuple(depths))
        for queue, depths in thresholds.items()
    }
    _check_room(to, curves.values())
    core = {port.number for port in to.node.core_ports}
    QueueLevel(to.intent).set_thresholds(
        {queue: depths[:2] for queue, depths in thresholds.items()},
        to.config.congestion.packet_size,
        TWO_LEVELS,
    )
    # Packets to a data centre have no outer header: light congestion marks nothing there, as the
    # customer's ECN field means what RFC 3168 says.
    steps = [
        entry(
            "marking_curve",
            {"egress_port": port, "queue_id": queue, "queue_depth": (step.low, step.high)},
            "set_curve",
            1,
            set_codepoint=step.codepoint,
            set_probability=step.threshold,
        )
        for (port, queue), curve in curves.items()
        for step in curve.steps(to.target.depth.maximum)
        if step.codepoint is Ecn.CE or port in core
    ]
    to.intent.replace_table("marking_curve", steps)


def _check_room(to: NodeIntent, curves: Iterable[MarkingCurves]) -> None:
    steps = curve_steps(curves, to.target)
    size = to.pipeline.table_size("marking_curve")
    if steps > size:
        raise DepthError(
            f"the curves take {steps} steps; the program has room for {size}: set the "
            "thresholds of another queue to none, or lower the probabilities"
        )


def treat_light_congestion(
    to: NodeIntent, tunnels: Iterable[NumberedTunnel], numbers: Mapping[tuple[str, str], int]
) -> None:
    """PEC-3: what is done with lightly congested flows, by tunnel; nothing in other modes."""
    if Mode.TWO_THRESHOLD not in to.pipeline.modes:
        return
    mode = to.config.two_threshold
    # For so long after the last notification; 0: senders are told of it as of any other.
    hold = to.tables.ticks(mode.hold) if to.two_thresholds else 0
    to.tables.set("light_congestion", "set_hold", hold=hold)
    interval = round(SECOND * MICROSECOND / mode.rate.rate)
    tolerance = interval * (mode.rate.burst - 1)
    for each in tunnels if to.two_thresholds else ():
        match = {"tunnel": each.number}
        treatment = each.tunnel.light or mode.treatment
        if treatment is Treatment.SLOW:
            slow = {"interval": interval, "tolerance": tolerance}
            to.tables.put("light_policy", match, "slow", **slow)
        elif treatment is Treatment.REROUTE and each.tunnel.next is not None:
            next_tunnel = numbers[each.tunnel.next, each.vrf]
            to.tables.put("light_policy", match, "reroute", next_tunnel=next_tunnel)
