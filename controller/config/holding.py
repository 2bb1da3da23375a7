"""The configuration's section of precise flow control (SRF-5 to SRF-8)."""

from typing import Annotated

from pydantic import Field

from fcn.contract.depth import Depth
from fcn.controller.config.base import Model
from fcn.controller.config.modes import Relief
from fcn.controller.config.types import Duration, NotificationPort, OctetCount, QueueDepth, within
from fcn.packets.wire import ARN_PORT

ReliefName = Annotated[Relief, Field(strict=False)]
QUANTUM_BITS = 512
"""The unit of time of a PAUSE frame, in bit times of its link (IEEE 802.3 annex 31B)."""

Percent = Annotated[int, Field(ge=1, le=100)]


class Holding(Model):
    """Precise flow control, for a domain whose `flow_control` is not off (SRF-5 to SRF-8).

    A queue of at least `hold_at` makes a node ask its upstream neighbour to hold for `time`, again
    every `repeat`; below `release_at` the neighbour may go on. `longest`: what a node grants any
    neighbour. `packets`, `octets`: what a node holds at most; at `pass_on_at` percent of it the
    node asks its own upstream neighbours to hold, at `pass_off_at` they may go on. What waited
    leaves while its port's queue is below `drain_below`, otherwise one packet of each hold every
    `drain_every`. `holds_per_port`: how many holds one neighbour may have. `relief`: how a PE asks
    a data centre, at most every `relief_repeat`. `pause_share`: percent of what a node holds that
    may wait for data centres that paused, in equal parts for their ports; below `pass_off_at`.
    Times are in microseconds.
    """

    udp_port: NotificationPort = ARN_PORT
    hold_at: QueueDepth = Depth(40)
    release_at: QueueDepth = Depth(16)
    time: Annotated[Duration, within("1us", "10s")] = 1_000
    repeat: Annotated[Duration, within("1us", "10s")] = 400
    longest: Annotated[Duration, within("1us", "10s")] = 10_000
    packets: Annotated[int, Field(ge=1, le=1_000_000)] = 1_000
    octets: OctetCount = 4_000_000
    pass_on_at: Percent = 70
    pass_off_at: Percent = 30
    drain_below: QueueDepth = Depth(16)
    drain_every: Annotated[Duration, within("1us", "1s")] = 10
    holds_per_port: Annotated[int, Field(ge=2, le=512)] = 64
    relief: ReliefName = Relief.PFC
    relief_repeat: Annotated[Duration, within("1us", "3s")] = 150
    pause_share: Percent = 20

    @property
    def holds_at_once(self) -> int:
        """Holds that a neighbour can begin without a pause; the others in the time of `longest`."""
        return self.holds_per_port // 2

    def pause_room(self, budget: int, ports: int) -> int:
        """What of a budget may wait for one of so many DC ports that paused."""
        return budget * self.pause_share // 100 // ports
