"""The control plane: all nodes, the flow service, and the supporting services."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fcn.controller.clock import SYSTEM_CLOCK, Clock
from fcn.controller.config import Config
from fcn.controller.config.programs import program_of
from fcn.controller.config.watching import Watching
from fcn.controller.events import EventBus
from fcn.controller.finsy_adapter import check_finsy
from fcn.controller.flows.service import FlowService
from fcn.controller.hostagent.reports import HostReports
from fcn.controller.hostagent.service import HostAgentService, serving_agents
from fcn.controller.neighbors.room import NeighborRoom
from fcn.controller.neighbors.service import NeighborService
from fcn.controller.node.agent import NodeAgent
from fcn.controller.node.connection import Connection
from fcn.controller.node.edge import NodeEdge
from fcn.controller.node.inbox import Inbox
from fcn.controller.node.session import SwitchAwayError
from fcn.controller.node.settings import recall
from fcn.controller.northbound.metrics import FcnCollector, serving_metrics
from fcn.controller.northbound.network import Network
from fcn.controller.northbound.snapshot import take_snapshot
from fcn.controller.provision.provision import Provision
from fcn.controller.store import Store

LOG = logging.getLogger("fcn")

HOUSEKEEPING = 5.0
"""Seconds between checks for expired senders and idle flows."""

INFERENCE = 0.25
"""Seconds between runs of the inference of source queue pairs (FCN-3 b)."""

SUPPRESSED = 60.0
"""Seconds between events about events that were suppressed (events.py)."""

METRICS = 1.0
"""Seconds between metrics snapshots."""

Job = Callable[[], Coroutine[Any, Any, None]]


class ControlPlane:
    """Everything `fcn run` runs. Built in order of dependency: provisions and connections of the
    nodes, the services that use them, the node agents.

    All time but that of the event loop comes from `clock`, all chance from `rng`, which draws the
    flow labels and must not be predictable in production; None: the system's. Raises
    PipelineError, FinsyError, StoreError.
    """

    def __init__(
        self, config: Config, clock: Clock = SYSTEM_CLOCK, rng: random.Random | None = None
    ) -> None:
        check_finsy()
        self.store = Store(config.state, clock.wall)
        self.config = config
        self.agents_address = ""
        self.bus = EventBus(clock)
        watching = Watching(config)
        provisions = {
            name: Provision(config, name, program_of(config, node), watching)
            for name, node in config.nodes.items()
        }
        for provision in provisions.values():
            recall(self.store, provision)
        self._connections = {
            name: Connection(
                name,
                provision.node,
                provision.pipeline,
                self.bus,
                clock,
                config.tls_of(config.nodes[name]),
                self.store,
            )
            for name, provision in provisions.items()
        }
        self.edges = {
            name: NodeEdge(provision, self._connections[name].up_for)
            for name, provision in provisions.items()
            if provision.is_pe
        }
        rng = rng or random.SystemRandom()
        self.flows = FlowService(config, self.edges, self.bus, clock, rng, self.store)
        self._inbox = Inbox(self.flows.refusals, clock.work)
        self.neighbors = {
            name: NeighborService(
                config,
                name,
                provision.routing,
                provision.underlay,
                self._connections[name].send_packet,
                NeighborRoom(name, provision.host_room, self.flows.refusals),
                self.bus,
                clock.monotonic,
            )
            for name, provision in provisions.items()
        }
        self.nodes = {
            name: NodeAgent(
                provision,
                self._connections[name],
                self.flows,
                self._inbox,
                self.neighbors[name],
                self.bus,
                clock,
                self.store,
            )
            for name, provision in provisions.items()
        }
        hosts = config.host_agents.hosts if config.host_agents else {}
        self.reports = HostReports(hosts, clock.wall)
        self.network = Network(
            config,
            self.bus,
            self.nodes,
            self.flows,
            self.neighbors,
            self.reports,
            clock.wall(),
            self.store,
        )
        self.metrics = FcnCollector(take_snapshot(self.network), clock)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Connect to the switches and keep them equal to the intent until the context ends.

        Raises AgentServiceError, OSError.
        """
        jobs: list[Job] = [
            self._check_idle,
            self._inference,
            self._inbox.run,
            self._tell_suppressed,
        ]
        # One each: a switch that takes long to answer hides nothing of the others.
        jobs += [agent.counters.run for agent in self.nodes.values()]
        jobs += [service.run for service in self.neighbors.values()]
        jobs += [connection.run for connection in self._connections.values()]
        for agent in self.nodes.values():
            agent.paths.tell_exposed()
        async with AsyncExitStack() as stack:
            stack.callback(self.store.close)
            if self.config.metrics:
                stack.enter_context(serving_metrics(self.metrics, self.config.metrics))
                jobs.append(self._refresh_metrics)
            if self.config.host_agents:
                agents = HostAgentService(self.reports, self.flows, self.bus)
                self.agents_address = await stack.enter_async_context(
                    serving_agents(self.config.host_agents, agents)
                )
            await stack.enter_async_context(_background(jobs))
            try:
                yield
            finally:
                for connection in self._connections.values():
                    connection.close()

    async def _check_idle(self) -> None:
        """Rarely, because looking at all flows is slow and needed only where an idle notification
        was lost."""
        while True:
            await asyncio.sleep(max(HOUSEKEEPING, self.config.flows.timeout / 1e6))
            for agent in self.nodes.values():
                try:
                    await agent.check_idle()
                except SwitchAwayError as error:
                    LOG.warning("%s; its idle flows are looked for later", error)

    async def _refresh_metrics(self) -> None:
        while True:
            await asyncio.sleep(METRICS)
            self.metrics.show(take_snapshot(self.network))

    async def _tell_suppressed(self) -> None:
        while True:
            await asyncio.sleep(SUPPRESSED)
            self.bus.tell_suppressed()

    async def _inference(self) -> None:
        while True:
            await asyncio.sleep(INFERENCE)
            self.flows.infer()


@asynccontextmanager
async def _background(jobs: list[Job]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(_supervised(job)) for job in jobs]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _supervised(job: Job) -> None:
    """Run a job; when it fails, log the exception and restart it: other jobs must not stop."""
    task = asyncio.current_task()
    assert task is not None
    name = getattr(job, "__qualname__", repr(job))
    while True:
        try:
            await job()
            LOG.error("background job %s returned; starting it again", name)
        except asyncio.CancelledError:
            # gRPC cancels whoever waits on a channel that is closed.
            if task.cancelling():
                raise
            LOG.exception("background job %s was cancelled; starting it again", name)
        except Exception:
            LOG.exception("background job %s failed; starting it again", name)
        await asyncio.sleep(HOUSEKEEPING)
