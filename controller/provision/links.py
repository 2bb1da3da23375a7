"""The entries with which one node watches its links, repairs what they break, and tells PEs."""

from collections.abc import Iterable, Mapping
from typing import Self

from finsy import P4TableAction, P4TableEntry
from finsy.p4entity import P4Entity

from fcn.contract.names import CORE_PATH_TABLES
from fcn.controller.config.alternates import alternates
from fcn.controller.config.failures import FailureDetection
from fcn.controller.config.modes import FantelTransport
from fcn.controller.config.reporters import node_number
from fcn.controller.config.watching import (
    NO_ADDRESS,
    Slot,
    WatchedLink,
    WatchedLoad,
    WatchedPath,
    WatchedQueue,
    Watching,
    congestion_interval,
)
from fcn.controller.owners.flow_control import DSCP, UDP_SOURCE_PORT, HoldNeighbor
from fcn.controller.owners.tables import entry
from fcn.controller.provision.node_intent import NodeIntent


class LinkProvision:
    """What a node does about failures by itself (FAN-4, FAN-5). links, slots: empty where it
    watches nothing."""

    def __init__(self, to: NodeIntent, watching: Watching) -> None:
        self.links = watching.links(to.name)
        self.slots = watching.slots(to.name)
        self._to = to
        self._epoch = 0

    def own(self, kind: type[WatchedPath | WatchedQueue]) -> dict[int, int]:
        """The port of the first link of each path that this node watches as its PE, or whose queue
        it does, by ID."""
        found = [slot for slot in self.slots if isinstance(slot, kind)]
        paths = [slot if isinstance(slot, WatchedPath) else slot.path for slot in found]
        return {path.number: path.port for path in paths if path.ingress == self._to.name}

    def write(self) -> None:
        times = self._to.config.failure_detection
        if times is None or not self.slots:
            return
        congestion = congestion_interval(self._to.config)
        repeat = times.interval if congestion is None else min(times.interval, congestion)
        neighbors = self._to.neighbors()
        for number, slot in enumerate(self.slots):
            if isinstance(slot, WatchedLink):
                verb, parameters = "watch_link", self._of_link(slot.port, neighbors, times)
            else:
                path = slot if isinstance(slot, WatchedPath) else slot.path
                verb, parameters = self._of_path(slot, path, times)
                if path.ingress != self._to.name:
                    self._know(path, repeat)
            self._to.tables.put("clock_slot", {"slot": number}, verb, **parameters)
        if self._tells:
            self._introduce(0)
        self._repair()

    def _of_link(
        self, port: int, neighbors: Mapping[int, HoldNeighbor], times: FailureDetection
    ) -> dict[str, object]:
        """Parameters of a link that is looked at; believe the neighbour there, whose BFD packets
        come on this port alone (FAN-8)."""
        ticks, far = self._to.tables.ticks, neighbors[port]
        # A node's name for its BFD session on a port is not 0 (RFC 5880 section 6.3).
        discriminator = port + 1
        self._to.tables.put(
            "bfd_session",
            {"port": port, "source": far.address},
            "set_bfd_session",
            discriminator=discriminator,
        )
        return {
            "port": port,
            # As hellos say it
            "interval": times.interval,
            "detection_time": ticks(times.detection_time),
            "detect_multiplier": times.multiplier,
            "discriminator": discriminator,
            "src_mac": far.own_mac,
            "dst_mac": far.mac,
            "src": far.own_address,
            "dst": far.address,
            # Of which its utilization is measured; not 0, however slow it is, unless it is not.
            "rate": -(-self._rate(port) // 1000) if self._to.config.load_balancing else 0,
        }

    def _of_path(
        self, slot: Slot, path: WatchedPath, times: FailureDetection
    ) -> tuple[str, dict[str, object]]:
        """What to look at of a path that leaves the node, and its parameters."""
        ticks, balancing = self._to.tables.ticks, self._to.config.load_balancing
        is_own = path.ingress == self._to.name
        hears = NO_ADDRESS if is_own else self._to.config.nodes[path.ingress].underlay_address
        parameters: dict[str, object] = {
            "port": path.port,
            "path_cell": path.cell,
            "path_id": path.number,
            "ingress_pe": hears,
        }
        if isinstance(slot, WatchedLoad):
            assert balancing is not None, "config/watching.py saw to it"
            load = {"change": balancing.change, "refresh": ticks(balancing.refresh)}
            return "watch_path_load", parameters | load
        parameters |= {"repeat": ticks(times.interval), "refresh": ticks(times.refresh)}
        if isinstance(slot, WatchedQueue):
            return "watch_path_queue", parameters | {"relief": ticks(times.relief)}
        return "watch_path", parameters

    def _know(self, path: WatchedPath, interval: int) -> None:
        """Tell the PE of this path when its packets meet a dead next hop, at most once in
        `interval` (microseconds). Paths whose packets look the same are told of by the clock alone,
        but for the first (FAN-4)."""
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
                interval=self._to.tables.ticks(interval),
            )
            if not self._to.intent.holds(found):
                self._to.intent.put(found)

    def keep_epoch(self, held: Iterable[P4Entity], now: float) -> None:
        """Keep the epoch that the switch has, by which its messages are ordered; a switch that has
        none was started, and gets a higher one. now: seconds since the epoch."""
        if self.slots and self._tells:
            self._introduce(self._epoch_in(held) or int(now) + 1)

    def take_over(self, before: Self) -> None:
        """Keep the epoch that was there under the configuration before."""
        if self.slots and self._tells and before._epoch:
            self._introduce(before._epoch)

    @property
    def _tells(self) -> bool:
        """Whether the node sends messages: a PE tells only itself."""
        return self._to.pipeline.has_tables(CORE_PATH_TABLES)

    def _rate(self, port: int) -> int:
        """Of a port's link, in bits per second; 0 where the file does not say it."""
        found = self._to.node.port(port)
        return found.rate or 0 if found is not None else 0

    def _introduce(self, epoch: int) -> None:
        """Header fields of FANTEL messages, and who this node is in them (FAN-1 to FAN-3)."""
        self._epoch = epoch
        config = self._to.config
        self._to.tables.set(
            "fantel_profile",
            "set_fantel_profile",
            src=self._to.node.underlay_address,
            udp_src_port=UDP_SOURCE_PORT,
            udp_dst_port=config.fantel_port,
            dscp=DSCP,
            over_icmpv6=int(config.fantel_transport is FantelTransport.ICMPV6),
            node=node_number(self._to.name),
            epoch=epoch,
        )

    def _epoch_in(self, held: Iterable[P4Entity]) -> int:
        """The epoch among what was read from a switch; 0 for one that has none yet."""
        for entity in held:
            if (
                isinstance(entity, P4TableEntry)
                and self._to.intent.schema.tables[entity.table_id].alias == "fantel_profile"
                and isinstance(entity.action, P4TableAction)
            ):
                return int(entity.action.args["epoch"])
        return 0

    def _repair(self) -> None:
        """Where packets go while a link is down (FAN-5)."""
        watched = {link.port for link in self.links}
        for found in alternates(self._to.config, self._to.name):
            if found.dead_port in watched:
                hop = self._to.link_adjacency(*found.hop)
                self._to.tables.put(
                    "alternate",
                    {"port": found.dead_port, "dst": found.prefix},
                    "set_alternate",
                    port=hop.port,
                    src_mac=hop.src_mac,
                    dst_mac=hop.dst_mac,
                )
