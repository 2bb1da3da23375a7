"""CorePath: the paths of PEs as a transit node sees them (p4src/fantel/paths/core_path.p4)."""

from fcn.controller.config.watching import WatchedPath
from fcn.controller.owners.owner import Owner, entry


class CorePaths(Owner):
    """The path of a packet that meets a dead next hop (FAN-4)."""

    def know(self, path: WatchedPath, interval: int) -> None:
        """Tell the PE of this path when its packets meet a dead next hop, at most once in
        `interval` (microseconds). Paths whose packets look the same are told of by the clock alone,
        but for the first."""
        for packets in path.packets:
            found = entry(
                "core_path",
                {
                    "ingress_pe": packets.source,
                    "tag": packets.tag,
                    "dst": packets.dst,
                    "port": path.port,
                },
                "set_core_path",
                cell=path.cell,
                id=path.number,
                interval=self._ticks(interval),
            )
            if not self._intent.holds(found):
                self._intent.put(found)
