"""ClockSlot: what a node looks at in its round (p4src/fantel/links/clock_slot.p4)."""

from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.targets import Target
from fcn.controller.config.balancing import LoadBalancing
from fcn.controller.config.failures import FailureDetection
from fcn.controller.config.watching import NO_ADDRESS, WatchedPath
from fcn.controller.owners.flow_control import HoldNeighbor
from fcn.controller.owners.intent import Intent


class ClockSlots:
    """Links and paths, in the order in which the clock comes to them (FAN-4, FAN-7)."""

    def __init__(
        self,
        intent: Intent,
        target: Target,
        times: FailureDetection,
        balancing: LoadBalancing | None = None,
    ) -> None:
        self._intent = intent
        self._time_unit = target.time_unit
        self._times = times
        self._balancing = balancing
        self._next = 0

    def watch_link(self, port: int, neighbor: HoldNeighbor, rate: int = 0) -> None:
        """Look at the link of a port, next. rate: bits per second, of which its utilization is
        measured; 0: it is not."""
        self._put(
            "watch_link",
            port=port,
            interval=self._time_unit.ticks(self._times.interval),
            detection_time=self._time_unit.ticks(self._times.detection_time),
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
        self._put("watch_path", **self._about(path, ingress_pe))

    def watch_queue(self, path: WatchedPath, ingress_pe: IPv6Address | None) -> None:
        """Look at the queue by which it leaves, next."""
        relief = self._time_unit.ticks(self._times.relief)
        self._put("watch_path_queue", **self._about(path, ingress_pe), relief=relief)

    def watch_load(self, path: WatchedPath, ingress_pe: IPv6Address | None) -> None:
        """Say the load of the link by which it leaves, next. For a domain with load balancing."""
        assert self._balancing is not None, "config/watching.py saw to it"
        self._put(
            "watch_path_load",
            **_names(path, ingress_pe),
            change=self._balancing.change,
            refresh=self._time_unit.ticks(self._balancing.refresh),
        )

    def _about(self, path: WatchedPath, ingress_pe: IPv6Address | None) -> dict[str, object]:
        return _names(path, ingress_pe) | {
            "repeat": self._time_unit.ticks(self._times.interval),
            "refresh": self._time_unit.ticks(self._times.refresh),
        }

    def _put(self, verb: str, **parameters: object) -> None:
        match = P4TableMatch(slot=self._next)
        action = P4TableAction(verb, **parameters)
        self._intent.put(P4TableEntry("clock_slot", match=match, action=action))
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
