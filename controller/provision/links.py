"""The entries with which one node watches its links, repairs what they break, and tells PEs."""

from collections.abc import Iterable
from typing import Self

from finsy.p4entity import P4Entity

from fcn.contract.names import CORE_PATH_TABLES
from fcn.controller.config.alternates import alternates
from fcn.controller.config.reporters import node_number
from fcn.controller.config.watching import (
    WatchedLink,
    WatchedLoad,
    WatchedPath,
    WatchedQueue,
    Watching,
    congestion_interval,
)
from fcn.controller.owners.alternates import Alternates
from fcn.controller.owners.bfd_sessions import BfdSessions
from fcn.controller.owners.clock_slots import ClockSlots
from fcn.controller.owners.core_paths import CorePaths
from fcn.controller.owners.fantel_profile import FantelProfile
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
        nodes = self._to.config.nodes
        balancing = self._to.config.load_balancing
        slots = ClockSlots(self._to.intent, times, balancing)
        sessions = BfdSessions(self._to.intent)
        paths = CorePaths(self._to.intent)
        neighbors = self._to.neighbors()
        congestion = congestion_interval(self._to.config)
        repeat = times.interval if congestion is None else min(times.interval, congestion)
        for slot in self.slots:
            if isinstance(slot, WatchedLink):
                neighbor = neighbors[slot.port]
                slots.watch_link(slot.port, neighbor, self._rate(slot.port) if balancing else 0)
                sessions.believe(slot.port, neighbor.address)
                continue
            path = slot if isinstance(slot, WatchedPath) else slot.path
            is_own = path.ingress == self._to.name
            ingress = None if is_own else nodes[path.ingress].underlay_address
            if isinstance(slot, WatchedLoad):
                slots.watch_load(path, ingress)
            elif path is not slot:
                slots.watch_queue(path, ingress)
            else:
                slots.watch_path(path, ingress)
            if not is_own:
                paths.know(path, repeat)
        if self._tells:
            self._introduce(0)
        self._repair()

    def keep_epoch(self, held: Iterable[P4Entity], now: float) -> None:
        """Keep the epoch that the switch has, by which its messages are ordered; a switch that has
        none was started, and gets a higher one. now: seconds since the epoch."""
        if self.slots and self._tells:
            self._introduce(FantelProfile.epoch_in(held, self._to.pipeline) or int(now) + 1)

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
        self._epoch = epoch
        FantelProfile(self._to.intent).set(
            self._to.node.underlay_address,
            self._to.config.fantel_port,
            self._to.config.fantel_transport,
            node_number(self._to.name),
            epoch,
        )

    def _repair(self) -> None:
        watched = {link.port for link in self.links}
        owner = Alternates(self._to.intent)
        for found in alternates(self._to.config, self._to.name):
            if found.dead_port in watched:
                owner.repair(found.dead_port, found.prefix, self._to.link_adjacency(*found.hop))
