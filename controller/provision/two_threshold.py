"""The two-threshold mode: marking curves, and what is done at light congestion (PEC-1 to PEC-5)."""

from collections.abc import Iterable, Mapping

from fcn.contract.constants import LIGHT_CONGESTION_LEVEL
from fcn.contract.depth import LEVELS, DepthError
from fcn.contract.marking import MarkingCurves
from fcn.contract.profiles import Mode
from fcn.controller.config.model import Config, LevelPolicy
from fcn.controller.config.modes import Treatment
from fcn.controller.config.notation import format_duration
from fcn.controller.config.paths import NumberedTunnel
from fcn.controller.config.queue_depths import curve_steps, queue_curves
from fcn.controller.owners.light_congestion import LightCongestion
from fcn.controller.owners.marking_curve import MarkingCurve
from fcn.controller.owners.queue_level import QueueLevel, Thresholds
from fcn.controller.provision.node_intent import NodeIntent

HEAVY_CONGESTION_LEVEL = LEVELS[-1]
"""The level of a Fast CNP that says heavy congestion (PEC-2)."""

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
    inner = frozenset(port for port, _ in curves if port not in core)
    QueueLevel(to.intent).set_thresholds(
        {queue: depths[:2] for queue, depths in thresholds.items()},
        to.config.congestion.packet_size,
        TWO_LEVELS,
    )
    MarkingCurve(to.intent).set_curves(curves, inner)


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
    light = LightCongestion(to.intent)
    if not to.two_thresholds:
        light.treat_for(0)
        return
    mode = to.config.two_threshold
    light.treat_for(mode.hold)
    for each in tunnels:
        treatment = each.tunnel.light or mode.treatment
        if treatment is Treatment.SLOW:
            light.slow(each.number, mode.rate)
        elif treatment is Treatment.REROUTE and each.tunnel.next is not None:
            light.reroute(each.number, numbers[each.tunnel.next, each.vrf])
