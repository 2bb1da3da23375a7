"""How fast the clock of each node has to go (FAN-4): no P4Runtime controller can set it."""

from fcn.contract.link_clock import clock_rate
from fcn.controller.config.model import Config
from fcn.controller.config.watching import Watching


def clock_rates(config: Config) -> dict[str, int]:
    """Packets per second, by node; those that watch nothing are left out."""
    detection = config.failure_detection
    if detection is None:
        return {}
    watching = Watching(config)
    slots = {name: len(watching.slots(name)) for name in config.nodes}
    return {name: clock_rate(each, detection.interval) for name, each in slots.items() if each}
