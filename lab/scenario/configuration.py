"""The controller's configuration for a scenario, checked as `fcn check` does."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from fcn.contract.marking import DEFAULT_DEPTHS
from fcn.contract.units import format_rate
from fcn.controller.config import Config, ConfigError, parse_config
from fcn.controller.config.model import Congestion
from fcn.controller.config.modes import Notification
from fcn.controller.config.notation import format_depth, format_duration
from fcn.lab.modes import FLOW_CONTROL, NOTIFICATIONS, Mode
from fcn.lab.scenario.model import Controller
from fcn.lab.scenario.wiring import Wiring
from fcn.topologies.controller_config import FcnSettings, controller_config
from fcn.topologies.model import Topology

DETECTION: Mapping[str, Any] = {"interval": "10ms", "multiplier": 3, "relief": "10ms"}
"""Of networks that say nothing, in the mode whose nodes tell of their paths by the same clock. A
path that is said to be congested for longer than a round trip would slow its senders too much."""


@dataclass(frozen=True)
class Given:
    """All that a configuration follows from: most scenarios of a sweep have the same.

    rates: bits per second of each core link, by node and port; a scenario may have others than its
    network. has_red: as of `Wiring`.
    """

    mode: Mode
    controller: Controller
    rates: Mapping[tuple[str, int], int]
    has_red: bool
    topology: Topology

    def __hash__(self) -> int:
        return hash((self.mode, repr(self.controller), *self.rates.items()))


def configuration(wiring: Wiring) -> Config:
    """What the controller of this network is given. Raises ConfigError, which names lines of the
    configuration, not of the scenario."""
    scenario = wiring.scenario
    rates = {
        end: wire.rate_bps or 0
        for wire in wiring.wires
        if wire.kind == "core"
        for end in ((wire.a, wire.a_port), (wire.b, wire.b_port))
    }
    given = Given(scenario.mode, scenario.controller, rates, wiring.has_red, wiring.topology)
    made = checked(given)
    if isinstance(made, ConfigError):
        raise made.with_traceback(None)
    return made


@lru_cache(64)
def checked(given: Given) -> Config | ConfigError:
    """The configuration, or why there is none: kept, because checking takes a hundredth of a
    second."""
    try:
        return parse_config(_text(given), "configuration")
    except ConfigError as error:
        return error


def _text(given: Given) -> str:
    mode, controller, topology = given.mode, given.controller, given.topology
    settings = FcnSettings(
        enabled=mode in NOTIFICATIONS,
        notification=NOTIFICATIONS.get(mode, Notification.NONE).value,
        # With END.CON, CNPs have no other source (config/check_end_con.py).
        cnp_source="peer" if mode == "end-con" else controller.cnp_source,
        cnp_interval=format_duration(controller.cnp_interval),
    )
    data = controller_config(topology, settings)
    if mode == "two-threshold":
        data = merged(data, _two_threshold(controller))
        del data["congestion"]
    else:
        data["congestion"] = _congestion(given)
    if mode == "fantel":
        detection = {**DETECTION, **topology.detection, **controller.failure_detection}
        data["failure_detection"] = detection
    if mode in FLOW_CONTROL:
        data["flow_control"] = FLOW_CONTROL[mode].value
        data["holding"] = controller.holding
    for name, node in data["nodes"].items():
        for port in node["ports"]:
            if rate := given.rates.get((name, port["number"])):
                port["rate"] = format_rate(rate)
        node.pop("thresholds", None)
        own = [queue for queue in controller.queues if queue.node == name]
        # In the two-threshold mode depths are T1, T2 and maximum, the same for all queues.
        if own and mode != "two-threshold":
            node["thresholds"] = [
                {
                    "port": topology.port(name, queue.towards).number,
                    "depths": [format_depth(depth) for depth in queue.depths],
                }
                for queue in own
            ]
    whole = merged(data, controller.configuration)
    text: str = yaml.dump(whole, Dumper=yaml.CSafeDumper, sort_keys=False)
    return text


def _two_threshold(control: Controller) -> dict[str, Any]:
    """What the configuration has in that mode only. Nothing is done with lightly congested flows
    unless the scenario says so."""
    defaults = {"treatment": "none", "depths": [format_depth(each) for each in DEFAULT_DEPTHS]}
    return {
        "two_threshold": defaults | control.two_threshold,
        "nodes": control.two_threshold_nodes,
    }


def _congestion(given: Given) -> dict[str, Any]:
    mode, controller = given.mode, given.controller
    marks = mode != "none" and mode not in FLOW_CONTROL and not given.has_red
    intervals = {level: policy.interval for level, policy in Congestion().levels.items()}
    intervals |= dict(enumerate(controller.intervals, 1))
    return {
        "thresholds": [format_depth(depth) for depth in controller.thresholds],
        "levels": {
            level: {
                "mark": marks,
                "notify": mode in NOTIFICATIONS,
                "interval": format_duration(interval),
            }
            for level, interval in intervals.items()
        },
    }


def merged(base: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with what `extra` has: mappings are merged, everything else is replaced."""
    result = dict(base)
    for key, value in extra.items():
        old = result.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            result[key] = merged(old, value)
        else:
            result[key] = value
    return result
