"""The controller's side of one switch: reads its state on connection, keeps it equal to the intent,
and applies run-time changes of features and thresholds."""

import asyncio
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Self

import finsy as fy
from finsy.proto import p4r

from fcn.contract.depth import Depth
from fcn.controller.clock import Clock
from fcn.controller.config.features import Feature, feature_names
from fcn.controller.config.notation import format_depth
from fcn.controller.events import EventBus, Kind
from fcn.controller.flows.service import FlowService
from fcn.controller.neighbors.service import NeighborService
from fcn.controller.node.connection import Connection, State, Status, User
from fcn.controller.node.counters import Counters
from fcn.controller.node.edge import NodeEdge
from fcn.controller.node.inbox import Inbox
from fcn.controller.node.kept_back import KeptBack
from fcn.controller.node.links import LinkStates
from fcn.controller.node.messages import Messages
from fcn.controller.node.notifications import Notifications
from fcn.controller.node.outdated import forget
from fcn.controller.node.paths import PathStates
from fcn.controller.node.queues import Queues
from fcn.controller.node.quiet import end_holds
from fcn.controller.node.readback import read_flows, read_switch
from fcn.controller.node.session import probe
from fcn.controller.node.settings import keep_features, keep_thresholds
from fcn.controller.node.synchronization import Synchronizer
from fcn.controller.owners.held_flows import HeldFlows
from fcn.controller.owners.intent import Intent
from fcn.controller.pace import Pace
from fcn.controller.provision.provision import Provision
from fcn.controller.store import Store, StoreError
from fcn.controller.timings import Distribution


