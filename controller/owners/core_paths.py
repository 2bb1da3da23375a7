"""CorePath: the paths of PEs as a transit node sees them (p4src/fantel/paths/core_path.p4)."""

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.targets import Target
from fcn.controller.config.watching import WatchedPath
from fcn.controller.owners.intent import Intent


class CorePaths:
    """The path of a packet that meets a dead next hop (FAN-4)."""

    def __init__(self, intent: Intent, target: Target) -> None:
        self._intent = intent
        self._time_unit = target.time_unit

    def know(self, path: WatchedPath, interval: int) -> None:
        """Tell the PE of this path when its packets meet a dead next hop, at most once in
        `interval` (microseconds). Paths whose packets look the same are told of by the clock alone,
        but for the first."""
        action = P4TableAction(
            "set_core_path",
            cell=path.cell,
            id=path.number,
            interval=self._time_unit.ticks(interval),
        )
        for packets in path.packets:
            match = P4TableMatch(
                ingress_pe=packets.source, tag=packets.tag, dst=packets.dst, port=path.port
            )
            entry = P4TableEntry("core_path", match=match, action=action)
            if not self._intent.holds(entry):
                self._intent.put(entry)
