"""ClockSlot: what a node looks at in its round (p4src/fantel/links/clock_slot.p4)."""

from ipaddress import IPv6Address

from fcn.controller.config.balancing import LoadBalancing
from fcn.controller.config.failures import FailureDetection
from fcn.controller.config.watching import NO_ADDRESS, WatchedPath
from fcn.controller.owners.flow_control import HoldNeighbor
from fcn.controller.owners.intent import Intent
from fcn.controller.owners.owner import Owner


class ClockSlots(Owner):
    """Links and paths, in the order in which the clock comes to them (FAN-4, FAN-7)."""

    def __init__(
        self, intent: Intent, times: FailureDetection, balancing: LoadBalancing | None = None
    ) -> None:
        super().__init__(intent)
        self._times = times
        self._balancing = balancing
        self._next = 0

    def watch_link(self, port: int, neighbor: HoldNeighbor, rate: int = 0) -> None:
        """Look at the link of a port, next. rate: bits per second, of which its utilization is
        measured; 0: it is not."""
        self._watch(
            "watch_link",
            port=port,
            interval=self._ticks(self._times.interval),
            detection_time=self._ticks(self._times.detection_time),
            detect_multiplier=self._times.multiplier,
            discriminator=discriminator(port),
            src_mac=neighbor.own_mac,
            dst_mac=neighbor.mac,
            src=neighbor.own_address,
            dst=neighbor.address,
            # Not 0, however slow it is.
            rate=-(-rate // 1000),
        )

    def watch_path(self, path: WatchedPath, ingress_pe: IPv6Address | None) -> None:
        """Look at the link by which a path leaves, next. ingress_pe: who hears of it; None where
        that is this node."""
        self._watch("watch_path", **self._about(path, ingress_pe))

    def watch_queue(self, path: WatchedPath, ingress_pe: IPv6Address | None) -> None:
        """Look at the queue by which it leaves, next."""
        relief = self._ticks(self._times.relief)
        self._watch("watch_path_queue", **self._about(path, ingress_pe), relief=relief)

    def watch_load(self, path: WatchedPath, ingress_pe: IPv6Address | None) -> None:
        """Say the load of the link by which it leaves, next. For a domain with load balancing."""
        assert self._balancing is not None, "config/watching.py saw to it"
        self._watch(
            "watch_path_load",
            **_names(path, ingress_pe),
            change=self._balancing.change,
            refresh=self._ticks(self._balancing.refresh),
        )

    def _about(self, path: WatchedPath, ingress_pe: IPv6Address | None) -> dict[str, object]:
        return _names(path, ingress_pe) | {
            "repeat": self._ticks(self._times.interval),
            "refresh": self._ticks(self._times.refresh),
        }

    def _watch(self, verb: str, **parameters: object) -> None:
        self._put("clock_slot", {"slot": self._next}, verb, **parameters)
        self._next += 1


def _names(path: WatchedPath, ingress_pe: IPv6Address | None) -> dict[str, object]:
    return {
        "port": path.port,
        "path_cell": path.cell,
        "path_id": path.number,
        "ingress_pe": ingress_pe or NO_ADDRESS,
    }


def discriminator(port: int) -> int:
    """A node's name for its BFD session on a port: not 0 (RFC 5880 section 6.3)."""
    return port + 1