class NodeAgent:
    """One node: its connection, its intent, and the services that process its messages."""

    def __init__(
        self,
        provision: Provision,
        connection: Connection,
        flows: FlowService,
        inbox: Inbox,
        neighbors: NeighborService,
        bus: EventBus,
        clock: Clock,
        store: Store,
        edge: NodeEdge | None,
        counters: Counters,
    ) -> None:
        self.name = provision.name
        self._store = store
        self._edge = edge
        self._clock = clock
        self.provision = provision
        self.counters = counters
        self.paths = PathStates(provision, connection, bus, clock, store)
        self.queues = Queues(provision, connection)
        self.links = LinkStates(provision, connection, bus, clock)
        self.counters.register(Notifications(provision, bus), self.paths)
        if provision.is_pe:
            self.counters.register(KeptBack(provision, flows.refusals))
        if self.links.slots:
            self.counters.register(self.links)
        self._connection = connection
        self._inbox = inbox
        self._flows = flows
        self._neighbors = neighbors
        self._bus = bus
        self._synchronizer = Synchronizer(provision.intent, provision.pipeline, connection, bus)
        self._messages = Messages(
            provision, connection, flows, inbox, neighbors.handle, neighbors.asked, clock.monotonic
        )

    @property
    def status(self) -> Status:
        return self._connection.status

    @property
    def failures(self) -> Mapping[str, int]:
        """Messages of the switch that could not be handled, by kind."""
        return self._messages.failures.counts

    @property
    def lists_lost(self) -> int:
        """Lists of reports that the switch has sent, and that did not come here."""
        return self._messages.lost

    @property
    def write_latency(self) -> Distribution:
        return self._synchronizer.latency.now()

    @property
    def report_latency(self) -> Distribution:
        """How long it took until a report of the switch was handled."""
        return self._inbox.latency[self.name].now()

    @property
    def is_up(self) -> bool:
        """Whether the switch is connected and was synchronized with the intent."""
        return self._connection.is_up

    @property
    def leader(self) -> str:
        """Why this controller changes nothing here though the switch answers; else empty."""
        return self._connection.why_backup if self.status.state is State.BACKUP else ""

    @property
    def intent(self) -> Intent:
        return self.provision.intent

    @property
    def entries(self) -> int:
        """How many the switch is to have: of each flow there are two."""
        return len(self.intent) + 2 * len(self._flows.on_node(self.name))

    @property
    def refused(self) -> int:
        return self._synchronizer.refused

    @property
    def refusal(self) -> str:
        """The last update the switch did not accept, and why; empty when there was none."""
        return self._synchronizer.refusal

    @property
    def features(self) -> frozenset[Feature]:
        return self.provision.features

    def set_features(self, features: frozenset[Feature]) -> None:
        """Enable exactly these features, also after a restart; disabling learning releases the
        labels of the node. Raises StoreError."""
        keep_features(self._store, self.provision, features)
        learned = Feature.LEARNING in self.features
        self.provision.set_features(features)
        if learned and Feature.LEARNING not in features:
            self._flows.release_node(self.name, "learning disabled")
        names = feature_names(features)
        self._bus.emit(
            Kind.FEATURES,
            self.name,
            f"features of {self.name}: {', '.join(names) or 'none'}",
            features=",".join(names),
        )

    def set_thresholds(self, port: int, queue: int, depths: tuple[Depth, ...]) -> None:
        """Set the depths at which the levels of one queue begin, also after a restart; none: the
        queue has no levels.

        Raises DepthError, StoreError.
        """
        thresholds = dict(self.provision.thresholds)
        thresholds.pop((port, queue), None)
        if depths:
            thresholds[port, queue] = depths
        before = self.provision.thresholds
        self.provision.set_thresholds(thresholds)
        try:
            keep_thresholds(self._store, self.provision, (port, queue), depths)
        except StoreError:
            self.provision.set_thresholds(before)
            raise
        shown = ",".join(map(format_depth, depths))
        self._bus.emit(
            Kind.THRESHOLDS,
            self.name,
            f"thresholds of {self.name} port {port} queue {queue}: {shown or 'none'}",
            port=port,
            queue=queue,
            depths=shown,
        )

    def start(self, before: Self | None = None) -> None:
        """Serve the connection from now on, with what the agent `before` had seen."""
        if before is not None:
            self.paths.take_over(before.paths)
            self.links.take_over(before.links)
        down, messages = self._synchronizer.give_up, self._messages
        user = User(self._serve, down, messages.admits, messages.undecodable)
        self._connection.serve(user)

    async def synchronized(self) -> bool:
        """Wait until the switch holds the intent, also where it is being read; False when it is
        away, or another controller is primary."""
        return await self._synchronizer.synchronized()

    async def settled(self) -> bool:
        """Wait until the switch holds the intent; False, without waiting, when it is not up."""
        return await self._synchronizer.settled()

    async def check_idle(self) -> None:
        """Release flows whose idle notification was missed, as while the switch was away.

        Raises SwitchAwayError when that happens meanwhile.
        """
        await self._messages.check_idle()

    async def _serve(self) -> None:
        """Runs once the pipeline is set: synchronize the switch, then write changes of the intent
        until the connection ends."""
        switch = self._connection.switch
        self._connection.start("probe", probe(switch, self._clock.monotonic))
        if not self._connection.is_ruled:
            detail = self._connection.why_backup
            self._connection.enter(State.BACKUP, detail)
            self._synchronizer.give_up()
            if self._edge is not None:
                self._edge.left_to_leader()
            self._bus.emit(Kind.NODE_BACKUP, self.name, f"{self.name}: {detail}")
            return
        self._connection.enter(State.SYNCHRONIZING)
        if self._edge is not None:
            self._edge.begin()
        synchronized = asyncio.Event()
        self._messages.start(synchronized, self._edge.reused if self._edge else frozenset())
        await self._synchronize()
        self._connection.enter(State.UP)
        self._messages.settle()
        synchronized.set()
        self._bus.emit(Kind.NODE_UP, self.name, f"{self.name} is up", address=switch.address)
        await self._synchronizer.keep_written()

    async def _synchronize(self) -> None:
        """Take over flows and neighbours found on the switch, also under the program before, let
        what waits leave where other flow control would have it overtaken, then write the
        difference, set the clock going, and end what is known of paths that are others now."""
        switch = self._connection.switch
        held = await read_switch(switch, self.provision.pipeline, self.provision.meter_cells)
        entries = [entity for entity in held if isinstance(entity, fy.P4TableEntry)]
        before = self._connection.take_learned()
        self._neighbors.adopt(entries + before)
        mode, ports = self.provision.config.flow_control, self.provision.node.dc_ports
        heeded = {port.number for port in ports if port.heed_pause}
        tell, pipeline = self._connection.tell, self.provision.pipeline
        held = await end_holds(switch, tell, pipeline, mode, held, heeded)
        old = self.paths.outdated(entries)
        self.provision.watched.keep_epoch(held, self._clock.wall())
        await self._synchronizer.observe(held)
        missing = await self._adopt(self._edge, before) if self._edge is not None else iter(())
        await self.links.stop_clock(entries)
        await self._synchronizer.synchronize(lambda: self.entries, missing)
        if self._edge is not None:
            self._edge.synchronized()
        self._connection.has_learned()
        if self.links.slots:
            await self.links.start_clock()
        await self.links.tell_left()
        await forget(self._connection, self.provision.pipeline.target.ports.cpu, old)
        await self.paths.repeat()

    async def _adopt(self, edge: NodeEdge, before: list[fy.P4TableEntry]) -> Iterator[bool]:
        """Take over flows, and return what installs the others, one a step; before: what the switch
        held under the program before."""
        schema, now, pace = self.intent.schema, self._clock.dated(), Pace()
        flows, old = await read_flows(self._connection.switch, schema), HeldFlows(schema)
        for entry in before:
            if entry.table_id in old.names:
                response = p4r.ReadResponse(entities=[entry.encode(schema)])
                old.add(entry.table_id, response.SerializeToString())
            await pace.step()
        found = edge.found(flows, now), edge.found(old, now, on_switch=False)
        steps = self._flows.adopt(self.name, chain(*found))
        while not next(steps):
            await pace.step()
        return steps
