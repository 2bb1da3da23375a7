"""The controller's configuration for a scenario, checked as `fcn check` does."""

from collections.abc import Mapping
from typing import Any

import yaml

from fcn.contract.marking import DEFAULT_DEPTHS
from fcn.contract.units import format_rate
from fcn.controller.config import Config, parse_config
from fcn.controller.config.model import Congestion
from fcn.controller.config.modes import Notification
from fcn.controller.config.notation import format_depth, format_duration
from fcn.lab.modes import FLOW_CONTROL, NOTIFICATIONS
from fcn.lab.scenario.wiring import Wiring
from fcn.topologies.controller_config import FcnSettings, controller_config

DETECTION: Mapping[str, Any] = {"interval": "10ms", "multiplier": 3, "relief": "10ms"}
"""Of networks that say nothing, in the mode whose nodes tell of their paths by the same clock. A
path that is said to be congested for longer than a round trip would slow its senders too much."""


def configuration(wiring: Wiring) -> Config:
    """What the controller of this network is given. Raises ConfigError, which names lines of the
    configuration, not of the scenario."""
    return parse_config(configuration_text(wiring), "configuration")


def configuration_text(wiring: Wiring) -> str:
    """The same as YAML."""
    scenario, topology = wiring.scenario, wiring.topology
    settings = FcnSettings(
        enabled=scenario.mode in NOTIFICATIONS,
        notification=NOTIFICATIONS.get(scenario.mode, Notification.NONE).value,
        # With END.CON, CNPs have no other source (config/check_end_con.py).
        cnp_source="peer" if scenario.mode == "end-con" else scenario.controller.cnp_source,
        cnp_interval=format_duration(scenario.controller.cnp_interval),
    )
    data = controller_config(topology, settings)
    if scenario.mode == "two-threshold":
        data = merged(data, _two_threshold(wiring))
        del data["congestion"]
    else:
        data["congestion"] = _congestion(wiring)
    if scenario.mode == "fantel":
        detection = {**DETECTION, **topology.detection, **scenario.controller.failure_detection}
        data["failure_detection"] = detection
    if scenario.mode in FLOW_CONTROL:
        data["flow_control"] = FLOW_CONTROL[scenario.mode].value
        data["holding"] = scenario.controller.holding
    rates = _rates(wiring)
    for name, node in data["nodes"].items():
        for port in node["ports"]:
            if rate := rates.get((name, port["number"])):
                port["rate"] = format_rate(rate)
        node.pop("thresholds", None)
        own = [queue for queue in scenario.controller.queues if queue.node == name]
        # In the two-threshold mode depths are T1, T2 and maximum, the same for all queues.
        if own and scenario.mode != "two-threshold":
            node["thresholds"] = [
                {
                    "port": topology.port(name, queue.towards).number,
                    "depths": [format_depth(depth) for depth in queue.depths],
                }
                for queue in own
            ]
    whole = merged(data, scenario.controller.configuration)
    text: str = yaml.dump(whole, Dumper=yaml.CSafeDumper, sort_keys=False)
    return text


def _rates(wiring: Wiring) -> dict[tuple[str, int], int]:
    """Bits per second of each core link, by node and port; a scenario may have others than its
    network."""
    return {
        end: wire.rate_bps or 0
        for wire in wiring.wires
        if wire.kind == "core"
        for end in ((wire.a, wire.a_port), (wire.b, wire.b_port))
    }


def _two_threshold(wiring: Wiring) -> dict[str, Any]:
    """What the configuration has in that mode only. Nothing is done with lightly congested flows
    unless the scenario says so."""
    control = wiring.scenario.controller
    defaults = {"treatment": "none", "depths": [format_depth(each) for each in DEFAULT_DEPTHS]}
    return {
        "two_threshold": defaults | control.two_threshold,
        "nodes": control.two_threshold_nodes,
    }


def _congestion(wiring: Wiring) -> dict[str, Any]:
    scenario = wiring.scenario
    marks = scenario.mode != "none" and scenario.mode not in FLOW_CONTROL and not wiring.has_red
    intervals = {level: policy.interval for level, policy in Congestion().levels.items()}
    intervals |= dict(enumerate(scenario.controller.intervals, 1))
    return {
        "thresholds": [format_depth(depth) for depth in scenario.controller.thresholds],
        "levels": {
            level: {
                "mark": marks,
                "notify": scenario.mode in NOTIFICATIONS,
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
