"""The controller's side of one switch: reads it when it is ready, keeps it as intended, and changes
what may change while it runs."""

import asyncio

import finsy as fy

from fcn.contract.depth import Depth
from fcn.controller.config.addressing import vrf_names
from fcn.controller.config.features import Feature, feature_names
from fcn.controller.config.types import format_depth
from fcn.controller.events import EventBus, Kind
from fcn.controller.flows.service import FlowService
from fcn.controller.neighbors.service import NeighborService
from fcn.controller.node.connection import Connection, State, Status
from fcn.controller.node.counters import Counters
from fcn.controller.node.messages import Messages
from fcn.controller.node.provision import Provision
from fcn.controller.node.readback import held_flows, read_switch
from fcn.controller.node.session import probe
from fcn.controller.node.synchronization import Synchronizer
from fcn.controller.owners.intent import Intent


class NodeAgent:
    """One node: its connection, its intent, and the services that hear what it reports."""

    def __init__(
        self,
        provision: Provision,
        connection: Connection,
        flows: FlowService,
        neighbors: NeighborService,
        bus: EventBus,
    ) -> None:
        self.name = provision.name
        self.provision = provision
        self.counters = Counters(provision, connection)
        self._connection = connection
        self._flows = flows
        self._neighbors = neighbors
        self._bus = bus
        self._synchronizer = Synchronizer(provision.intent, provision.pipeline, connection, bus)
        self._messages = Messages(
            provision, connection, flows, neighbors.handle, self._synchronizer.acknowledge
        )
        connection.when_ready(self._serve)

    @property
    def status(self) -> Status:
        """How the controller stands with the switch."""
        return self._connection.status

    @property
    def is_up(self) -> bool:
        """Whether the switch is as intended."""
        return self._connection.is_up

    @property
    def intent(self) -> Intent:
        """What the switch should hold."""
        return self.provision.intent

    @property
    def refused(self) -> int:
        """Updates the switch did not accept."""
        return self._synchronizer.refused

    @property
    def features(self) -> frozenset[Feature]:
        """What is switched on here (FCN-16)."""
        return self.provision.features

    def set_features(self, features: frozenset[Feature]) -> None:
        """Switch exactly these on; where learning ends, the node's flows lose their labels."""
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
        """Let the levels of one queue begin at these depths; none: the queue has no levels.

        Raises DepthError.
        """
        thresholds = dict(self.provision.thresholds)
        thresholds.pop((port, queue), None)
        if depths:
            thresholds[port, queue] = depths
        self.provision.set_thresholds(thresholds)
        shown = ",".join(map(format_depth, depths))
        self._bus.emit(
            Kind.THRESHOLDS,
            self.name,
            f"thresholds of {self.name} port {port} queue {queue}: {shown or 'none'}",
            port=port,
            queue=queue,
            depths=shown,
        )

    async def settled(self) -> bool:
        """Wait until the switch holds the intent. False at once when it is not up."""
        return await self._synchronizer.settled()

    async def check_idle(self) -> None:
        """Release flows whose idle notification was missed, as while the switch was away.

        Raises SwitchAwayError when that happens meanwhile.
        """
        await self._messages.check_idle()

    async def _serve(self) -> None:
        """The switch has its pipeline: synchronize it and keep it so, until it is away."""
        switch = self._connection.switch
        self._connection.start("probe", probe(switch))
        if not switch.is_primary:
            detail = (
                f"another controller rules this switch (election ID {switch.primary_id}); "
                "stop it, and this one takes over"
            )
            self._connection.enter(State.BACKUP, detail)
            self._synchronizer.stand_by()
            self._bus.emit(Kind.NODE_BACKUP, self.name, f"{self.name}: {detail}")
            return
        self._connection.enter(State.SYNCHRONIZING)
        synchronized = asyncio.Event()
        self._messages.start(synchronized)
        await self._synchronize()
        self._connection.enter(State.UP)
        synchronized.set()
        self._bus.emit(Kind.NODE_UP, self.name, f"{self.name} is up", address=switch.address)
        await self._synchronizer.keep_written()

    async def _synchronize(self) -> None:
        """What the switch has of flows and neighbours is adopted, before the rest is replaced."""
        held = await read_switch(self._connection.switch, self.provision.pipeline)
        entries = [entity for entity in held if isinstance(entity, fy.P4TableEntry)]
        if self.provision.is_pe:
            names = vrf_names(self.provision.config)
            self._flows.adopt(self.name, held_flows(self.name, entries, names))
        self._neighbors.adopt(entries)
        await self._synchronizer.synchronize(held)
