"""Depths of queues in the domain's mode: where levels begin, or T1, T2 and the maximum."""

from collections.abc import Iterable

from fcn.contract.depth import LEVELS, Depth
from fcn.contract.marking import MarkingCurves, curves
from fcn.contract.targets import Target
from fcn.controller.config.document import KeyPath
from fcn.controller.config.model import Config, Node
from fcn.controller.config.modes import Notification

Queue = tuple[int, int]
"""Port and number."""


def queue_depths(config: Config, node: Node) -> dict[Queue, tuple[Depth, ...]]:
    """The depths of each queue that has some: its own, or those of the domain."""
    two = config.notification is Notification.TWO_THRESHOLD
    default = config.two_threshold.depths if two else config.congestion.thresholds
    depths = {(port.number, 0): default for port in node.core_ports}
    return depths | {(item.port, item.queue): item.depths for item in node.thresholds}


def level_problem(config: Config, depths: int) -> str | None:
    """Why a queue with so many depths would tell nobody of some of its levels, or None."""
    if config.notification is Notification.TWO_THRESHOLD:
        return None
    lacking = [level for level in range(1, depths + 1) if level not in config.congestion.levels]
    if not lacking or depths > LEVELS[-1]:
        return None
    which = ", ".join(map(str, lacking))
    return (
        f"{depths} depths, and congestion.levels says nothing for level {which}, where nothing "
        "would be marked or told; write a policy for each, or fewer depths"
    )


def own_depths(name: str, node: Node) -> dict[Queue, KeyPath]:
    """Where in the configuration the depths of queues are that have their own."""
    return {
        (entry.port, entry.queue): ("nodes", name, "thresholds", index, "depths")
        for index, entry in enumerate(node.thresholds)
    }


def queue_curves(config: Config, target: Target, depths: tuple[Depth, ...]) -> MarkingCurves:
    """The marking curves of a queue with these depths, in the target's unit. Raises DepthError."""
    mode = config.two_threshold
    return curves(
        depths,
        target.depth,
        config.congestion.packet_size,
        light_probability=mode.light_probability,
        heavy_probability=mode.heavy_probability,
    )


def curve_steps(curves: Iterable[MarkingCurves], target: Target) -> int:
    """How many entries the curves of these queues take."""
    return sum(len(list(curve.steps(target.depth.maximum))) for curve in curves)
