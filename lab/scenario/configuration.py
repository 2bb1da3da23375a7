"""The controller's configuration for a scenario, checked as `fcn check` does."""

from collections.abc import Mapping
from typing import Any

import yaml

from fcn.controller.config import Config, parse_config
from fcn.controller.config.model import Congestion
from fcn.controller.config.types import format_depth, format_duration
from fcn.lab.scenario.wiring import Wiring
from fcn.topologies.controller_config import FcnSettings, controller_config


def configuration(wiring: Wiring) -> Config:
    """What the controller of this network is given. Raises ConfigError, which names lines of the
    configuration, not of the scenario."""
    return parse_config(configuration_text(wiring), "configuration")


def configuration_text(wiring: Wiring) -> str:
    """The same as YAML."""
    scenario, topology = wiring.scenario, wiring.topology
    settings = FcnSettings(
        enabled=scenario.mode == "fcn",
        cnp_source=scenario.controller.cnp_source,
        cnp_interval=format_duration(scenario.controller.cnp_interval),
    )
    data = controller_config(topology, settings)
    data["congestion"] = _congestion(wiring)
    for name, node in data["nodes"].items():
        node.pop("thresholds", None)
        own = [queue for queue in scenario.controller.queues if queue.node == name]
        if own:
            node["thresholds"] = [
                {
                    "port": topology.port(name, queue.towards).number,
                    "depths": [format_depth(depth) for depth in queue.depths],
                }
                for queue in own
            ]
    return yaml.safe_dump(merged(data, scenario.controller.configuration), sort_keys=False)


def _congestion(wiring: Wiring) -> dict[str, Any]:
    scenario = wiring.scenario
    intervals = {level: policy.interval for level, policy in Congestion().levels.items()}
    intervals |= dict(enumerate(scenario.controller.intervals, 1))
    return {
        "thresholds": [format_depth(depth) for depth in scenario.controller.thresholds],
        "levels": {
            level: {
                "mark": scenario.mode != "none",
                "notify": scenario.mode == "fcn",
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
