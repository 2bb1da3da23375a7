"""Tells what notification counters counted, so that `fcn events` shows congestion."""

from fcn.contract.names import COUNTERS, named_cells
from fcn.contract.parking import bmv2_commands
from fcn.controller.events import EventBus, Kind
from fcn.controller.node.counters import GrowthUser
from fcn.controller.provision.provision import Provision

WATCHED = frozenset({
    "FAST_CNP_RECEIVED", "FAST_CNP_SENT", "END_CON_CNP_RECEIVED", "END_CON_CNP_SENT",
    "INNER_OPAQUE", "OWN_CONGESTION", "CNP_SENT", "CE_MARKED", "NOTIFICATION_ON_DC_PORT",
    "NOTIFICATION_UNTRUSTED", "NOTIFICATION_MALFORMED", "TRANSLATION_DISABLED", "LABEL_UNKNOWN",
    "SOURCE_QP_UNKNOWN", "NODE_RATE_LIMIT", "ARN_RECEIVED", "ARN_SENT", "PAUSE_SENT", "HOLD_BEGUN",
    "HOLD_PARKED", "HOLD_LEFT", "HOLD_SKIPPED", "HOLD_NO_ROOM", "HOLD_NO_CELL", "HOLD_LIMIT",
    "ARN_UNSUPPORTED", "PATH_UNKNOWN", "PATH_NONE_LEFT",
})  # fmt: skip
"""Cells of counters that concern notifications."""

SKIPPED = "HOLD_SKIPPED"
"""Packets that left because those before them were lost while they waited."""


def parking_too_short(node: str, skipped: int, packets: int) -> str:
    """What an operator is told of that; packets: what the node holds at most."""
    commands = "', '".join(bmv2_commands(packets))
    return (
        f"{node}: held packets were lost ({SKIPPED} +{skipped}): the parking port's queue is "
        f"shorter than holding.packets, {packets}; "
        f"on BMv2 enter '{commands}' in simple_switch_CLI"
    )


class Notifications(GrowthUser):
    """Emits an event when a node's notification counters have increased."""

    def __init__(self, provision: Provision, bus: EventBus) -> None:
        self._node = provision.name
        self._packets = provision.config.holding.packets
        self._bus = bus
        super().__init__({
            (counter, index): name
            for counter in COUNTERS
            if counter in provision.pipeline.counters
            for index, name in named_cells(counter).items()
            if name in WATCHED
        })  # fmt: skip

    def grew(self, packets: dict[str, int]) -> None:
        node = self._node
        if skipped := packets.get(SKIPPED):
            text = parking_too_short(node, skipped, self._packets)
            self._bus.emit(Kind.HELD_LOST, node, text, skipped=skipped)
        text = ", ".join(f"{name} +{count}" for name, count in packets.items())
        self._bus.emit(Kind.NOTIFICATIONS, node, f"{node}: {text}", **packets)
